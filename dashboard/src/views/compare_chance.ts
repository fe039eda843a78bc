// Whether one group of runs is better than another, or whether that may be chance.

import type { Direction } from '../api/types.ts'
import { count, percent } from '../words/numbers.ts'

/** Up to so many ways to choose the runs of a group, all are counted; beyond, the normal law is close. */
const COUNTED = 20_000
/** Below this a difference is hardly chance. */
const HARDLY = 0.05

/** Runs that belong together, with their best values at the same place. */
export interface Results {
  name: string
  values: number[]
}

/** How often a value of the first is better than one of the second; draws count half. */
export function wins(a: number[], b: number[], direction: Direction): number {
  const sign = direction === 'minimize' ? 1 : -1
  let won = 0
  for (const x of a) for (const y of b) won += x === y ? 0.5 : sign * (y - x) > 0 ? 1 : 0
  return won
}

/**
 * The probability that groups of these sizes differ at least as much, either way, if all runs are alike: by the sum of ranks (Wilcoxon,
 * Mann and Whitney), equal values at their middle rank. Exact over all ways to share the runs out if there are few, else by the normal law.
 */
export function chance(a: number[], b: number[]): number {
  const all = [...a, ...b]
  const ranks = middleRanks(all)
  const mean = (a.length * (all.length + 1)) / 2
  const sum = ranks.slice(0, a.length).reduce((one, rank) => one + rank, 0)
  const off = Math.abs(sum - mean)
  if (ways(all.length, a.length) <= COUNTED) {
    let [far, total] = [0, 0]
    const choose = (from: number, left: number, so: number): void => {
      if (left === 0) {
        total += 1
        // Ranks are halves, whose sums are exact.
        if (Math.abs(so - mean) >= off) far += 1
        return
      }
      for (let i = from; i <= ranks.length - left; i += 1) choose(i + 1, left - 1, so + (ranks[i] ?? 0))
    }
    choose(0, a.length, 0)
    return far / total
  }
  const middle = (all.length + 1) / 2
  const spread = ranks.reduce((one, rank) => one + (rank - middle) ** 2, 0)
  const variance = (a.length * b.length * spread) / (all.length * (all.length - 1))
  return variance > 0 ? Math.min(1, 2 * upperTail(Math.max(0, off - 0.5) / Math.sqrt(variance))) : 1
}

/** What two groups say about which is better, the first being ahead. */
export function chanceText(first: Results, second: Results, direction: Direction): string {
  const [n, m] = [first.values.length, second.values.length]
  if (n === 1 && m === 1) return 'One run each: this may be chance.'
  if (n === 1 || m === 1)
    return `There is one run only of ${n === 1 ? first.name : second.name}: this may be chance.`
  const won = wins(first.values, second.values, direction)
  const pairs = n * m
  const p = chance(first.values, second.values)
  if (won === pairs)
    return `Every ${first.name} is better than every ${second.name}; by chance this happens, one way or the other, in ${often(p)} of ${n} with ${m}${p >= HARDLY ? ': more runs would tell' : ''}.`
  return `${first.name} is better in ${count(won)} of ${count(pairs)} pairs; by chance a difference like this happens in ${often(p)} of ${n} with ${m}${p >= HARDLY ? ', so this may be chance' : ''}.`
}

/** A probability as a count of comparisons. */
function often(p: number): string {
  if (p > 0.3) return `${percent(p)} of all comparisons`
  return p < 1e-6 ? 'fewer than 1 of 1 000 000 comparisons' : `1 of ${count(Math.round(1 / p))} comparisons`
}

function middleRanks(values: number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length
    const same = values.filter((other) => other === value).length
    return below + (same + 1) / 2
  })
}

/** In how many ways so many of them can be chosen. */
function ways(of: number, chosen: number): number {
  let product = 1
  for (let i = 1; i <= Math.min(chosen, of - chosen); i += 1) product *= (of - i + 1) / i
  return Math.round(product)
}

/** The share of the normal law beyond so many deviations (Abramowitz and Stegun, 26.2.17; wrong by 1e-7 at most). */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series
}
