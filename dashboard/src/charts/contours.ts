// Lines of equal height through a grid, by marching squares.

/** A line as places on both axes, from 0 to 1. */
export type Line = readonly (readonly [number, number])[]

export interface Grid {
  /** Places of the columns and rows, rising. */
  readonly x: readonly number[]
  readonly y: readonly number[]
  /** Row by row from the lowest y; NaN where there is nothing. */
  readonly height: readonly number[]
}

/** Heights at which lines say most: round numbers, about so many. */
export function levels(low: number, high: number, about: number): number[] {
  if (!(high > low)) return []
  const span = (high - low) / (about + 1)
  return Array.from({ length: about }, (_, i) => low + span * (i + 1))
}

/**
 * All lines of one height.
 *
 * Each cell gives up to two segments between its edges; segments that share an edge become one line. An edge is known by
 * the place of its first corner and its direction, so that neighbors agree on it exactly.
 */
export function contour(grid: Grid, level: number): Line[] {
  const { x, y, height } = grid
  const columns = x.length
  const at = (i: number, j: number): number => height[j * columns + i] ?? Number.NaN
  const points = new Map<number, readonly [number, number]>()
  const partners = new Map<number, number[]>()
  const crossing = (a: number, b: number): number => (level - a) / (b - a)
  const across = (i: number, j: number): number => {
    const key = 2 * (j * columns + i)
    if (!points.has(key)) {
      const t = crossing(at(i, j), at(i + 1, j))
      points.set(key, [lerp(x[i], x[i + 1], t), y[j] ?? 0])
    }
    return key
  }
  const up = (i: number, j: number): number => {
    const key = 2 * (j * columns + i) + 1
    if (!points.has(key)) {
      const t = crossing(at(i, j), at(i, j + 1))
      points.set(key, [x[i] ?? 0, lerp(y[j], y[j + 1], t)])
    }
    return key
  }
  const join = (a: number, b: number): void => {
    partners.set(a, [...(partners.get(a) ?? []), b])
    partners.set(b, [...(partners.get(b) ?? []), a])
  }
  for (let j = 0; j + 1 < y.length; j += 1) {
    for (let i = 0; i + 1 < columns; i += 1) {
      const corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
      if (corners.some((h) => !Number.isFinite(h))) continue
      const above = corners.map((h) => h >= level)
      const edges: number[] = []
      if (above[0] !== above[1]) edges.push(across(i, j))
      if (above[1] !== above[2]) edges.push(up(i + 1, j))
      if (above[3] !== above[2]) edges.push(across(i, j + 1))
      if (above[0] !== above[3]) edges.push(up(i, j))
      const [a, b, c, d] = edges
      if (a === undefined || b === undefined) continue
      if (c === undefined || d === undefined) {
        join(a, b)
      } else if (corners.reduce((sum, h) => sum + h, 0) / 4 >= level === above[0]) {
        // A saddle: the middle is on the side of the first corner, so the lines cut off the two other corners.
        join(a, b)
        join(c, d)
      } else {
        join(a, d)
        join(b, c)
      }
    }
  }
  return chained(points, partners)
}

function lerp(a = 0, b = 0, t: number): number {
  return a + (b - a) * t
}

/** Follows segments from end to end: first the lines with ends, then the rings. */
function chained(
  points: ReadonlyMap<number, readonly [number, number]>,
  partners: ReadonlyMap<number, readonly number[]>,
): Line[] {
  const seen = new Set<number>()
  const lines: Line[] = []
  const follow = (start: number, ring: boolean): void => {
    const line: (readonly [number, number])[] = []
    for (
      let at: number | undefined = start;
      at !== undefined;
      at = partners.get(at)?.find((p) => !seen.has(p))
    ) {
      seen.add(at)
      line.push(points.get(at) as readonly [number, number])
    }
    if (ring) line.push(line[0] as readonly [number, number])
    lines.push(line)
  }
  for (const [key, others] of partners) if (others.length === 1 && !seen.has(key)) follow(key, false)
  for (const key of partners.keys()) if (!seen.has(key)) follow(key, true)
  return lines
}
