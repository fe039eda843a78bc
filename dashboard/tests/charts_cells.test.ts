import { describe, expect, it } from 'vitest'
import { deviations, goodness, luminance, values } from '../src/charts/color.ts'
import { cellOf, edges, pixels } from '../src/charts/heat.ts'
import { distance, inOrder, nearest } from '../src/charts/nearest.ts'

describe('colors', () => {
  it('get lighter evenly with good values', () => {
    const light = Array.from({ length: 21 }, (_, i) => luminance(values(i / 20)))
    for (let i = 1; i < light.length; i += 1) expect(light[i]).toBeGreaterThan(light[i - 1] as number)
  })
  it('of deviations stand out from their ground with uncertainty', () => {
    expect(luminance(deviations(false)(0))).toBeGreaterThan(luminance(deviations(false)(1)))
    expect(luminance(deviations(true)(0))).toBeLessThan(luminance(deviations(true)(1)))
  })
  it('mean good at the same end in both directions', () => {
    expect(goodness(0, 10, 'minimize')(0)).toBe(1)
    expect(goodness(0, 10, 'maximize')(10)).toBe(1)
    expect(goodness(3, 3, 'minimize')(3)).toBe(0.5)
  })
})

describe('cells', () => {
  it('end half way to their neighbors', () => {
    expect(edges([0, 0.5, 1])).toEqual([0, 0.25, 0.75, 1])
    expect(cellOf([0.25, 0.75], 4)).toEqual([0, 0, 1, 1])
    expect(cellOf([0.5], 3)).toEqual([0, 0, 0])
  })
  it('have the lowest row at the bottom, and holes', () => {
    const out = pixels(
      { x: [0.5], y: [0.25, 0.75], height: [1, Number.NaN] },
      1,
      2,
      (h) => h,
      () => [10, 20, 30],
    )
    expect([...out]).toEqual([0, 0, 0, 0, 10, 20, 30, 255])
  })
})

describe('marks', () => {
  const marks = [
    { x: 10, y: 5 },
    { x: 0, y: 0 },
    { x: 10, y: 9 },
    { x: Number.NaN, y: 0 },
  ]
  it('the nearest within reach', () => {
    expect(nearest(marks, 9, 6, 5)).toBe(0)
    expect(nearest(marks, 100, 100, 5)).toBe(-1)
  })
  it('in order from left to right, then upwards', () => expect(inOrder(marks)).toEqual([1, 2, 0]))
  it('distance from a line, with gaps', () => {
    expect(
      distance(
        [
          { x: 0, y: 0 },
          { x: 10, y: 0 },
        ],
        5,
        3,
      ),
    ).toBe(3)
    expect(
      distance(
        [
          { x: 0, y: 0 },
          { x: 5, y: Number.NaN },
          { x: 10, y: 0 },
        ],
        5,
        3,
      ),
    ).toBe(Infinity)
  })
})
