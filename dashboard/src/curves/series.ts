import type { Direction, History, Regret } from '../api/types.ts'

/** What goes to the right: the place among the trials that have ended, counted from 1, or seconds since the study began. */
export type Against = 'trial' | 'time'

/** The curves of a history: columns of the same length, by rising `x`. */
export interface HistorySeries {
  x: number[]
  /** Values that were told; null where there is none. */
  value: (number | null)[]
  /** The number of the trial at this `x`, of a failed one where there is no value; null where only a curve has a corner. */
  number: (number | null)[]
  best: (number | null)[]
  /** Ends of the band in which the model expects the best possible value. */
  low: (number | null)[]
  high: (number | null)[]
  failed: { x: number; number: number }[]
  running: { x: number; number: number; worker: string }[]
}

/** Folds a history into curves. */
export function seriesOf(
  history: History,
  regret: Regret | null,
  direction: Direction,
  against: Against,
): HistorySeries {
  const at = (i: number): number =>
    against === 'trial' ? (history.place[i] ?? 0) + 1 : (history.ended[i] ?? 0)
  const rows = history.number.map((number, i) => ({ x: at(i), number, value: history.value[i] ?? null }))
  const corners = history.best.map(([place, time, value]) => ({
    x: against === 'trial' ? place + 1 : time,
    value,
  }))
  const bands = regret ? bandOf(history, regret, direction, against) : []

  const x = [...new Set([...rows, ...corners, ...bands].map((row) => row.x))].sort((a, b) => a - b)
  const index = new Map(x.map((value, i) => [value, i]))
  const empty = (): (number | null)[] => new Array(x.length).fill(null)
  const made: HistorySeries = {
    x,
    value: empty(),
    number: empty(),
    best: empty(),
    low: empty(),
    high: empty(),
    failed: [],
    running: [],
  }
  for (const row of rows) {
    const i = index.get(row.x) ?? 0
    if (row.value === null) {
      made.failed.push({ x: row.x, number: row.number })
      made.number[i] ??= row.number
    } else {
      made.value[i] = row.value
      made.number[i] = row.number
    }
  }
  let corner = 0
  for (let i = 0; i < x.length; i += 1) {
    while (corner < corners.length && (corners[corner]?.x ?? 0) <= (x[i] ?? 0)) corner += 1
    made.best[i] = corners[corner - 1]?.value ?? null
  }
  for (const band of bands) {
    const i = index.get(band.x) ?? 0
    made.low[i] = band.low
    made.high[i] = band.high
  }
  const ended = history.counts.complete + history.counts.failed
  made.running = history.running.map(([number, since, worker], i) => ({
    x: against === 'trial' ? ended + 1 + i : since,
    number,
    worker,
  }))
  return made
}

/** Where the best possible value may be, by what could still be gained on the best of that moment. */
function bandOf(history: History, regret: Regret, direction: Direction, against: Against) {
  const sign = direction === 'minimize' ? -1 : 1
  return regret.place.flatMap((place, i) => {
    const best = history.best.filter(([at]) => at < place).at(-1)
    const [low, high] = [regret.low[i], regret.high[i]]
    if (!best || low === undefined || high === undefined) return []
    const ends = [best[2] + sign * low, best[2] + sign * high]
    const x = against === 'trial' ? place : timeOf(history, place)
    return [{ x, low: Math.min(...ends), high: Math.max(...ends) }]
  })
}

/** When so many trials had ended, as far as the thinned history says. */
function timeOf(history: History, place: number): number {
  let low = 0
  let high = history.place.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((history.place[middle] ?? 0) < place) low = middle
    else high = middle - 1
  }
  return history.ended[low] ?? 0
}

/** Whether values need a logarithmic axis: all are positive and they span two decades. */
export function needsLog(values: (number | null)[]): boolean {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    if (value === null) continue
    if (value <= 0) return false
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return high / low >= 100
}

/** Whether a logarithmic axis is possible. */
export const allPositive = (values: (number | null)[]): boolean =>
  values.every((value) => value === null || value > 0)

/** The range of values that shows what is near the best: from the best to the median. */
export function nearBest(values: (number | null)[], direction: Direction): [number, number] | null {
  const sorted = values.filter((value): value is number => value !== null).sort((a, b) => a - b)
  if (sorted.length < 8) return null
  const [low, middle, high] = [sorted[0] ?? 0, sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0]
  return direction === 'minimize' ? [low, middle] : [middle, high]
}

/** How far to the right the axis of trials goes: to the budget, unless that would squeeze all that there is into a corner. */
export function rightEnd(last: number, planned: number | null): number {
  const now = Math.max(last, 1)
  return planned !== null && planned >= now && planned <= 3 * now + 20 ? planned : now * 1.04
}

/** For a logarithmic axis: ends of the band at or below zero go out of the picture, far below all values. */
export function aboveZero(series: HistorySeries): HistorySeries {
  const least = series.value.reduce<number>(
    (low, value) => (value === null ? low : Math.min(low, value)),
    Infinity,
  )
  if (!(least > 0 && least < Infinity)) return series
  const floor = least / 1e6
  const raised = (column: (number | null)[]) =>
    column.map((end) => (end === null ? null : Math.max(end, floor)))
  return { ...series, low: raised(series.low), high: raised(series.high) }
}

/** How much room the band may take beyond the values, as a part of theirs: they stay readable with two thirds of the plot. */
const BEYOND = 0.5
/** An end further out than this says so little that it gets no room at all. */
const FAR = 1

/** The range of values, with the band's last ends as far as there is room for them: earlier ends were guesses. */
export function limitsOf(series: HistorySeries, isLog = false): [number, number] {
  let [low, high] = [Infinity, -Infinity]
  for (const value of series.value) {
    if (value === null) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (!(low <= high)) return [0, 1]
  const [least, most] = widened(low, high, BEYOND, isLog)
  const [lowest, highest] = widened(low, high, FAR, isLog)
  for (const column of [series.low, series.high]) {
    const end = column.findLast((value) => value !== null) ?? null
    if (end === null || end < lowest || end > highest) continue
    low = Math.min(low, Math.max(end, least))
    high = Math.max(high, Math.min(end, most))
  }
  return [low, high]
}

/** A range with more room at both ends, as a part of its own. */
function widened(low: number, high: number, by: number, isLog: boolean): [number, number] {
  const [room, ratio] = [(high - low) * by, (high / low) ** by]
  return isLog ? [low / ratio, high * ratio] : [low - room, high + room]
}

/** Whether the band goes on beyond the limits of the plot. */
export function isCut(series: HistorySeries, [low, high]: [number, number]): boolean {
  const room = (high - low) * 0.06
  return (
    series.low.some((end) => end !== null && end < low - room) ||
    series.high.some((end) => end !== null && end > high + room)
  )
}
