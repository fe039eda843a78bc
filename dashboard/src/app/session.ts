import { computed, signal } from '@preact/signals'
import { ask, Problem } from '../api/ask.ts'
import type { Session } from '../api/types.ts'
import { forget } from '../api/use_ask.ts'
import { stopClock } from '../words/times.ts'
import { go, route } from './router.ts'

/** Who is looking; null while nobody has logged in, undefined while that is not known. */
export const session = signal<Session | null | undefined>(undefined)
/** Why it is not known. */
export const sessionError = signal<Error | null>(null)

/** Whether this reader may change what is studied. */
export const mayWork = computed(() => session.value?.role === 'work' || mayAdminister.value)
/** Whether this reader may put studies away. */
export const mayAdminister = computed(() => session.value?.role === 'admin')
/** Whether nothing changes while one looks: this is a report. */
export const isStill = computed(() => session.value?.report === true)

/** Asks the server who this is. */
export async function loadSession(): Promise<void> {
  sessionError.value = null
  try {
    const found = await ask<Session>('GET', '/api/v1/session')
    if (found.report && found.made) stopClock(found.made)
    session.value = found
  } catch (error) {
    if (error instanceof Problem && error.status === 401) session.value = null
    else sessionError.value = error as Error
  }
}

/** Looks whether the session still holds, after a connection was refused. Other troubles are those of the connection. */
export async function checkSession(): Promise<void> {
  try {
    await ask<Session>('GET', '/api/v1/session')
  } catch (error) {
    noticeRefusal(error)
  }
}

/**
 * Begins with the address `#/login?token=...`, if the page was opened with one, as `noregret dashboard` does. The token is taken out of the
 * address before anything else: it must not stay in the browser's history.
 */
export async function startSession(): Promise<void> {
  const { path, query } = route.peek()
  const token = path[0] === 'login' ? query.get('token') : null
  if (path[0] === 'login') go('#/', { replace: true })
  if (token) {
    try {
      return await logIn(token)
    } catch (error) {
      if (!(error instanceof Problem)) sessionError.value = error as Error
    }
  }
  await loadSession()
}

/** Begins a session with a token. */
export async function logIn(token: string): Promise<void> {
  await ask('POST', '/login', { token })
  forget()
  await loadSession()
}

/** Ends it. */
export async function logOut(): Promise<void> {
  await ask('POST', '/logout')
  forget()
  session.value = null
}

/** Notices that the session has ended, so that the page asks for a token again. */
export function noticeRefusal(error: unknown): void {
  if (error instanceof Problem && error.status === 401) session.value = null
}
