// Brushing: which lines of parallel coordinates are in all the ranges that were drawn on axes.

/** From and to on an axis, as places from 0 to 1. */
export type Range = readonly [number, number]

/** Ranges by the place of their axis; axes without a range let everything through. */
export type Brushes = ReadonlyMap<number, Range>

/** Whether each row is in all ranges. `rows[i][axis]` is a place; NaN (no value) is outside every range. */
export function selected(rows: readonly (readonly number[])[], brushes: Brushes): boolean[] {
  const ranges = [...brushes]
  return rows.map((row) =>
    ranges.every(([axis, [low, high]]) => {
      const place = row[axis] ?? Number.NaN
      return place >= low - 1e-9 && place <= high + 1e-9
    }),
  )
}

/** With this range on an axis, in whichever order its ends come; a range without length takes it away. */
export function brushed(brushes: Brushes, axis: number, a: number, b: number): Brushes {
  const next = new Map(brushes)
  const clamp = (place: number): number => Math.min(1, Math.max(0, place))
  const [low, high] = a < b ? [clamp(a), clamp(b)] : [clamp(b), clamp(a)]
  if (high - low < 1e-6) next.delete(axis)
  else next.set(axis, [low, high])
  return next
}

/** Without the range on an axis. */
export function cleared(brushes: Brushes, axis: number): Brushes {
  const next = new Map(brushes)
  next.delete(axis)
  return next
}

/** Moves one end of a range (0: lower, 1: upper) by a step; without a range it starts from the whole axis. */
export function nudged(brushes: Brushes, axis: number, end: 0 | 1, by: number): Brushes {
  const [low, high] = brushes.get(axis) ?? [0, 1]
  const least = 0.01
  const next = new Map(brushes)
  if (end === 0) next.set(axis, [Math.min(Math.max(0, low + by), high - least), high])
  else next.set(axis, [low, Math.max(Math.min(1, high + by), low + least)])
  const [from, to] = next.get(axis) as Range
  if (from <= 0 && to >= 1) next.delete(axis)
  return next
}

/** Widens a range to whole bands, for axes of categories: what is touched is in. */
export function snapped([a, b]: Range, bands: number): Range {
  const [low, high] = a < b ? [a, b] : [b, a]
  return [
    Math.floor(low * bands + 1e-9) / bands,
    Math.max(Math.ceil(high * bands - 1e-9), Math.floor(low * bands + 1e-9) + 1) / bands,
  ]
}
