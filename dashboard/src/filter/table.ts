import type { Table, Trial } from '../api/types.ts'
import { holds, type Scalar } from './evaluate.ts'
import { type Node, parse } from './parse.ts'

/** What every trial has, beside its parameters and attributes. */
export const FIELDS = ['number', 'state', 'value', 'seconds', 'worker', 'attempts', 'reason'] as const

/** What a table is to show. */
export interface TableOf {
  filter?: string
  sort?: string
  descending?: boolean
  from?: number
  limit?: number
}

/** What a trial has by a name: a field of every trial, a parameter, or an attribute. */
export function named(trial: Trial, name: string): Scalar {
  if ((FIELDS as readonly string[]).includes(name)) return trial[name as (typeof FIELDS)[number]]
  const value = trial.params[name] ?? trial.attrs[name]
  return typeof value === 'object' ? undefined : value
}

/** Filters and sorts trials as the server would. Throws a `FilterError`. */
export function tableOf(
  all: Trial[],
  parameters: string[],
  attrs: string[],
  wanted: TableOf,
  position: number,
): Table {
  const names = new Set<string>([...FIELDS, ...parameters, ...attrs])
  const text = (wanted.filter ?? '').trim()
  const filter: Node | null = text === '' ? null : parse(wanted.filter ?? '', (name) => names.has(name))
  const matching = filter ? all.filter((trial) => holds(filter, (name) => named(trial, name))) : [...all]
  const { sort } = wanted
  if (sort && names.has(sort)) matching.sort(order(sort, wanted.descending ?? false))
  else if (wanted.descending) matching.reverse()
  const from = wanted.from ?? 0
  return {
    position,
    total: all.length,
    matching: matching.length,
    from,
    trials: matching.slice(from, from + (wanted.limit ?? 100)),
    attrs,
  }
}

/** By a name; what has none of it comes last, in either direction. */
function order(name: string, descending: boolean): (a: Trial, b: Trial) => number {
  const sign = descending ? -1 : 1
  return (a, b) => {
    const [left, right] = [named(a, name), named(b, name)]
    const [leftMissing, rightMissing] = [
      left === undefined || left === null,
      right === undefined || right === null,
    ]
    if (leftMissing || rightMissing)
      return leftMissing && rightMissing ? a.number - b.number : leftMissing ? 1 : -1
    if (left === right) return a.number - b.number
    const less =
      typeof left === typeof right ? (left as number) < (right as number) : typeof left < typeof right
    return less ? -sign : sign
  }
}

/** All names of attributes, in order. */
export const attrsOf = (trials: Trial[]): string[] =>
  [...new Set(trials.flatMap((trial) => Object.keys(trial.attrs)))].sort()
