// Whether workers are busy, in words.

import type { Worker, Workers } from '../api/types.ts'
import { count, counted, percent } from '../words/numbers.ts'
import { evaluations, median } from '../words/slow.ts'
import { duration } from '../words/times.ts'

/** Whoever shows no sign of life for longer than this, in seconds, and than two usual evaluations, is said to have left. */
const GONE = 60

/** A worker, and until when its time counts. */
export interface Presence {
  worker: Worker
  /** The end of its time: now, or its last sign of life if it has left or there is nothing left to do. */
  until: number
  /** Whether it has not been seen for long while there was something to do. */
  left: boolean
}

/**
 * Until when each worker was there. While the study goes on a worker that does nothing is idle, up to now. It has left if it was not seen
 * for longer than twice its median evaluation, and for a minute at least. Who has something to evaluate is there: its lease says so.
 */
export function presences(data: Workers, goesOn: boolean): Presence[] {
  const own: Workers['spans'][] = data.workers.map(() => [])
  for (const span of data.spans) own[span.worker]?.push(span)
  return data.workers.map((worker, i) => {
    if (worker.running > 0) return { worker, until: Math.max(data.now, worker.last), left: false }
    const usual = median(evaluations(own[i] ?? [])) ?? 0
    const left = goesOn && data.now - worker.last > Math.max(2 * usual, GONE)
    return { worker, until: goesOn && !left ? Math.max(data.now, worker.last) : worker.last, left }
  })
}

/** The share of its time in which a worker had nothing to evaluate; null if there was no time. */
export function idleShare({ worker, until }: Presence): number | null {
  const there = until - worker.first
  return there > 0 ? Math.min(1, Math.max(0, 1 - worker.busy / there)) : null
}

/** The idle share of all workers together, each by its time. */
export function idleOfAll(all: Presence[]): number | null {
  const time = ({ worker, until }: Presence) => Math.max(0, until - worker.first)
  const there = all.reduce((sum, one) => sum + time(one), 0)
  const busy = all.reduce((sum, one) => sum + Math.min(one.worker.busy, time(one)), 0)
  return there > 0 ? 1 - busy / there : null
}

/** When a worker was last seen, as its row says it. */
export function seenText({ worker, left }: Presence, now: number): string {
  if (worker.running > 0) return 'working'
  return `${left ? 'has left: ' : ''}last seen ${duration(Math.max(0, now - worker.last))} ago`
}

/** Who works, how much of the time nobody does, and what thinking takes. */
export function summaryText(data: Workers, goesOn: boolean): string {
  const all = presences(data, goesOn)
  const working = all.filter(({ worker }) => worker.running > 0).length
  const left = all.filter((one) => one.left).length
  const waiting = goesOn ? all.length - working - left : 0
  const idle = idleOfAll(all)
  const sentences = [
    working > 0
      ? `${counted(working, 'worker')} of ${count(all.length)} ${working === 1 ? 'has' : 'have'} something to evaluate now.`
      : `Nobody evaluates anything now; ${counted(all.length, 'worker')} did before.`,
  ]
  if (waiting > 0) sentences.push(`${count(waiting)} ${waiting === 1 ? 'is' : 'are'} idle.`)
  if (left > 0) sentences.push(`${count(left)} ${left === 1 ? 'seems' : 'seem'} to have left.`)
  if (idle !== null) {
    sentences.push(
      idle < 0.05
        ? 'All in all, workers were hardly ever idle.'
        : `All in all, workers were idle for ${percent(idle)} of their time${idle > 0.5 ? ': fewer would do, or trials are missing' : ''}.`,
    )
  }
  const spent = data.evaluation_seconds + data.thinking_seconds
  if (spent > 0) {
    const share = data.thinking_seconds / spent
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
