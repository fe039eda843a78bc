// From values to places along an axis (0 to 1), and back.

import type { Value } from '../api/types.ts'
import { valueText } from '../words/numbers.ts'
import { linearTicks, logTicks, type Tick, thinned, timeTicks } from './ticks.ts'

export interface Scale {
  readonly kind: 'linear' | 'log' | 'ordinal' | 'time'
  /** From 0 to 1 inside the axis; NaN for what has no place on it. */
  place(value: Value | null): number
  /** The value at a place: the nearest one that is possible. */
  value(place: number): Value
  /** Marks, about so many intervals apart. */
  ticks(intervals: number): Tick[]
}

export interface Options {
  /** Only whole numbers. */
  readonly whole?: boolean
}

function number(value: Value | null): number {
  return typeof value === 'number' ? value : Number.NaN
}

/** Differences matter. */
export function linear(low: number, high: number, options: Options = {}): Scale {
  const span = high - low
  return {
    kind: 'linear',
    place: (value) =>
      span === 0 ? (number(value) === low ? 0.5 : Number.NaN) : (number(value) - low) / span,
    value: (place) => (options.whole === true ? Math.round(low + place * span) : low + place * span),
    ticks: (intervals) => linearTicks(low, high, intervals, options.whole),
  }
}

/** Ratios matter; both ends are above 0. */
export function log(low: number, high: number, options: Options = {}): Scale {
  const [from, span] = [Math.log(low), Math.log(high) - Math.log(low)]
  return {
    kind: 'log',
    place: (value) => (span === 0 ? 0.5 : (Math.log(number(value)) - from) / span),
    value: (place) => {
      const x = Math.exp(from + place * span)
      return options.whole === true ? Math.round(x) : x
    },
    ticks: (intervals) => logTicks(low, high, intervals),
  }
}

/** Seconds. */
export function time(low: number, high: number): Scale {
  return { ...linear(low, high), kind: 'time', ticks: (intervals) => timeTicks(low, high, intervals) }
}

/** One of a few values, each in the middle of a band. */
export function ordinal(values: readonly Value[]): Scale {
  const n = Math.max(1, values.length)
  const indices = new Map(values.map((value, i) => [value, i]))
  const middle = (i: number): number => (i + 0.5) / n
  return {
    kind: 'ordinal',
    place: (value) => {
      const i = value === null ? undefined : indices.get(value)
      return i === undefined ? Number.NaN : middle(i)
    },
    value: (place) => values[Math.min(n - 1, Math.max(0, Math.floor(place * n)))] ?? '',
    ticks: (intervals) =>
      thinned(
        values.map((value, i) => ({ place: middle(i), label: valueText(value) })),
        Math.max(intervals + 1, 2),
      ),
  }
}

/** The smallest and the largest finite number; none if there is none. */
export function extent(values: Iterable<number | null | undefined>): [number, number] | null {
  let [low, high] = [Infinity, -Infinity]
  for (const x of values) {
    if (x === null || x === undefined || !Number.isFinite(x)) continue
    if (x < low) low = x
    if (x > high) high = x
  }
  return low <= high ? [low, high] : null
}

/** A linear scale over numbers with some room at both ends; a single number gets room of its own. */
export function around(values: Iterable<number | null | undefined>, room = 0.05): Scale {
  const [low, high] = extent(values) ?? [0, 1]
  const pad = high > low ? (high - low) * room : Math.abs(low) * 0.1 || 1
  return linear(low - pad, high + pad)
}
