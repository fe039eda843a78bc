import { describe, expect, it } from 'vitest'
import { type Brushes, brushed, cleared, nudged, selected, snapped } from '../src/charts/brush.ts'

const none: Brushes = new Map()
const rows = [
  [0.1, 0.9],
  [0.5, 0.5],
  [0.9, Number.NaN],
]

describe('brushes', () => {
  it('without ranges everything is selected', () => expect(selected(rows, none)).toEqual([true, true, true]))
  it('of several axes combine', () => {
    const one = brushed(none, 0, 0.6, 0.0)
    expect(selected(rows, one)).toEqual([true, true, false])
    expect(selected(rows, brushed(one, 1, 0.8, 1))).toEqual([true, false, false])
  })
  it('leave out what has no value there', () =>
    expect(selected(rows, brushed(none, 1, 0, 1))).toEqual([true, true, false]))
  it('vanish when they have no length, or are cleared', () => {
    const one = brushed(none, 0, 0.2, 0.4)
    expect(brushed(one, 0, 0.3, 0.3).size).toBe(0)
    expect(cleared(one, 0).size).toBe(0)
    expect(one.size).toBe(1)
  })
  it('stay on the axis', () => expect(brushed(none, 0, -1, 0.5).get(0)).toEqual([0, 0.5]))
})

describe('keys', () => {
  it('move an end, and never past the other', () => {
    let brushes = nudged(none, 0, 0, 0.5)
    expect(brushes.get(0)).toEqual([0.5, 1])
    brushes = nudged(brushes, 0, 1, -0.9)
    expect(brushes.get(0)?.[1]).toBeCloseTo(0.51)
  })
  it('take the range away when it covers the axis', () =>
    expect(nudged(brushed(none, 0, 0.1, 1), 0, 0, -0.2).size).toBe(0))
})

it('on categories, what is touched is in', () => {
  expect(snapped([0.3, 0.4], 4)).toEqual([0.25, 0.5])
  expect(snapped([0.9, 0.2], 2)).toEqual([0, 1])
  expect(snapped([0.5, 0.5], 4)).toEqual([0.5, 0.75])
})
