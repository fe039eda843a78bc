import { describe, expect, it } from 'vitest'
import { at, grouped, middleOf, quantile, type Run, ranking } from '../src/views/compare_model.ts'

const run = (name: string, tags: string[], points: [number, number][] = [], end = 10): Run => ({
  name,
  tags,
  points,
  end,
})
const names = (runs: Run[]) => runs.map((one) => one.name)

describe('groups', () => {
  it('are studies that share a tag', () => {
    const { groups, alone } = grouped([run('a', ['x']), run('b', ['x']), run('c', ['y']), run('d', [])])
    expect(groups.map(({ tag, runs }) => [tag, names(runs)])).toEqual([['x', ['a', 'b']]])
    expect(names(alone)).toEqual(['c', 'd'])
  })
  it('ignore a tag that all have, if another tells them apart', () => {
    const { groups } = grouped([
      run('a', ['egg', 'ei']),
      run('b', ['egg', 'ei']),
      run('c', ['egg', 'ucb']),
      run('d', ['egg', 'ucb']),
    ])
    expect(groups.map(({ tag }) => tag)).toEqual(['ei', 'ucb'])
    expect(grouped([run('a', ['egg']), run('b', ['egg'])]).groups).toHaveLength(1)
  })
})

describe('steps', () => {
  const points: [number, number][] = [
    [1, 5],
    [4, 3],
  ]
  it('keep their value until the next', () => {
    expect([0, 1, 3.9, 4, 100].map((x) => at(points, x))).toEqual([null, 5, 5, 3, 3])
  })
  it('of a group have a median with a band, from where all begin to where the first ends', () => {
    const group = {
      tag: 't',
      runs: [
        run(
          'a',
          [],
          [
            [1, 5],
            [4, 1],
          ],
          9,
        ),
        run('b', [], [[2, 7]], 6),
        run('c', [], [[1, 6]], 8),
      ],
    }
    const { points: middle, band } = middleOf(group)
    expect(middle).toEqual([
      [2, 6],
      [4, 6],
      [6, 6],
    ])
    expect(band).toEqual([
      [2, 5, 7],
      [4, 1, 7],
      [6, 1, 7],
    ])
  })
  it('of runs without a common stretch have none', () => {
    expect(
      middleOf({ tag: 't', runs: [run('a', [], [[1, 1]], 2), run('b', [], [[5, 1]], 9)] }).points,
    ).toEqual([])
  })
})

it('quantiles are between neighbors', () =>
  expect([0, 0.5, 1].map((q) => quantile([1, 2, 4, 8], q))).toEqual([1, 3, 8]))

it('rankings are where all have come to', () => {
  const curves = [
    {
      name: 'a',
      points: [
        [1, 5],
        [9, 1],
      ] as [number, number][],
      end: 10,
    },
    { name: 'b', points: [[1, 4]] as [number, number][], end: 6 },
  ]
  expect(ranking(curves, 'minimize')).toEqual({
    x: 6,
    ranked: [
      { name: 'b', value: 4 },
      { name: 'a', value: 5 },
    ],
  })
  expect(ranking(curves, 'maximize').ranked[0]?.name).toBe('a')
})
