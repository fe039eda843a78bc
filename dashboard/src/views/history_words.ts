// How far a study is, in words.

import type { History } from '../api/types.ts'
import { count, counted } from '../words/numbers.ts'
import type { Slow } from '../words/slow.ts'
import { duration } from '../words/times.ts'

/** Results over which the pace is taken. */
const RECENT = 100
/** A gain this many times smaller than the values is rounding. */
const ROUNDING = 1e-9

/** How much is done, and what the rest takes. Trials that may be stuck take no part in the estimate. */
export function doneText(history: History, slow: Slow[]): string {
  const { counts, planned } = history
  const ended = counts.complete + counts.failed
  if (planned === null) return `${counted(ended, 'trial')} ended.`
  const left = Math.max(planned - ended, 0)
  if (left === 0) return `All ${count(planned)} trials are done.`
  const done = `${count(ended)} of ${count(planned)} trials are done`
  const rate = paceOf(history)
  if (counts.running === 0 || rate === null) return `${done}.`
  const stuck = Math.min(slow.length, counts.running)
  if (stuck === 0) return `${done}; the rest takes about ${duration(left * rate)} more.`
  const free = counts.running - stuck
  // Nobody else evaluates anything: when the next result comes is open.
  if (free === 0) return `${done}; when the rest will be is open.`
  const others = Math.max(left - stuck, 0)
  if (others === 0) return `${done}.`
  return `${done}; without ${stuck === 1 ? 'the one' : `the ${count(stuck)}`} that may be stuck, the rest takes about ${duration((others * rate * counts.running) / free)} more.`
}

/** Seconds from one result to the next, over the last hundred. */
export function paceOf(history: History): number | null {
  const n = Math.min(history.ended.length, RECENT)
  if (n < 2) return null
  const [from, to] = [history.ended.length - n, history.ended.length - 1]
  const places = (history.place[to] ?? 0) - (history.place[from] ?? 0)
  const seconds = (history.ended[to] ?? 0) - (history.ended[from] ?? 0)
  return places > 0 ? seconds / places : null
}

/** Whether what may still be gained cannot be told from nothing beside the values. */
export function isNoGain(high: number, values: (number | null)[]): boolean {
  const size = values.reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 0)), 0)
  return !(high > ROUNDING * size)
}

/** The number of the best trial so far; null if the thinned history does not have it. */
export function bestTrialOf(history: History): number | null {
  const last = history.best.at(-1)
  const i = last ? history.place.lastIndexOf(last[0]) : -1
  return history.number[i] ?? null
}
