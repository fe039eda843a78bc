import { describe, expect, it } from 'vitest'
import type { Space, Trial } from '../src/api/types.ts'
import { selected } from '../src/charts/brush.ts'
import {
  bestRange,
  common,
  coordinates,
  filterOf,
  readBrushes,
  VALUE,
  writtenBrushes,
} from '../src/views/parallel_model.ts'

const space: Space = {
  parameters: {
    parameters: {
      lr: { type: 'float', low: 1e-4, high: 1, log: true },
      units: { type: 'int', low: 1, high: 9 },
      'kind of optimizer': { type: 'categorical', choices: ['sgd', 'adam'] },
    },
    constraints: {},
  },
}

function trial(number: number, lr: number, optimizer: string, value: number | null): Trial {
  return {
    number,
    state: value === null ? 'failed' : 'complete',
    params: { lr, units: 5, 'kind of optimizer': optimizer },
    value,
    noise_var: null,
    reason: null,
    attrs: {},
    attempts: 1,
    asked: '',
    started: null,
    ended: null,
    seconds: null,
  }
}

const trials = [
  ...Array.from({ length: 20 }, (_, i) => trial(i, 10 ** (-4 + i / 5), i % 2 === 0 ? 'sgd' : 'adam', 1 + i)),
  trial(20, 0.01, 'adam', null),
]
const data = coordinates(space, 'minimize', trials)

describe('coordinates', () => {
  it('have an axis for each parameter and one for the value, on which good is up', () => {
    expect(data.axes.map((axis) => axis.name)).toEqual(['lr', 'units', 'kind of optimizer', VALUE])
    const places = data.rows.filter((row) => row.share !== null).map((row) => row.places[3] ?? 0)
    expect(places.at(-1)).toBe(1)
    expect(places[0]).toBe(0)
    const upwards = coordinates(space, 'maximize', trials)
    expect(upwards.rows.at(-1)?.trial.value).toBe(20)
    expect(upwards.rows.at(-1)?.places[3]).toBe(1)
  })
  it('draw failures first and the best last', () => {
    expect(data.rows[0]?.trial.number).toBe(20)
    expect(data.rows[0]?.places[3]).toBeNaN()
    expect(data.rows.at(-1)?.trial.value).toBe(1)
  })
  it('keep lines of a choice inside its band', () => {
    for (const row of data.rows) {
      const place = row.places[2] ?? 0
      expect(place > 0.5).toBe(row.trial.params['kind of optimizer'] === 'adam')
    }
  })
})

describe('selections', () => {
  it('of the best tenth hold a tenth', () => {
    const range = bestRange(data.rows, 0.1)
    const chosen = selected(
      data.rows.map((row) => row.places),
      new Map([[3, range ?? [0, 1]]]),
    )
    expect(data.rows.filter((_, i) => chosen[i]).map((row) => row.trial.value)).toEqual([2, 1])
    expect(bestRange([], 0.1)).toBeNull()
  })
  it('say what their trials have in common, and nothing about what all have', () => {
    const chosen = data.rows.map(
      (row) => (row.trial.value ?? 99) <= 9 && row.trial.params['kind of optimizer'] === 'sgd',
    )
    const said = common(data, chosen).map(({ text }) => text)
    expect(said).toHaveLength(2)
    expect(said.join()).toMatch(/lr is between (1e-4|0\.0001) and 0\.004/)
    expect(said.join()).toMatch(/kind of optimizer is mostly sgd/)
    expect(
      common(
        data,
        data.rows.map(() => true),
      ),
    ).toEqual([])
  })
  it('are filters in the language of the constraints', () => {
    const filter = (axis: number, low: number, high: number) =>
      filterOf(data, new Map([[axis, [low, high]]]), 'minimize')
    expect(filter(0, 0.25, 0.5)).toBe('lr >= 0.001 and lr <= 0.01')
    expect(filter(0, 0, 0.5)).toBe('lr <= 0.01')
    expect(filter(2, 0.5, 1)).toBe("`kind of optimizer` == 'adam'")
    expect(filter(2, 0, 1)).toBe("`kind of optimizer` in ['sgd', 'adam']")
    expect(filter(3, 0, 0.5)).toMatch(/^value >= \d/)
    expect(filter(3, 0.5, 1)).toMatch(/^value >= 1 and value <= \d/)
  })
  it('survive an address', () => {
    const brushes = new Map<number, readonly [number, number]>([
      [0, [0.25, 0.5]],
      [3, [0.9, 1]],
    ])
    expect(readBrushes(writtenBrushes(brushes), 4)).toEqual(brushes)
    expect(readBrushes('9:0:1,x,1:0.5:0.2,2:-1:1', 4).size).toBe(0)
  })
})
