import { computed, signal } from '@preact/signals'
import { ask, Problem } from '../api/ask.ts'
import type { Session } from '../api/types.ts'
import { forget } from '../api/use_ask.ts'

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
    session.value = await ask<Session>('GET', '/api/v1/session')
  } catch (error) {
    if (error instanceof Problem && error.status === 401) session.value = null
    else sessionError.value = error as Error
  }
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
