// Whether workers are busy, in words.

import type { Worker, Workers } from '../api/types.ts'
import { count, counted, percent } from '../words/numbers.ts'
import { duration } from '../words/times.ts'

/** The share of the time between a worker's first and last sign of life in which it had nothing to evaluate; null if there was no time. */
export function idleShare({ first, last, busy }: Worker): number | null {
  const there = last - first
  return there > 0 ? Math.min(1, Math.max(0, 1 - busy / there)) : null
}

/** The idle share of all workers together, each by its time. */
export function idleOfAll(workers: Worker[]): number | null {
  const there = workers.reduce((sum, { first, last }) => sum + Math.max(0, last - first), 0)
  const busy = workers.reduce(
    (sum, worker) => sum + Math.min(worker.busy, Math.max(0, worker.last - worker.first)),
    0,
  )
  return there > 0 ? 1 - busy / there : null
}

/** Who works, how much of the time nobody does, and what thinking takes. */
export function summaryText(data: Workers): string {
  const working = data.workers.filter((worker) => worker.running > 0).length
  const idle = idleOfAll(data.workers)
  const sentences = [
    working > 0
      ? `${counted(working, 'worker')} of ${count(data.workers.length)} ${working === 1 ? 'has' : 'have'} something to evaluate now.`
      : `Nobody evaluates anything now; ${counted(data.workers.length, 'worker')} did before.`,
  ]
  if (idle !== null) {
    sentences.push(
      idle < 0.05
        ? 'They are hardly ever idle.'
        : `They were idle for ${percent(idle)} of their time${idle > 0.5 ? ': fewer would do, or trials are missing' : ''}.`,
    )
  }
  const all = data.evaluation_seconds + data.thinking_seconds
  if (all > 0) {
    const share = data.thinking_seconds / all
    sentences.push(
      `Thinking of new points took ${duration(data.thinking_seconds)}, ${percent(share)} of all the time spent${
        share > 0.3 ? ': a faster algorithm or larger batches would help' : ''
      }.`,
    )
  }
  const lost = data.workers.reduce((sum, worker) => sum + worker.lost, 0)
  if (lost > 0)
    sentences.push(`${counted(lost, 'evaluation')} ${lost === 1 ? 'was' : 'were'} given back or lost.`)
  return sentences.join(' ')
}
