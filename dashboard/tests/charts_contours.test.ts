import { describe, expect, it } from 'vitest'
import { contour, type Grid, levels } from '../src/charts/contours.ts'

function grid(n: number, height: (x: number, y: number) => number): Grid {
  const places = Array.from({ length: n }, (_, i) => i / (n - 1))
  return { x: places, y: places, height: places.flatMap((y) => places.map((x) => height(x, y))) }
}

describe('contour', () => {
  it('of a slope is one straight line from side to side', () => {
    const lines = contour(
      grid(9, (x, y) => x + 2 * y),
      1.1,
    )
    expect(lines).toHaveLength(1)
    for (const [x, y] of lines[0] ?? []) expect(x + 2 * y).toBeCloseTo(1.1, 12)
    const ends = [lines[0]?.[0], lines[0]?.at(-1)].map((p) => p?.[0]).sort()
    expect(ends).toEqual([0, 1])
  })
  it('around a hill is one closed ring at its radius', () => {
    const lines = contour(
      grid(41, (x, y) => Math.hypot(x - 0.5, y - 0.5)),
      0.3,
    )
    expect(lines).toHaveLength(1)
    expect(lines[0]?.[0]).toEqual(lines[0]?.at(-1))
    // Interpolation in cells of 1/40 errs by less than their curvature, h^2 / (8 r) = 0.0003.
    for (const [x, y] of lines[0] ?? [])
      expect(Math.abs(Math.hypot(x - 0.5, y - 0.5) - 0.3)).toBeLessThan(5e-4)
  })
  it('at a saddle does not cross itself: two lines, four ends', () => {
    const lines = contour({ x: [0, 1], y: [0, 1], height: [1, 0, 0, 1] }, 0.4)
    expect(lines.map((l) => l.length)).toEqual([2, 2])
    expect(new Set(lines.flat().map(String)).size).toBe(4)
    // The middle (0.5) is above, as the first corner is: the lines cut off the two low corners.
    for (const [a, b] of lines)
      expect(Math.hypot((a?.[0] ?? 0) - (b?.[0] ?? 0), (a?.[1] ?? 0) - (b?.[1] ?? 0))).toBeLessThan(0.6)
  })
  it('goes around what is missing', () => {
    const lines = contour(
      grid(9, (x, y) => (x > 0.4 && x < 0.6 ? Number.NaN : x + y)),
      1,
    )
    expect(lines).toHaveLength(2)
    expect(lines.flat().every(([x, y]) => Number.isFinite(x) && Number.isFinite(y))).toBe(true)
  })
  it('of a plain is nothing', () =>
    expect(
      contour(
        grid(5, () => 1),
        2,
      ),
    ).toEqual([]))
})

it('levels are inside the range', () => {
  expect(levels(0, 6, 5)).toEqual([1, 2, 3, 4, 5])
  expect(levels(1, 1, 5)).toEqual([])
})
