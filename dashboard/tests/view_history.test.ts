import { describe, expect, it, test } from 'vitest'
import type { History, Regret, Study } from '../src/api/types.ts'
import { isCut, limitsOf, seriesOf } from '../src/curves/series.ts'
import { csv } from '../src/export/csv.ts'
import { bestTrialOf, doneText, isNoGain } from '../src/views/history_words.ts'
import { usualColumns } from '../src/views/trials_columns.tsx'

/** Ten of twenty trials done, one each second, the third of them failed. */
const history: History = {
  position: 1,
  begun: null,
  counts: { waiting: 0, running: 2, complete: 9, failed: 1 },
  planned: 20,
  thinned: false,
  number: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  place: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  value: [9, 8, null, 6, 5, 4, 3, 2, 1, 7],
  ended: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  best: [
    [0, 1, 9],
    [8, 9, 1],
  ],
  running: [
    [10, 10, 'a'],
    [11, 10, 'b'],
  ],
}
const slow = (number: number) => ({ number, seconds: 60, usual: 1 })

describe('what the rest takes', () => {
  it('is as long as what was, if nothing is stuck', () =>
    expect(doneText(history, [])).toBe('10 of 20 trials are done; the rest takes about 10 s more.'))
  it('takes longer with fewer workers', () =>
    // Nine others, and one worker of two for them.
    expect(doneText(history, [slow(10)])).toMatch(/without the one that may be stuck, .* about 18 s more/))
  it('is open if all may be stuck', () =>
    expect(doneText(history, [slow(10), slow(11)])).toMatch(/when the rest will be is open/))
  it('is nothing at the end', () =>
    expect(doneText({ ...history, planned: 10 }, [])).toBe('All 10 trials are done.'))
})

it('the best value has a trial, if the history still has it', () => {
  expect(bestTrialOf(history)).toBe(8)
  expect(bestTrialOf({ ...history, place: [], number: [] })).toBeNull()
  expect(bestTrialOf({ ...history, best: [] })).toBeNull()
})

it('gains far below the values are none', () => {
  expect(isNoGain(0, [1])).toBe(true)
  expect(isNoGain(1e-12, [1, null, -5])).toBe(true)
  expect(isNoGain(1e-4, [1])).toBe(false)
  // Small values may have small gains.
  expect(isNoGain(1e-12, [1e-11])).toBe(false)
})

describe('the band of what may be gained', () => {
  const regret = (high: number): Regret => ({ place: [10], median: [1], low: [0.5], high: [high] })
  const of = (high: number) => seriesOf(history, regret(high), 'minimize', 'trial')
  it('takes at most a third of the plot beyond the values, and is cut there', () => {
    // Values go from 1 to 9.
    expect(limitsOf(of(3))).toEqual([-2, 9])
    expect(isCut(of(3), [-2, 9])).toBe(false)
    expect(limitsOf(of(7))).toEqual([-3, 9])
    expect(isCut(of(7), [-3, 9])).toBe(true)
  })
  it('stretches nothing if it is far out', () => expect(limitsOf(of(1000))[0]).toBe(0.5))
  it('failures keep their numbers, for whoever points at them', () => {
    const series = of(3)
    const i = series.value.findIndex((value, k) => value === null && series.number[k] !== null)
    expect(series.number[i]).toBe(2)
    expect(series.x[i]).toBe(3)
  })
})

it('whoever asks for failures sees why', () => {
  const study = { space: { parameters: { parameters: {}, constraints: {} } } } as unknown as Study
  expect(usualColumns(study)).not.toContain('reason')
  for (const filter of ["state == 'failed'", 'state = failed', 'state = failed and lr < 1']) {
    expect(usualColumns(study, filter)).toContain('reason')
  }
})

test('texts in files are no formulas, and numbers stay numbers', () => {
  const row = ['=1+1', '+a', '-b', '@c', '\td', '-1.5', '+2e3', -3, 'a=b', "it's"]
  expect(csv(['x'], [row])).toBe("x\r\n'=1+1,'+a,'-b,'@c,'\td,-1.5,+2e3,-3,a=b,it's\r\n")
})
