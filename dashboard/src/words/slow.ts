// Which running trials take much longer than usual: their workers may be stuck.

import type { Span, Workers } from '../api/types.ts'

/** So many times longer than the median is much longer, and only if it is longer than any evaluation so far, too. */
const TIMES = 5
/** With fewer evaluations than this nobody knows what is usual. */
const LEAST = 5

/** A running trial that takes much longer than usual. */
export interface Slow {
  number: number
  /** For how long it has run, in seconds. */
  seconds: number
  /** The median of the evaluations that have ended. */
  usual: number
}

/** How long evaluations took that came to an end of their own, in rising order. */
export function evaluations(spans: Span[]): number[] {
  return spans
    .filter(({ outcome }) => outcome === 'complete' || outcome === 'failed' || outcome === 'retried')
    .flatMap(({ begin, end }) => (end === null ? [] : [end - begin]))
    .sort((a, b) => a - b)
}

/** The middle of sorted numbers; null if there are none. */
export function median(sorted: number[]): number | null {
  if (sorted.length === 0) return null
  const [a, b] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0]
  return (a + b) / 2
}

/** The running trials that take over five times as long as the median, and longer than any so far; the longest first. */
export function slowTrials({ spans }: Pick<Workers, 'spans'>, now: number): Slow[] {
  const took = evaluations(spans)
  const [usual, longest] = [median(took), took.at(-1) ?? 0]
  if (usual === null || took.length < LEAST) return []
  return spans
    .filter(({ outcome, end }) => outcome === 'running' && end === null)
    .map(({ number, begin }) => ({ number, seconds: now - begin, usual }))
    .filter(({ seconds }) => seconds > TIMES * usual && seconds > longest)
    .sort((a, b) => b.seconds - a.seconds)
}
