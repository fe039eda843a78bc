import type { Table, Trial } from '../api/types.ts'
import { holds, type Scalar } from './evaluate.ts'
import { type Node, parse, type Type } from './parse.ts'

/** What every trial has, beside its parameters and attributes. */
const FIELDS: Record<string, Type> = {
  number: 'number',
  id: 'text',
  state: 'text',
  value: 'number',
  seconds: 'number',
  worker: 'text',
  attempts: 'number',
  reason: 'text',
}

/** What a table is to show. */
export interface TableOf {
  filter?: string
  sort?: string
  descending?: boolean
  from?: number
  limit?: number
}

/** What a trial has by a name: a parameter, a field of every trial, or an attribute; the first of a name counts. */
export function named(trial: Trial, name: string): Scalar {
  const value = trial.params[name] ?? (name in FIELDS ? trial[name as keyof Trial] : trial.attrs[name])
  return typeof value === 'object' ? undefined : value
}

/** What a name stands for, as far as the trials say. */
function typeIn(trials: Trial[], name: string): Type {
  for (const trial of trials) {
    const value = named(trial, name)
    if (typeof value === 'number') return 'number'
    if (typeof value === 'string') return 'text'
    if (typeof value === 'boolean') return 'truth'
  }
  return 'any'
}

/** Filters and sorts trials as the server would. Throws a `FilterError`. */
export function tableOf(
  all: Trial[],
  parameters: string[],
  attrs: string[],
  wanted: TableOf,
  position: number,
): Table {
  const names = new Set([...parameters, ...Object.keys(FIELDS), ...attrs])
  const typeOf = (name: string): Type | undefined =>
    names.has(name)
      ? parameters.includes(name)
        ? typeIn(all, name)
        : (FIELDS[name] ?? typeIn(all, name))
      : undefined
  const text = (wanted.filter ?? '').trim()
  const filter: Node | null = text === '' ? null : parse(wanted.filter ?? '', typeOf)
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
