import { describe, expect, it } from 'vitest'
import type { Axis, SurfaceMap } from '../src/api/types.ts'
import {
  bestCell,
  colorRange,
  drawn,
  feasible,
  isElsewhere,
  paramsAt,
  placeText,
  pointsOf,
} from '../src/views/map_model.ts'

const lr: Axis = { name: 'lr', kind: 'float', log: true, values: [0.001, 0.01, 0.1], places: [0, 0.5, 1] }
const kind: Axis = { name: 'kind', kind: 'categorical', log: false, values: ['a', 'b'], places: [0, 1] }
const map: SurfaceMap = {
  x: lr,
  y: kind,
  fixed: { depth: 3 },
  mean: [3, 1, 2, 5, 0, 4],
  sd: [1, 1, 1, 1, 1, 1],
  infeasible: [4],
  evaluated: [
    [7, 0.5, 1, 2],
    [8, 0, 0, 9],
  ],
  pending: [[9, 1, 0]],
  recommended: [7, 0.5, 1],
}

describe('axes', () => {
  it('of numbers keep their places, with marks at round values', () => {
    const axis = drawn(lr)
    expect(axis.bands).toBe(false)
    expect(axis.spot(0.25, 3)).toBe(0.25)
    expect(axis.ticks(2).map(({ place, label }) => [label, Number(place.toFixed(6))])).toEqual([
      ['0.001', 0],
      ['0.01', 0.5],
      ['0.1', 1],
    ])
  })
  it('of choices are bands of the same width, with points beside one another in them', () => {
    const axis = drawn(kind)
    expect(axis.places).toEqual([0.25, 0.75])
    const spots = [1, 2, 3].map((number) => axis.spot(1, number))
    expect(new Set(spots).size).toBe(3)
    expect(spots.every((spot) => spot > 0.5 && spot < 1)).toBe(true)
  })
  it('of a few whole numbers are bands, too', () => {
    expect(drawn({ ...lr, kind: 'int', log: false, values: [1, 2, 3] }).bands).toBe(true)
  })
})

describe('a map', () => {
  it('has nothing where constraints rule it out', () => {
    expect(feasible(map.mean, map.infeasible)[4]).toBeNaN()
    expect(bestCell(map, 'minimize')).toBe(1)
    expect(bestCell(map, 'maximize')).toBe(3)
  })
  it('says where a cell is, and gives the parameters there', () => {
    expect(placeText(map, 4)).toBe('lr 0.01, kind b')
    expect(paramsAt(map, 2, 0)).toEqual({ depth: 3, lr: 0.1, kind: 'a' })
    expect(paramsAt({ ...map, y: null }, 1, 0)).toEqual({ depth: 3, lr: 0.01 })
  })
  it('draws the worst points first, and the recommended one on top', () => {
    const points = pointsOf(map, drawn(lr), drawn(kind), 'minimize')
    expect(points.map((point) => [point.kind, point.number])).toEqual([
      ['evaluated', 8],
      ['evaluated', 7],
      ['pending', 9],
      ['recommended', 7],
    ])
    expect(pointsOf(map, drawn(lr), drawn(kind), 'minimize', (number) => number === 8)).toHaveLength(1)
  })
})

describe('colors', () => {
  it('leave out a long tail at the bad end, never at the good one', () => {
    const means = [...Array.from({ length: 99 }, (_, i) => i), 1e6]
    expect(colorRange(means, 'minimize')).toEqual({ low: 0, high: 94, cut: true })
    expect(colorRange(means, 'maximize')).toEqual({ low: 0, high: 1e6, cut: false })
    expect(colorRange([1, 2, Number.NaN], 'minimize')).toEqual({ low: 1, high: 2, cut: false })
  })
})

it('the recommended point is elsewhere than the best of the map, or beside it', () => {
  // It is at the middle of lr, with the second kind: the fifth cell.
  expect(isElsewhere(map, 4)).toBe(false)
  // A neighbor along a range is the same for the eye, another choice is not.
  expect(isElsewhere(map, 3)).toBe(false)
  expect(isElsewhere(map, 1)).toBe(true)
  expect(isElsewhere({ ...map, recommended: [8, 0, 1] }, 5)).toBe(true)
  expect(isElsewhere({ ...map, recommended: null }, 1)).toBe(false)
})
