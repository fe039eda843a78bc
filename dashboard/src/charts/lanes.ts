// Spans of time that overlap, side by side.

export interface Timed {
  readonly begin: number
  readonly end: number
}

/** For each span (in order of `begin`) the first lane that is free, of at most so many; beyond them, the one that is free first. */
export function lanes(spans: readonly Timed[], most: number): { lane: number[]; count: number } {
  const free: number[] = []
  const lane = spans.map(({ begin, end }) => {
    // What ends and begins in the same millisecond does not overlap.
    let found = free.findIndex((until) => until <= begin + 1e-3)
    if (found < 0) found = free.length < most ? free.length : free.indexOf(Math.min(...free))
    free[found] = end
    return found
  })
  return { lane, count: Math.max(1, free.length) }
}

/** The share of `from` to `to` that no span covers. */
export function idle(spans: readonly Timed[], from: number, to: number): number {
  if (!(to > from)) return 0
  const sorted = [...spans].sort((a, b) => a.begin - b.begin)
  let [covered, until] = [0, from]
  for (const { begin, end } of sorted) {
    const [a, b] = [Math.max(begin, until), Math.min(end, to)]
    if (b > a) {
      covered += b - a
      until = b
    }
  }
  return 1 - covered / (to - from)
}
