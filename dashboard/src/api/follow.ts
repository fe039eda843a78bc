import { addressOf, studyPath } from './ask.ts'
import type { LogEvent } from './types.ts'

/** All that can happen, as the server names its events. */
export const KINDS = [
  'defined',
  'asked',
  'enqueued',
  'planned',
  'claimed',
  'leased',
  'renewed',
  'released',
  'retried',
  'told',
  'failed',
  'late',
  'requested',
  'archived',
  'added',
  'replaced',
  'paused',
  'noted',
  'tagged',
] as const

/** How the connection is. */
export type Connection = 'connecting' | 'live' | 'lost'

/** Pauses before another try to connect, in seconds: the first and the longest. */
const FIRST_PAUSE = 1
const LONGEST_PAUSE = 20

export interface Follower {
  event(event: LogEvent): void
  connection(state: Connection): void
  /** A connection could not be made at all: the session may have ended. */
  refused(): void
}

/**
 * Follows the events of a study from a position on, until it is told to stop. A lost connection is made again, after the last event that came.
 * (A browser does so by itself, unless it was refused; then this does.)
 */
export function follow(study: string, after: number, follower: Follower): () => void {
  let position = after
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let wait = FIRST_PAUSE
  let stopped = false

  const heard = (message: MessageEvent<string>) => {
    let event: LogEvent
    try {
      event = JSON.parse(message.data) as LogEvent
    } catch {
      return
    }
    // After a new connection some may come twice.
    if (!(event.position > position)) return
    position = event.position
    follower.event(event)
  }

  const connect = () => {
    if (stopped) return
    source = new EventSource(addressOf(`${studyPath(study)}/events?after=${position}`))
    source.onopen = () => {
      wait = FIRST_PAUSE
      follower.connection('live')
    }
    source.onmessage = heard
    for (const kind of KINDS) source.addEventListener(kind, heard as EventListener)
    source.onerror = () => {
      follower.connection('lost')
      if (source?.readyState !== EventSource.CLOSED) return // the browser tries again
      follower.refused()
      timer = setTimeout(connect, wait * 1000)
      wait = Math.min(wait * 2, LONGEST_PAUSE)
    }
  }
  const online = () => {
    if (source?.readyState !== EventSource.CLOSED) return
    clearTimeout(timer)
    connect()
  }

  follower.connection('connecting')
  connect()
  window.addEventListener('online', online)
  return () => {
    stopped = true
    clearTimeout(timer)
    source?.close()
    window.removeEventListener('online', online)
  }
}
