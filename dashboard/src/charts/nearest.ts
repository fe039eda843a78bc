// The mark that a pointer means, and the next one for the arrow keys.

export interface Mark {
  readonly x: number
  readonly y: number
}

/** The nearest mark within reach; -1 if there is none. */
export function nearest(marks: readonly Mark[], x: number, y: number, reach: number): number {
  let [best, least] = [-1, reach * reach]
  marks.forEach((mark, i) => {
    const d = (mark.x - x) ** 2 + (mark.y - y) ** 2
    if (d <= least) [best, least] = [i, d]
  })
  return best
}

/** The marks from left to right (and from bottom to top where they are equal), as places in `marks`. */
export function inOrder(marks: readonly Mark[]): number[] {
  return marks
    .map((_, i) => i)
    .filter((i) => Number.isFinite(marks[i]?.x) && Number.isFinite(marks[i]?.y))
    .sort(
      (a, b) => (marks[a] as Mark).x - (marks[b] as Mark).x || (marks[b] as Mark).y - (marks[a] as Mark).y,
    )
}

/** The distance of a point from a line through points. */
export function distance(line: readonly Mark[], x: number, y: number): number {
  let least = Infinity
  for (let i = 0; i + 1 < line.length; i += 1) {
    const [a, b] = [line[i] as Mark, line[i + 1] as Mark]
    const [dx, dy] = [b.x - a.x, b.y - a.y]
    const length = dx * dx + dy * dy
    const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / length))
    const d = Math.hypot(a.x + t * dx - x, a.y + t * dy - y)
    if (d < least) least = d // NaN, where a line is interrupted, is never less
  }
  return least
}
