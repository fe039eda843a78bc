// Trials as lines of parallel coordinates, and what a selection of them says.

import type { Direction, Param, Params, Space, Trial, Value } from '../api/types.ts'
import type { Brushes, Range } from '../charts/brush.ts'
import { goodness } from '../charts/color.ts'
import type { ParallelAxis, ParallelRow } from '../charts/parallel.tsx'
import { around, extent, linear, log, type Scale } from '../charts/scale.ts'
import { choicesOf } from '../parts/enqueue.tsx'
import { number, valueText } from '../words/numbers.ts'
import { colorRange, parametersOf, scaleOf } from './map_model.ts'

/** The name of the axis of the values. */
export const VALUE = 'value'
/** Values whose ends are this many times apart get a logarithmic axis. */
const LOG_FROM = 100

/** Large values become low places. */
export function flipped(scale: Scale): Scale {
  return {
    kind: scale.kind,
    place: (value) => 1 - scale.place(value),
    value: (place) => scale.value(1 - place),
    ticks: (intervals) => scale.ticks(intervals).map(({ place, label }) => ({ place: 1 - place, label })),
  }
}

/** The scale of the values: good is up. Beyond the range of colors, bad values stand at the lower end. */
export function valueScale(values: number[], direction: Direction): Scale {
  const { low, high } = colorRange(values, direction)
  const ends = extent(values.filter((value) => value >= low && value <= high)) ?? [0, 1]
  const scale =
    ends[0] > 0 && ends[1] / ends[0] > LOG_FROM
      ? log(ends[0], ends[1])
      : ends[0] < ends[1]
        ? linear(...ends)
        : around(ends)
  const clamped: Scale = { ...scale, place: (value) => clamp(scale.place(value)) }
  return direction === 'minimize' ? flipped(clamped) : clamped
}

const clamp = (place: number): number => (Number.isNaN(place) ? place : Math.min(1, Math.max(0, place)))

export interface Coordinates {
  axes: (ParallelAxis & { param?: Param })[]
  /** The worst first, so that the best are drawn on top; failures at the very beginning. */
  rows: (ParallelRow & { trial: Trial })[]
}

/** Axes for all parameters and for the value, and a line for each trial that has ended. */
export function coordinates(space: Space, direction: Direction, trials: Trial[]): Coordinates {
  const ended = trials.filter((trial) => trial.state === 'complete' || trial.state === 'failed')
  const values = ended.map((trial) => trial.value).filter((value) => value !== null)
  const declared: Coordinates['axes'] =
    'pool' in space
      ? space.pool.features.map((name) => ({
          name,
          scale: around(ended.map((trial) => trial.params[name] as number)),
        }))
      : parametersOf(space).map(([name, param]) => {
          const choices = choicesOf(param)
          return { name, scale: scaleOf(param), param, ...(choices ? { bands: choices.length } : {}) }
        })
  const scale = valueScale(values, direction)
  const axes = [...declared, { name: VALUE, scale }]
  const range = colorRange(values, direction)
  const good = goodness(range.low, range.high, direction)
  const rows = ended.map((trial) => ({
    trial,
    places: [
      ...declared.map((axis) => spread(axis, trial.params[axis.name], trial.number)),
      trial.value === null ? Number.NaN : scale.place(trial.value),
    ],
    share: trial.value === null ? null : clamp(good(trial.value)),
    text: [
      `trial ${trial.number}`,
      trial.value === null ? 'failed' : `value ${number(trial.value)}`,
      ...declared.map((axis) => `${axis.name} ${valueText(trial.params[axis.name])}`),
    ],
  }))
  const order = (share: number | null): number => share ?? -1
  rows.sort((a, b) => order(a.share) - order(b.share) || b.trial.number - a.trial.number)
  return { axes, rows }
}

/** Places of the same choice are spread a little over its band, so that lines do not cover one another. */
function spread(axis: ParallelAxis, value: Value | undefined, seed: number): number {
  const place = axis.scale.place(value ?? null)
  return axis.bands === undefined ? place : place + ((((seed * 0.618034) % 1) - 0.5) * 0.5) / axis.bands
}

/** The range on the axis of values that holds this share of the trials with a value, the best. */
export function bestRange(rows: ParallelRow[], share: number): Range | null {
  const places = rows.map((row) => row.places.at(-1) ?? Number.NaN).filter(Number.isFinite)
  if (places.length === 0) return null
  places.sort((a, b) => b - a)
  const last = places[Math.max(0, Math.ceil(share * places.length) - 1)] ?? 0
  return last >= 1 ? [0.99, 1] : [last, 1]
}

/** A range of a parameter in which what is selected is much closer together than all trials are. */
export interface Gathered {
  name: string
  text: string
}

/** Spread of the selection against that of all, below which a parameter is named. */
const CLOSER = 0.6

