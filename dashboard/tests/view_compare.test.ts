import { describe, expect, it } from 'vitest'
import { chance, chanceText, wins } from '../src/views/compare_chance.ts'
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

describe('chance', () => {
  it('is counted exactly for a few runs', () => {
    // Of 20 ways to share six runs out, two are as far apart.
    expect(chance([1, 2, 3], [4, 5, 6])).toBeCloseTo(0.1, 12)
    expect(chance([1, 2], [3, 4])).toBeCloseTo(2 / 6, 12)
    expect(chance([1, 1], [1, 1])).toBe(1)
    // A sum of ranks of 11 where 20 is the mean: 10 and 11, and 29 and 30, come of 4 of the 126 ways.
    expect(chance([1, 3, 5, 2], [4, 6, 8, 7, 9])).toBeCloseTo(4 / 126, 12)
  })
  it('is by the normal law for many, close to what counting gives', () => {
    // A sum of ranks of 78: counting all 184,756 ways gives 7,992 / 184,756 = 0.0433.
    const a = [1, 2, 3, 5, 7, 9, 11, 12, 13, 15]
    const b = Array.from({ length: 20 }, (_, i) => i + 1).filter((value) => !a.includes(value))
    expect(Math.abs(chance(a, b) - 0.043)).toBeLessThan(0.003)
    const same = new Array(20).fill(1)
    expect(chance(same, same)).toBe(1)
  })
  it('is said in words, in either direction', () => {
    const [bayes, random] = [
      { name: 'bayes', values: [1, 2, 3] },
      { name: 'random', values: [4, 5, 6] },
    ]
    expect(chanceText(bayes, random, 'minimize')).toMatch(
      /^Every bayes is better than every random; by chance .* in 1 of 10 comparisons of 3 with 3/,
    )
    expect(chanceText(random, bayes, 'maximize')).toMatch(/^Every random/)
    expect(wins([1, 4], [2, 4], 'minimize')).toBe(2.5)
    expect(chanceText({ name: 'a', values: [1, 5, 2] }, random, 'minimize')).toMatch(/may be chance/)
    expect(chanceText({ name: 'a', values: [1] }, { name: 'b', values: [2] }, 'minimize')).toBe(
      'One run each: this may be chance.',
    )
    expect(chanceText({ name: 'a', values: [1] }, random, 'minimize')).toMatch(/one run only of a/)
  })
})

it('the median of a group is in its band, everywhere', () => {
  for (const size of [2, 3, 4, 7]) {
    const runs = Array.from({ length: size }, (_, i) =>
      run(
        `r${i}`,
        [],
        Array.from({ length: 9 }, (_, k): [number, number] => [
          k + 1,
          ((i * 7 + 3) % 11) / (k + 1 + (i % 3)),
        ]),
        10 + i,
      ),
    )
    const { points, band } = middleOf({ tag: 't', runs })
    points.forEach(([x, middle], i) => {
      const [at, low, high] = band[i] ?? [0, 0, 0]
      expect(at).toBe(x)
      expect(low).toBeLessThanOrEqual(middle)
      expect(high).toBeGreaterThanOrEqual(middle)
    })
  }
})
