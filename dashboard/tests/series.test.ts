import { describe, expect, test } from 'vitest'
import { history as historyOf } from '../fixtures/answers.mjs'
import { regret as regretOf } from '../fixtures/model.mjs'
import { studies } from '../fixtures/studies.mjs'
import type { History, Regret } from '../src/api/types.ts'
import {
  aboveZero,
  allPositive,
  limitsOf,
  nearBest,
  needsLog,
  rightEnd,
  seriesOf,
} from '../src/curves/series.ts'

const known = studies()
const of = (name: string) => {
  const study = known.get(name)
  return {
    history: historyOf(study, 500) as unknown as History,
    regret: regretOf(study) as Regret | null,
    study,
  }
}

describe('the curves of a history', () => {
  test.each(['trial', 'time'] as const)('columns are as long, and rise by %s', (against) => {
    const { history, regret } = of('conv-net')
    const series = seriesOf(history, regret, 'minimize', against)
    for (const column of [series.value, series.number, series.best, series.low, series.high]) {
      expect(column).toHaveLength(series.x.length)
    }
    expect(series.x.every((x, i) => i === 0 || x > (series.x[i - 1] ?? 0))).toBe(true)
    expect(series.best.at(-1)).toBe(history.best.at(-1)?.[2])
    expect(series.failed.length).toBe(history.value.filter((value) => value === null).length)
    // The best so far never gets worse, and no value is better.
    const best = series.best.filter((value) => value !== null)
    expect(best.every((value, i) => i === 0 || value <= (best[i - 1] ?? 0))).toBe(true)
    expect(series.value.every((value, i) => value === null || value >= (series.best[i] ?? -Infinity))).toBe(
      true,
    )
  })

  test('what could still be gained lies beyond the best, in either direction', () => {
    const { history, regret } = of('conv-net-seed-2')
    const down = seriesOf(history, regret, 'minimize', 'trial')
    expect(down.high.every((high, i) => high === null || high <= (down.best[i] ?? Infinity))).toBe(true)
    const pool = of('solvents')
    const up = seriesOf(pool.history, pool.regret, 'maximize', 'trial')
    expect(up.low.some((low) => low !== null)).toBe(true)
    expect(up.low.every((low, i) => low === null || low >= (up.best[i] ?? -Infinity))).toBe(true)
  })

  test('a study without trials has no curves', () => {
    const { history, regret } = of('empty')
    const series = seriesOf(history, regret, 'minimize', 'trial')
    expect(series.x).toEqual([])
    expect(limitsOf(series)).toEqual([0, 1])
  })

  test('a band that reaches below zero leaves a logarithmic axis, and does not stretch any', () => {
    const { history, regret } = of('conv-net-seed-2')
    if (!regret) throw new Error('it is made up')
    const deep = { ...regret, high: regret.high.map(() => 100), low: regret.low.map(() => 0.001) }
    const series = seriesOf(history, deep, 'minimize', 'trial')
    const values = series.value.filter((value) => value !== null)
    const [least, most] = [Math.min(...values), Math.max(...values)]
    expect(series.low.some((end) => end !== null && end < 0)).toBe(true)
    const raised = aboveZero(series)
    expect([...raised.low, ...raised.high].every((end) => end === null || end > 0)).toBe(true)
    // The upper end is the model's own wherever it is positive.
    expect(raised.high).toEqual(series.high)
    for (const isLog of [false, true]) {
      const [low, high] = limitsOf(isLog ? raised : series, isLog)
      expect(low).toBeGreaterThan(0.9 * least)
      expect(high).toBe(most)
    }
  })

  test('when an axis is logarithmic', () => {
    expect(needsLog([1, 50, null])).toBe(false)
    expect(needsLog([1, 100, null])).toBe(true)
    expect(needsLog([-1, 100])).toBe(false)
    expect(needsLog([])).toBe(false)
    expect(allPositive([1, null, 0])).toBe(false)
  })

  test('what is near the best, and how far the axis goes', () => {
    expect(nearBest([1, 2, 3, 4, 5, 6, 7, 100], 'minimize')).toEqual([1, 5])
    expect(nearBest([1, 2, 3, 4, 5, 6, 7, 100], 'maximize')).toEqual([5, 100])
    expect(nearBest([1, 2], 'minimize')).toBeNull()
    expect(rightEnd(30, 40)).toBe(40)
    expect(rightEnd(30, 4000)).toBeCloseTo(31.2)
    expect(rightEnd(50, 40)).toBe(52)
    expect(rightEnd(0, null)).toBeCloseTo(1.04)
  })
})
