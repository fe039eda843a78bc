// Several studies over one another: which belong together, and the middle of those that do.

import type { Direction, History } from '../api/types.ts'

/** The best value so far of a study: corners of a step function, rising in x. */
export interface Run {
  name: string
  tags: string[]
  points: [number, number][]
  /** How far it has come. */
  end: number
}

/** Studies that only differ by chance, such as by their seed. */
export interface Group {
  tag: string
  runs: Run[]
}

/** The best so far by trials or by seconds. */
export function runOf(name: string, tags: string[], history: History, by: 'trials' | 'time'): Run {
  const points = history.best.map(([place, time, value]): [number, number] => [
    by === 'trials' ? place + 1 : time,
    value,
  ])
  const ended = history.counts.complete + history.counts.failed
  const last = history.ended.reduce((most, time) => Math.max(most, time), points.at(-1)?.[0] ?? 0)
  const end = Math.max(by === 'trials' ? ended : last, points.at(-1)?.[0] ?? 0)
  return { name, tags, points, end }
}

/**
 * Groups by tags. A tag that all have tells nothing apart, so it only counts if there is no other; of several, the one
 * that the fewest have says most. Studies without a partner stay alone.
 */
export function grouped(runs: Run[]): { groups: Group[]; alone: Run[] } {
  const counts = new Map<string, number>()
  for (const run of runs) for (const tag of new Set(run.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const shared = [...counts].filter(([, count]) => count >= 2)
  const telling = shared.some(([, count]) => count < runs.length)
    ? shared.filter(([, count]) => count < runs.length)
    : shared
  const order = new Map(
    telling.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1)).map(([tag], i) => [tag, i]),
  )
  const groups = new Map<string, Run[]>()
  const alone: Run[] = []
  for (const run of runs) {
    const tag = run.tags
      .filter((one) => order.has(one))
      .sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))[0]
    if (tag === undefined) alone.push(run)
    else groups.set(tag, [...(groups.get(tag) ?? []), run])
  }
  const real: Group[] = []
  for (const [tag, members] of groups) {
    if (members.length > 1) real.push({ tag, runs: members })
    else alone.push(...members)
  }
  return { groups: real, alone }
}

/** The value of a step function at a place; null before it begins. */
export function at(points: [number, number][], x: number): number | null {
  let [low, high] = [0, points.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle] as [number, number])[0] <= x) low = middle + 1
    else high = middle
  }
  return points[low - 1]?.[1] ?? null
}

/** A part of sorted numbers, between neighbors if need be. */
export function quantile(sorted: number[], share: number): number {
  const place = share * (sorted.length - 1)
  const [a, b] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0]
  return a + (b - a) * (place - Math.floor(place))
}

/**
 * Median, and the middle half, of a group: from where all its runs have a value to where the first one ends. With fewer
 * than four runs the band is all of them.
 */
export function middleOf({ runs }: Group): { points: [number, number][]; band: [number, number, number][] } {
  const start = Math.max(...runs.map((run) => run.points[0]?.[0] ?? Number.POSITIVE_INFINITY))
  const end = Math.min(...runs.map((run) => run.end))
  if (!(start <= end)) return { points: [], band: [] }
  const places = [...new Set([start, ...runs.flatMap((run) => run.points.map(([x]) => x)), end])]
    .filter((x) => x >= start && x <= end)
    .sort((a, b) => a - b)
  const [from, to] = runs.length < 4 ? [0, 1] : [0.25, 0.75]
  const points: [number, number][] = []
  const band: [number, number, number][] = []
  for (const x of places) {
    const values = runs.map((run) => at(run.points, x)).filter((value) => value !== null)
    values.sort((a, b) => a - b)
    points.push([x, quantile(values, 0.5)])
    band.push([x, quantile(values, from), quantile(values, to)])
  }
  return { points, band }
}

/** The names with their values where all have come to, the best first. */
export function ranking(
  curves: { name: string; points: [number, number][]; end: number }[],
  direction: Direction,
): { x: number; ranked: { name: string; value: number }[] } {
  const x = Math.min(...curves.map((curve) => curve.end))
  const ranked = curves
    .map(({ name, points }) => ({ name, value: at(points, x) }))
    .filter((one): one is { name: string; value: number } => one.value !== null)
    .sort((a, b) => (direction === 'minimize' ? a.value - b.value : b.value - a.value))
  return { x, ranked }
}
