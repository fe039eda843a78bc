import { describe, expect, test } from 'vitest'
import { studies } from '../fixtures/studies.mjs'
import type { Trial } from '../src/api/types.ts'
import { FilterError } from '../src/filter/parse.ts'
import { attrsOf, tableOf } from '../src/filter/table.ts'
import { columnOf } from '../src/views/trials_filter.tsx'

const trial = (number: number, more: Partial<Trial> = {}): Trial => ({
  number,
  state: 'complete',
  params: { lr: 10 ** -number, act: number % 2 ? 'relu' : 'tanh', bias: number > 2 },
  value: number,
  noise_var: null,
  reason: null,
  attrs: {},
  attempts: 1,
  asked: '',
  started: null,
  ended: null,
  seconds: null,
  ...more,
})
const some = [0, 1, 2, 3, 4].map((number) => trial(number))
some.push(trial(5, { state: 'failed', value: null, reason: 'out of memory', attrs: { gpu: 'a' } }))

const numbers = (filter: string, sort?: string, descending = false): number[] =>
  tableOf(
    some,
    ['lr', 'act', 'bias'],
    ['gpu'],
    { filter, descending, ...(sort ? { sort } : {}) },
    7,
  ).trials.map((t) => t.number)
const problem = (filter: string): string => {
  try {
    numbers(filter)
  } catch (error) {
    if (error instanceof FilterError) return error.message
  }
  return 'none'
}

describe('filter', () => {
  test.each([
    ['', [0, 1, 2, 3, 4, 5]],
    ['lr < 1e-3', [4, 5]],
    ['1e-3 <= lr < 1', [1, 2, 3]],
    ["state == 'failed'", [5]],
    ['state = failed', [5]],
    ['state in [failed, running]', [5]],
    ["act != 'relu' and value > 1", [2, 4]],
    ['act = relu or number = 0', [0, 1, 3, 5]],
    ['not bias', [0, 1, 2]],
    ['bias and !(value > 3)', [3]],
    ['number % 2 == 0 and number ^ 2 > 3', [2, 4]],
    ['-number < -3', [4, 5]],
    ['max(number, 3) == 3', [0, 1, 2, 3]],
    ['gpu == a', [5]],
    ['number not in [1, 2]', [0, 3, 4, 5]],
    ['`number` >= 4', [4, 5]],
  ])('%s', (filter, expected) => {
    expect(numbers(filter)).toEqual(expected)
  })

  test('what is not there satisfies nothing, with or without not', () => {
    expect(numbers('value < 100')).not.toContain(5)
    expect(numbers('not value < 100')).not.toContain(5)
    expect(numbers('value != 3')).not.toContain(5)
    expect(numbers('sqrt(number - 1) >= 0 or number == 0')).toEqual([0, 1, 2, 3, 4, 5])
  })

  test.each([
    ['lrr < 3', 1],
    ['lr < relu', 6],
    ['state == ', 10],
    ['lr <', 5],
    ["act == 'relu", 8],
    ['(lr < 3', 8],
    ['lr < 3 lr', 8],
    ['foo(lr) < 1', 1],
    ['abs(lr, 1) < 1', 1],
    ['lr # 3', 4],
    ['('.repeat(300), 102],
  ])('says where %s is wrong', (filter, column) => {
    expect(columnOf(problem(filter))).toBe(column)
  })

  test('sorts numbers and texts, and puts what is missing last in both directions', () => {
    expect(numbers('', 'value')).toEqual([0, 1, 2, 3, 4, 5])
    expect(numbers('', 'value', true)).toEqual([4, 3, 2, 1, 0, 5])
    expect(numbers('', 'act')).toEqual([1, 3, 5, 0, 2, 4])
    expect(numbers('', 'gpu')[0]).toBe(5)
  })

  test('pages, and counts what matches', () => {
    const study = studies().get('conv-net')
    if (!study) throw new Error('it is made up')
    const all = study.trials as Trial[]
    const table = tableOf(
      all,
      Object.keys(study.parameters),
      attrsOf(all),
      { filter: 'state = failed', from: 10, limit: 5 },
      1,
    )
    const failed = all.filter((t) => t.state === 'failed')
    expect(table.matching).toBe(failed.length)
    expect(table.total).toBe(2000)
    expect(table.trials).toEqual(failed.slice(10, 15))
    expect(table.attrs).toEqual(['epochs', 'gpu'])
  })
})
