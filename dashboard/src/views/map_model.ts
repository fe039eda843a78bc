// What a map asks for, and what its answer means for a drawing.

import type { Axis, Direction, MapOf, Param, Params, Space, SurfaceMap, Value } from '../api/types.ts'
import type { MapAxis, MapPoint } from '../charts/heat_map.tsx'
import { linear, log, ordinal, type Scale } from '../charts/scale.ts'
import { number, valueText } from '../words/numbers.ts'

/** Whole numbers get bands like categories up to so many. */
const BANDS = 12

/** The parameters of a space; none of a pool. */
export function parametersOf(space: Space): [string, Param][] {
  return 'parameters' in space ? Object.entries(space.parameters.parameters) : []
}

/** What can be an axis. */
export function axesOf(space: Space): string[] {
  return 'pool' in space ? space.pool.features : parametersOf(space).map(([name]) => name)
}

/** The scale of a parameter's values. */
export function scaleOf(param: Param): Scale {
  switch (param.type) {
    case 'float':
    case 'int': {
      const whole = param.type === 'int'
      return param.log ? log(param.low, param.high, { whole }) : linear(param.low, param.high, { whole })
    }
    case 'ordinal':
      return ordinal(param.values)
    case 'categorical':
      return ordinal(param.choices)
    case 'bool':
      return ordinal([false, true])
  }
}

/** An axis of an answer, for drawing; `spot` says where a point of the answer is drawn. */
export interface DrawnAxis extends MapAxis {
  spot: (place: number, number: number) => number
}

/** Multiples of these, without their whole part, fill a square evenly (Roberts 2018, the sequence R2). */
const [RIGHT, UP] = [0.7548776662, 0.569840291]

/** Choices are bands of the same width, whatever their places are; other places stay. */
export function drawn(axis: Axis, upwards = false): DrawnAxis {
  const { name, kind, values, places } = axis
  const few = kind === 'int' && !axis.log && values.length <= BANDS
  if (few || kind === 'categorical' || kind === 'bool' || kind === 'ordinal') {
    const scale = ordinal(values)
    const middles = values.map((_, i) => (i + 0.5) / values.length)
    return {
      name,
      bands: true,
      places: middles,
      ticks: () => scale.ticks(values.length),
      // Points of the same choice stand beside one another; where is a matter of their number alone.
      spot: (place, number) =>
        (middles[nearestPlace(places, place)] ?? 0.5) +
        ((((number * (upwards ? UP : RIGHT)) % 1) - 0.5) * 0.6) / values.length,
    }
  }
  const [low, high] = [values[0] as number, values.at(-1) as number]
  const [from, to] = [places[0] ?? 0, places.at(-1) ?? 1]
  const scale = axis.log ? log(low, high) : linear(low, high, { whole: kind === 'int' })
  return {
    name,
    bands: false,
    places,
    ticks: (intervals) =>
      scale.ticks(intervals).map(({ place, label }) => ({ place: from + place * (to - from), label })),
    spot: (place) => place,
  }
}

/** The nearest of some places. */
export function nearestPlace(places: number[], place: number): number {
  let best = 0
  places.forEach((other, i) => {
    if (Math.abs(other - place) < Math.abs((places[best] ?? 0) - place)) best = i
  })
  return best
}

/** The range of colors: the whole range at the good end; at the bad end without the last twentieth, which would take all colors from the rest. */
export function colorRange(
  means: number[],
  direction: Direction,
): { low: number; high: number; cut: boolean } {
  const sorted = means.filter(Number.isFinite).sort((a, b) => a - b)
  const [low, high] = [sorted[0] ?? 0, sorted.at(-1) ?? 1]
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0
  if (direction === 'minimize') {
    const top = at(0.95)
    return high - low > 3 * (top - low) && top > low
      ? { low, high: top, cut: true }
      : { low, high, cut: false }
  }
  const bottom = at(0.05)
  return high - low > 3 * (high - bottom) && high > bottom
    ? { low: bottom, high, cut: true }
    : { low, high, cut: false }
}

