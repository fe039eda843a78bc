import { batch, computed, type Signal, signal } from '@preact/signals'
import { ask, studyPath } from '../api/ask.ts'
import { fold } from '../api/fold.ts'
import { type Connection, follow } from '../api/follow.ts'
import type { History, LogEvent, Study } from '../api/types.ts'
import { checkSession, isStill, noticeRefusal } from './session.ts'

/** Points of a history, thinned by the server. */
const POINTS = 2000
/** How long events are gathered before the page changes: a busy study has many. */
const GATHERED = 150
/** How long to wait before asking again for what events do not say, in milliseconds: it costs the server something. */
const SETTLED = 800
/** Views of the log alone are asked again this often at most: what happened is to be seen within a second. */
const SOON = 700
/** Views that a model answers are asked again this often at most. */
const SLOWLY = 4000

/** The study that is open, kept up to date by its events. */
export interface OpenStudy {
  name: string
  study: Signal<Study | undefined>
  history: Signal<History | undefined>
  error: Signal<Error | undefined>
  connection: Signal<Connection>
  /** The last position of the log that the page knows. */
  position: Signal<number>
  /** The position, but at most every few seconds: what a model answers stays fresh with it without costing much. Give it to `useAsk`. */
  pace: Signal<number>
  /** The position, but at most twice a second: for what is read off the log. */
  beat: Signal<number>
  /** The position of the last event about a trial, as far as this page has heard of one; follows `beat`. */
  touched(trial: number): number
  /** Asks for everything again. */
  reload(): void
  close(): void
}

/** The study that the reader looks at. */
export const open = signal<OpenStudy | null>(null)

/** Opens a study; the one before is closed. */
export function openStudy(name: string | null): void {
  const before = open.peek()
  if (before?.name === name) return
  before?.close()
  open.value = name === null ? null : opened(name)
}

/** The best value so far and its trial, if there is one. */
export const best = computed(() => {
  const current = open.value
  const value = current?.history.value?.best.at(-1)
  if (value) return value[2]
  return current?.study.value?.best_observed?.value ?? null
})

function opened(name: string): OpenStudy {
  const study = signal<Study | undefined>()
  const history = signal<History | undefined>()
  const error = signal<Error | undefined>()
  const connection = signal<Connection>('connecting')
  const position = signal(0)
  const pace = signal(0)
  const beat = signal(0)
  const heard = new Map<number, number>()
  const path = studyPath(name)
  const abort = new AbortController()
  let unfollow: (() => void) | undefined
  let gathered: LogEvent[] = []
  const timers = new Map<string, ReturnType<typeof setTimeout>>()

  /** Does something once, a while after it was first wanted. */
  const later = (what: string, milliseconds: number, run: () => void) => {
    if (timers.has(what) || abort.signal.aborted) return
    timers.set(
      what,
      setTimeout(() => {
        timers.delete(what)
        run()
      }, milliseconds),
    )
  }

  const loadStudy = async () => {
    study.value = await ask<Study>('GET', path, undefined, { signal: abort.signal })
  }
  const loadHistory = async () => {
    const loaded = await ask<History>('GET', `${path}/views/history?points=${POINTS}`, undefined, {
      signal: abort.signal,
    })
    // Events that came meanwhile are newer than the answer, or part of it.
    let folded = loaded
    const direction = study.peek()?.direction ?? 'minimize'
    for (const event of recent) {
      if (event.position > folded.position) folded = fold(folded, event, direction).history
    }
    batch(() => {
      history.value = folded
      position.value = Math.max(position.peek(), folded.position)
    })
  }
  const failed = (problem: unknown) => {
    if (abort.signal.aborted) return
    noticeRefusal(problem)
    error.value = problem as Error
  }

  /** The last events, for an answer that is older than they are. */
  let recent: LogEvent[] = []

  const apply = () => {
    const events = gathered
    gathered = []
    const direction = study.peek()?.direction ?? 'minimize'
    let folded = history.peek()
    let again = false
    let studyAgain = false
    for (const event of events) {
      if (!folded || event.position <= folded.position) continue
      const said = fold(folded, event, direction)
      folded = said.history
      again ||= said.historyChanged
      studyAgain ||= said.studyChanged
      for (const trial of said.trials) heard.set(trial, event.position)
    }
    recent = [...recent, ...events].slice(-1000)
    batch(() => {
      if (folded) history.value = folded
      position.value = Math.max(position.peek(), events.at(-1)?.position ?? 0)
    })
    if (studyAgain) later('study', SETTLED, () => loadStudy().catch(noticeRefusal))
    if (again) later('history', SETTLED, () => loadHistory().catch(noticeRefusal))
    // Heartbeats and claims change nothing that a view shows.
    if (
      events.some(
        (event) => !('renewed' in event.event || 'claimed' in event.event || 'requested' in event.event),
      )
    ) {
      stir()
    }
  }

  /** Lets views ask again: at once if they have not for a while, and not while nobody looks. */
  const stir = () => {
    if (document.hidden) return
    for (const [what, signal, every] of [
      ['beat', beat, SOON],
      ['pace', pace, SLOWLY],
    ] as const) {
      const rest = every - (Date.now() - (stirred.get(what) ?? 0))
      later(what, Math.max(rest, 0), () => {
        stirred.set(what, Date.now())
        signal.value = position.peek()
      })
    }
  }
  const stirred = new Map<string, number>()
  document.addEventListener('visibilitychange', stir)

  const load = async () => {
    error.value = undefined
    try {
      await Promise.all([loadStudy(), loadHistory()])
    } catch (problem) {
      failed(problem)
      return
    }
    if (abort.signal.aborted || isStill.peek()) {
      connection.value = 'live'
      return
    }
    pace.value = position.peek()
    beat.value = position.peek()
    unfollow?.()
    unfollow = follow(name, position.peek(), {
      event(event) {
        gathered.push(event)
        later('apply', GATHERED, apply)
      },
      connection(state) {
        if (state === 'live') {
          timersClear('lost')
          if (connection.peek() === 'lost') void returned()
        }
        // A short break is nobody's business.
        if (state === 'lost') later('lost', 1500, () => (connection.value = 'lost'))
        else connection.value = state
      },
      refused() {
        void checkSession()
      },
    })
  }
  /** The server is back: it may be another one, or have another study of this name. */
  const returned = async () => {
    try {
      await loadStudy()
    } catch (problem) {
      noticeRefusal(problem)
      return
    }
    if ((study.peek()?.position ?? 0) >= position.peek()) return
    position.value = 0
    recent = []
    void load()
  }
  const timersClear = (what: string) => {
    clearTimeout(timers.get(what))
    timers.delete(what)
  }

  void load()
  return {
    name,
    study,
    history,
    error,
    connection,
    position,
    pace,
    beat,
    touched: (trial) => (beat.value > 0 ? (heard.get(trial) ?? 0) : 0),
    reload: () => void load(),
    close() {
      abort.abort()
      document.removeEventListener('visibilitychange', stir)
      unfollow?.()
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
