// Where an axis has its marks, and what they say.

import { number } from '../words/numbers.ts'
import { duration } from '../words/times.ts'
import { stepped } from './digits.ts'

export interface Tick {
  /** From 0 to 1 along the axis. */
  readonly place: number
  readonly label: string
}

/** The step of 1, 2 or 5 times a power of ten that gives about so many intervals. */
export function step(span: number, intervals: number): number {
  const rough = span / Math.max(1, intervals)
  const power = 10 ** Math.floor(Math.log10(rough))
  const lead = rough / power
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10)
}

/** The multiples of `by` from `low` to `high`. */
export function multiples(low: number, high: number, by: number): number[] {
  const first = Math.ceil(low / by - 1e-9)
  const last = Math.floor(high / by + 1e-9)
  const found: number[] = []
  for (let i = first; i <= last && found.length < 1000; i += 1)
    found.push(i === 0 ? 0 : Number((i * by).toPrecision(14)))
  return found
}

/** Marks of a linear axis. */
export function linearTicks(low: number, high: number, intervals: number, whole = false): Tick[] {
  if (!(high > low)) return [{ place: 0.5, label: number(low) }]
  const by = whole ? Math.max(1, step(high - low, intervals)) : step(high - low, intervals)
  return multiples(low, high, by).map((x) => ({ place: (x - low) / (high - low), label: stepped(x, by) }))
}

/** Marks of a logarithmic axis: powers of ten, with twos and fives where they are few. */
export function logTicks(low: number, high: number, intervals: number): Tick[] {
  if (!(high > low) || !(low > 0)) return [{ place: 0.5, label: number(low) }]
  const [from, to] = [Math.log10(low), Math.log10(high)]
  const at = (x: number): Tick => ({ place: (Math.log10(x) - from) / (to - from), label: number(x, 3) })
  const within = (x: number): boolean => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9)
  const decades = to - from
  if (decades < 0.7) {
    return multiples(low, high, step(high - low, intervals))
      .filter((x) => x > 0)
      .map(at)
  }
  const every = Math.max(1, Math.ceil(decades / Math.max(1, intervals)))
  const leads = decades * 3 <= intervals + 1 ? [1, 2, 5] : decades * 2 <= intervals + 1 ? [1, 3] : [1]
  const found: number[] = []
  for (let power = Math.floor(from); power <= Math.ceil(to); power += 1) {
    if (power % every !== 0) continue
    for (const lead of leads) {
      const x = Number(`${lead}e${power}`)
      if (within(x)) found.push(x)
    }
  }
  return found.length >= 2 ? found.map(at) : [low, high].map(at)
}

const TIMES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]

/** All marks of an axis are in the same unit. */
const UNITS: [string, number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
  ['ms', 0.001],
]

/** Marks of an axis of seconds, at the hours, minutes and days of people. */
export function timeTicks(low: number, high: number, intervals: number): Tick[] {
  const span = high - low
  if (!(span > 0)) return [{ place: 0.5, label: duration(low) }]
  const rough = span / Math.max(1, intervals)
  const by =
    rough < 1
      ? step(span, intervals)
      : (TIMES.find((t) => t >= rough) ?? 86_400 * Math.max(1, step(span / 86_400, intervals)))
  const [unit, size] = UNITS.find(
    ([, seconds]) => by >= seconds || (2 * by >= seconds && span >= 3 * seconds),
  ) ?? ['s', 1]
  return multiples(low, high, by).map((x) => ({
    place: (x - low) / span,
    label: x === 0 ? '0' : `${stepped(x / size, by / size)} ${unit}`,
  }))
}

/** The marks that fit without touching: every second, third, … of them, the first always. */
export function thinned(ticks: readonly Tick[], most: number): Tick[] {
  const every = Math.max(1, Math.ceil(ticks.length / Math.max(1, most)))
  return ticks.filter((_, i) => i % every === 0)
}