/** The answer's heights, with nothing where constraints rule points out. */
export function feasible(heights: number[], infeasible: number[]): number[] {
  const out = [...heights]
  for (const i of infeasible) out[i] = Number.NaN
  return out
}

/** Points of an answer, in the order in which they are drawn: the best on top. */
export function pointsOf(
  map: SurfaceMap,
  x: DrawnAxis,
  y: DrawnAxis | null,
  direction: Direction,
  only?: (number: number) => boolean,
): MapPoint[] {
  const at = (n: number, px: number, py: number) => ({ x: x.spot(px, n), y: y ? y.spot(py, n) : 0 })
  const points: MapPoint[] = map.evaluated
    .filter(([n]) => only?.(n) ?? true)
    .sort((a, b) => (direction === 'minimize' ? b[3] - a[3] : a[3] - b[3]))
    .map(([n, px, py, value]) => ({
      ...at(n, px, py),
      kind: 'evaluated' as const,
      number: n,
      value,
      text: [`trial ${n}`, `value ${number(value)}`],
    }))
  for (const [n, px, py] of map.pending) {
    if (only?.(n) === false) continue
    points.push({ ...at(n, px, py), kind: 'pending', number: n, text: [`trial ${n}`, 'waits or runs'] })
  }
  if (map.recommended && only?.(map.recommended[0]) !== false) {
    const [n, px, py] = map.recommended
    points.push({ ...at(n, px, py), kind: 'recommended', number: n, text: [`trial ${n}`, 'recommended'] })
  }
  return points
}

/** Values at a cell, for the form of a new point. */
export function paramsAt(map: SurfaceMap, column: number, row: number): Params {
  const params: Params = { ...map.fixed }
  const x = map.x.values[column]
  if (x !== undefined) params[map.x.name] = x
  const y = map.y?.values[row]
  if (map.y && y !== undefined) params[map.y.name] = y
  return params
}

/** The cell with the best mean. */
export function bestCell(map: SurfaceMap, direction: Direction): number {
  const means = feasible(map.mean, map.infeasible)
  let best = -1
  means.forEach((mean, i) => {
    if (!Number.isFinite(mean)) return
    const than = means[best]
    if (than === undefined || (direction === 'minimize' ? mean < than : mean > than)) best = i
  })
  return best
}

/** Whether the recommended point is drawn elsewhere than the cell with the best mean: further than a cell away. */
export function isElsewhere(map: SurfaceMap, cell: number): boolean {
  if (!map.recommended || cell < 0) return false
  const columns = map.x.values.length
  const [, px, py] = map.recommended
  const far = (axis: Axis, place: number, i: number): boolean => {
    const off = Math.abs(nearestPlace(axis.places, place) - i)
    // Neighbors among values of a range are the same for the eye, those among choices are not.
    return off > (drawn(axis).bands ? 0 : 1)
  }
  return far(map.x, px, cell % columns) || (map.y !== null && far(map.y, py, Math.floor(cell / columns)))
}

/** Where a cell is, in words: `lr 0.01, momentum 0.9`. */
export function placeText(map: SurfaceMap, cell: number): string {
  const columns = map.x.values.length
  const of = (axis: Axis, i: number) => `${axis.name} ${valueText(axis.values[i])}`
  return map.y ? `${of(map.x, cell % columns)}, ${of(map.y, Math.floor(cell / columns))}` : of(map.x, cell)
}

/** A map in words, for a list. */
export function mapText(of: MapOf): string {
  const fixed = Object.entries(of.fixed ?? {}).map(
    ([name, value]: [string, Value]) => `${name} ${valueText(value)}`,
  )
  const others = of.others === 'average' ? 'others averaged' : 'others at the best'
  return `${of.x}${of.y ? ` and ${of.y}` : ''} (${[...fixed, others].join(', ')})`
}
