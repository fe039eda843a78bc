// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { describe as describeStudy, table as tableOf } from '../fixtures/answers.mjs'
import { studies } from '../fixtures/studies.mjs'
import { tools } from '../fixtures/tools.mjs'
import type { Study } from '../src/api/types.ts'
import { allRows, PAGE, Pages } from '../src/views/trials_source.ts'

const known = studies().get('conv-net')
if (!known) throw new Error('it is made up')
const filter = await tools()
const study = describeStudy(known, 'read') as unknown as Study

describe('pages of trials', () => {
  const asked: number[] = []
  let position = 100
  beforeEach(() => {
    vi.useFakeTimers()
    asked.length = 0
    vi.stubGlobal('fetch', (address: string, { signal }: RequestInit) => {
      const query = new URL(address, 'http://x').searchParams
      asked.push(Number(query.get('from')))
      const answer = { ...tableOf(known, query, filter), position }
      return new Promise((resolve, reject) => {
        setTimeout(() => resolve(new Response(JSON.stringify(answer))), 10)
        signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
      })
    })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  test('only what is seen is asked for, and once', async () => {
    const pages = new Pages(study, { sort: 'number' })
    pages.want(0, 30)
    pages.want(10, 40)
    await vi.advanceTimersByTimeAsync(20)
    expect(asked).toEqual([0])
    expect(pages.matching.value).toBe(2000)
    expect(pages.row(7)?.number).toBe(7)
    pages.want(PAGE - 5, PAGE + 5)
    await vi.advanceTimersByTimeAsync(20)
    expect(asked).toEqual([0, PAGE])
    expect(pages.row(PAGE)?.number).toBe(PAGE)
    pages.want(1990, 2600)
    await vi.advanceTimersByTimeAsync(20)
    expect(asked).toEqual([0, PAGE, 1900])
  })

  test('who scrolls on does not wait for what was on the way', async () => {
    const pages = new Pages(study, { sort: 'number' })
    pages.want(0, 10)
    await vi.advanceTimersByTimeAsync(20)
    pages.want(600, 610)
    pages.want(1000, 1010)
    await vi.advanceTimersByTimeAsync(20)
    expect(pages.row(600)).toBeUndefined()
    expect(pages.row(1000)?.number).toBe(1000)
    expect(pages.error.value).toBeUndefined()
  })

  test('old rows stay until new ones come, also when something happens on the way', async () => {
    const pages = new Pages(study, { sort: 'number' })
    pages.want(0, 10)
    await vi.advanceTimersByTimeAsync(20)
    position = 101
    pages.age()
    expect(pages.row(3)?.number).toBe(3)
    pages.want(0, 10)
    await vi.advanceTimersByTimeAsync(5)
    pages.age()
    await vi.advanceTimersByTimeAsync(40)
    // Once for the first, once for what happened, and once more for what happened meanwhile.
    expect(asked).toEqual([0, 0, 0])
  })

  test('files have all rows', async () => {
    const rows = allRows(study, { filter: 'lr < 1e-2', sort: 'lr' })
    await vi.advanceTimersByTimeAsync(100)
    const table = await rows
    expect(table.trials).toHaveLength(table.matching)
    expect(asked.length).toBe(Math.ceil(table.matching / 1000))
    expect(
      table.trials.every(
        (trial, i) => i === 0 || Number(trial.params.lr) >= Number(table.trials[i - 1]?.params.lr),
      ),
    ).toBe(true)
  })
})