/** What the selected trials have in common, the tightest first: the middle 80 % of their values, or a choice that most have. */
export function common({ axes, rows }: Coordinates, chosen: boolean[]): Gathered[] {
  const some = rows.filter((_, i) => chosen[i])
  if (some.length < 3 || some.length === rows.length) return []
  const found: (Gathered & { ratio: number })[] = []
  axes.forEach((axis, i) => {
    if (axis.name === VALUE) return
    if (axis.bands === undefined) {
      const [low, high] = middle(some, i)
      const [from, to] = middle(rows, i)
      const ratio = (high - low) / (to - from)
      if (to > from && ratio < CLOSER)
        found.push({
          name: axis.name,
          text: rangeText(axis.name, axis.scale.value(low), axis.scale.value(high)),
          ratio,
        })
      return
    }
    const count = (of: typeof rows) => {
      const counts = new Map<Value, number>()
      for (const { trial } of of) {
        const value = trial.params[axis.name]
        if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
      }
      return counts
    }
    const [mine, all] = [count(some), count(rows)]
    const [value, times] = [...mine].sort((a, b) => b[1] - a[1])[0] ?? ['', 0]
    const [share, before] = [times / some.length, (all.get(value) ?? 0) / rows.length]
    if (share > 0.75 && share > before + 0.15)
      found.push({
        name: axis.name,
        text: `${axis.name} is mostly ${valueText(value)}`,
        ratio: before / share,
      })
  })
  return found.sort((a, b) => a.ratio - b.ratio).map(({ name, text }) => ({ name, text }))
}

function rangeText(name: string, low: Value, high: Value): string {
  const [a, b] = [rough(low), rough(high)]
  return a === b ? `${name} is ${a}` : `${name} is between ${a} and ${b}`
}

/** A bound of a range needs few digits. */
const rough = (value: Value): string => (typeof value === 'number' ? number(value, 2) : valueText(value))

function middle(rows: ParallelRow[], axis: number): [number, number] {
  const places = rows.map((row) => row.places[axis] ?? Number.NaN).filter(Number.isFinite)
  places.sort((a, b) => a - b)
  // Of few trials, none is left out.
  const edge = places.length < 20 ? 0 : 0.1
  const at = (share: number): number => places[Math.round(share * (places.length - 1))] ?? 0
  return [at(edge), at(1 - edge)]
}

/** The ranges as a filter in the language of the constraints, for the table of trials. */
export function filterOf({ axes }: Coordinates, brushes: Brushes, direction: Direction): string {
  return [...brushes]
    .flatMap(([i, [low, high]]) => {
      const axis = axes[i]
      if (!axis) return []
      const name = /^[A-Za-z_]\w*$/.test(axis.name) ? axis.name : `\`${axis.name}\``
      const choices = axis.param && choicesOf(axis.param)
      if (choices) {
        const inside = choices.filter(
          (_, k) => (k + 0.5) / choices.length >= low && (k + 0.5) / choices.length <= high,
        )
        return [
          inside.length === 1
            ? `${name} == ${literal(inside[0])}`
            : `${name} in [${inside.map(literal).join(', ')}]`,
        ]
      }
      const [a, b] = [axis.scale.value(low), axis.scale.value(high)].map(Number).sort((p, q) => p - q) as [
        number,
        number,
      ]
      // The bad end of the values stands for all that are worse.
      const worst = axis.name === VALUE && low <= 0
      const parts = []
      if (!(worst && direction === 'maximize') && !(axis.name !== VALUE && low <= 0))
        parts.push(`${name} >= ${Number(a.toPrecision(6))}`)
      if (!(worst && direction === 'minimize') && !(axis.name !== VALUE && high >= 1))
        parts.push(`${name} <= ${Number(b.toPrecision(6))}`)
      return parts
    })
    .join(' and ')
}

function literal(value: Value | undefined): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", '')}'` : String(value)
}

/** Ranges in an address: `0:0.25:0.5,3:0.9:1`. */
export function writtenBrushes(brushes: Brushes): string {
  return [...brushes]
    .map(([axis, [low, high]]) => [axis, ...[low, high].map((x) => Number(x.toFixed(4)))].join(':'))
    .join(',')
}

/** The same read; what makes no sense is left out. */
export function readBrushes(text: string, axes: number): Brushes {
  const found = new Map<number, Range>()
  for (const piece of text.split(',')) {
    const [axis, low, high] = piece.split(':').map(Number)
    if (axis === undefined || low === undefined || high === undefined) continue
    if (Number.isInteger(axis) && axis >= 0 && axis < axes && low >= 0 && high <= 1 && low < high)
      found.set(axis, [low, high])
  }
  return found
}

/** Params of rows for a table. */
export const cellsOf = (params: Params, names: string[]): (Value | null)[] =>
  names.map((name) => params[name] ?? null)
