import { describe, expect, it } from 'vitest'
import { around, extent, linear, log, ordinal, time } from '../src/charts/scale.ts'
import { linearTicks, logTicks, step, thinned } from '../src/charts/ticks.ts'

const labels = (ticks: readonly { label: string }[]): string[] => ticks.map((t) => t.label)

describe('scales', () => {
  it('places and values are inverse', () => {
    for (const scale of [linear(-3, 7), log(1e-5, 10), time(0, 9000)]) {
      for (const place of [0, 0.3, 1]) expect(scale.place(scale.value(place))).toBeCloseTo(place, 12)
    }
  })
  it('whole numbers stay whole', () => {
    expect(linear(1, 8, { whole: true }).value(0.33)).toBe(3)
    expect(log(1, 1000, { whole: true }).value(0.5)).toBe(32)
  })
  it('a range of a single value is in the middle', () => {
    expect(linear(2, 2).place(2)).toBe(0.5)
    expect(log(2, 2).place(2)).toBe(0.5)
    expect(linear(2, 2).ticks(5)).toEqual([{ place: 0.5, label: '2' }])
  })
  it('choices are in the middle of bands, whatever their type', () => {
    const scale = ordinal(['sgd', 'adam', true, 4])
    expect(['sgd', true, 4].map((v) => scale.place(v))).toEqual([0.125, 0.625, 0.875])
    expect([0, 0.24, 0.26, 1].map((p) => scale.value(p))).toEqual(['sgd', 'sgd', 'adam', 4])
    expect(scale.place('other')).toBeNaN()
    expect(scale.place(null)).toBeNaN()
  })
  it('what is no number has no place', () => expect(linear(0, 1).place('a')).toBeNaN())
})

describe('ticks', () => {
  it('are round numbers inside the range', () => {
    expect(labels(linearTicks(0.13, 0.87, 4))).toEqual(['0.2', '0.4', '0.6', '0.8'])
    expect(labels(linearTicks(-5, 10, 3))).toEqual(['−5', '0', '5', '10'])
    expect(labels(linearTicks(1, 4, 10, true))).toEqual(['1', '2', '3', '4'])
  })
  it('steps are 1, 2 or 5', () => expect([1, 18, 40, 800].map((s) => step(s, 5))).toEqual([0.2, 5, 10, 200]))
  it('logarithmic ones are powers of ten, if there is no room for more', () => {
    expect(labels(logTicks(1e-5, 1, 5))).toEqual(['1e-5', '0.0001', '0.001', '0.01', '0.1', '1'])
    expect(labels(logTicks(1e-12, 1, 4))).toEqual(['1e-12', '1e-9', '1e-6', '0.001', '1'])
    expect(labels(logTicks(1, 100, 6))).toEqual(['1', '2', '5', '10', '20', '50', '100'])
    expect(labels(logTicks(20, 30, 4))).toEqual(['20', '22', '24', '26', '28', '30'])
    expect(logTicks(1, 1e3, 5).every((t) => t.place >= 0 && t.place <= 1)).toBe(true)
  })
  it('times are minutes and hours', () =>
    expect(labels(time(0, 7200).ticks(4))).toEqual(['0', '30 min', '60 min', '90 min', '120 min']))
  it('can be thinned', () => expect(thinned(linearTicks(0, 10, 10), 4)).toHaveLength(4))
})

it('the extent leaves out what is not finite', () => {
  expect(extent([null, 3, Number.NaN, -1, Infinity])).toEqual([-1, 3])
  expect(extent([null])).toBeNull()
  expect(around([5]).place(5)).toBeCloseTo(0.5)
})
