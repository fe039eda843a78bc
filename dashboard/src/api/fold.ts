import type { Counts, Direction, History, LogEvent } from './types.ts'

/** What a study is like after an event, and what has to be asked again because the event does not say it. */
export interface Folded {
  history: History
  /** The definition of the study, its tags, notes or archive have changed: ask for the study again. */
  studyChanged: boolean
  /** Values that were there before have changed: ask for the history again. */
  historyChanged: boolean
  /** The trials that the event was about: tables that show them are old. */
  trials: number[]
}

/** More points than this are thinned by the server again. */
const MOST_POINTS = 4000

/** Folds one event into a history. The history given is not changed: arrays are copied only where they grow. */
export function fold(history: History, event: LogEvent, direction: Direction): Folded {
  const [kind = '', body = {}] = Object.entries(event.event)[0] ?? []
  const next: History = { ...history, position: event.position, counts: { ...history.counts } }
  if (next.begun === null && kind !== 'defined') next.begun = event.time
  const said = { history: next, studyChanged: false, historyChanged: false, trials: [] as number[] }
  const trial = numberOf(body.number)
  if (trial !== null) said.trials.push(trial)

  switch (kind) {
    case 'asked': {
      const asked = body.asked as { choices?: unknown[] } | undefined
      const count = asked?.choices?.length ?? 0
      const first = numberOf(body.first) ?? 0
      for (let i = 0; i < count; i += 1) said.trials.push(first + i)
      next.counts.waiting += count
      break
    }
    case 'enqueued':
      next.counts.waiting += 1
      break
    case 'leased':
      if (trial === null) break
      next.counts.waiting -= take(next, trial) ? 0 : 1
      if (!isRunning(history, trial)) next.counts.running += 1
      next.running = [...next.running, [trial, since(next, event), String(body.worker ?? '')]]
      break
    case 'released':
    case 'retried':
      if (trial !== null && take(next, trial)) {
        next.counts.running -= 1
        next.counts.waiting += 1
      }
      break
    case 'told':
      if (trial !== null) end(next, event, trial, realNumber(body.value), direction)
      break
    case 'failed':
      if (trial !== null) end(next, event, trial, null, direction)
      break
    case 'added':
      if (trial === null) break
      // It was never waiting: what ends it takes one away.
      next.counts.waiting += 1
      end(next, event, trial, realNumber(body.value), direction)
      break
    case 'planned':
      next.planned = numberOf(body.trials)
      said.studyChanged = true
      break
    case 'replaced':
      said.historyChanged = true
      said.studyChanged = true
      break
    case 'defined':
    case 'archived':
    case 'paused':
    case 'tagged':
    case 'noted':
      said.studyChanged = true
      break
    case 'claimed':
    case 'renewed':
    case 'requested':
    case 'late':
      break
    default:
      // A newer server has more to say than this page knows.
      said.studyChanged = true
      said.historyChanged = true
  }
  clamp(next.counts)
  if (mayBeDone(kind, next)) said.studyChanged = true
  if (next.number.length > MOST_POINTS) said.historyChanged = true
  return said
}

/** Only the server knows whether a study is done: it may stop before its last trial, or leave out results from elsewhere. */
function mayBeDone(kind: string, { counts, planned }: History): boolean {
  if (!['told', 'failed', 'added'].includes(kind)) return false
  const isLast = planned !== null && counts.complete + counts.failed >= planned
  return isLast || (counts.running === 0 && counts.waiting === 0)
}

function end(
  next: History,
  event: LogEvent,
  trial: number,
  value: number | null,
  direction: Direction,
): void {
  if (take(next, trial)) next.counts.running -= 1
  else next.counts.waiting -= 1
  const place = next.counts.complete + next.counts.failed
  const time = since(next, event)
  if (value === null) next.counts.failed += 1
  else next.counts.complete += 1
  next.number = [...next.number, trial]
  next.place = [...next.place, place]
  next.value = [...next.value, value]
  next.ended = [...next.ended, time]
  const best = next.best.at(-1)
  if (value !== null && (best === undefined || better(value, best[2], direction))) {
    next.best = [...next.best, [place, time, value]]
  }
}

/** Whether a value is better than another. */
export const better = (value: number, than: number, direction: Direction): boolean =>
  direction === 'minimize' ? value < than : value > than

const isRunning = (history: History, trial: number) => history.running.some(([number]) => number === trial)

/** Takes a trial out of those that run; whether it was there. */
function take(next: History, trial: number): boolean {
  const rest = next.running.filter(([number]) => number !== trial)
  const was = rest.length < next.running.length
  next.running = rest
  return was
}

function since(history: History, event: LogEvent): number {
  const begun = history.begun === null ? Number.NaN : Date.parse(history.begun)
  const seconds = (Date.parse(event.time) - begun) / 1000
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : 0
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** A value that counts: JSON has no number for NaN, so it comes as text. */
const realNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

function clamp(counts: Counts): void {
  counts.waiting = Math.max(counts.waiting, 0)
  counts.running = Math.max(counts.running, 0)
}
