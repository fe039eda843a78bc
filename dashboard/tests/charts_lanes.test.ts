import { describe, expect, it } from 'vitest'
import { idle, lanes } from '../src/charts/lanes.ts'
import { apart } from '../src/charts/lines.tsx'

describe('lanes', () => {
  it('put what overlaps side by side, and reuse what is free', () => {
    const spans = [
      { begin: 0, end: 10 },
      { begin: 2, end: 4 },
      { begin: 4, end: 8 },
      { begin: 10, end: 11 },
    ]
    expect(lanes(spans, 5)).toEqual({ lane: [0, 1, 1, 0], count: 2 })
  })
  it('are no more than there is room for', () => {
    const spans = [0, 1, 2, 3].map((begin) => ({ begin, end: 10 + begin }))
    expect(lanes(spans, 2).lane).toEqual([0, 1, 0, 1])
  })
  it('are at least one', () => expect(lanes([], 3).count).toBe(1))
})

describe('idle time', () => {
  it('is what no span covers; overlapping ones count once', () => {
    const spans = [
      { begin: 4, end: 6 },
      { begin: 0, end: 2 },
      { begin: 1, end: 3 },
    ]
    expect(idle(spans, 0, 10)).toBeCloseTo(0.5)
    expect(idle(spans, 5, 6)).toBe(0)
    expect(idle([], 0, 10)).toBe(1)
    expect(idle(spans, 3, 3)).toBe(0)
  })
})

describe('labels', () => {
  it('stay where they are if there is room', () => expect(apart([10, 50], 14, 0, 100)).toEqual([10, 50]))
  it('move apart, inside the chart, in their order', () => {
    expect(apart([50, 50, 52], 10, 0, 100)).toEqual([50, 60, 70])
    expect(apart([99, 98], 10, 0, 100)).toEqual([100, 90])
  })
})
