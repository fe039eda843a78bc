import { fromReport, isReport } from './embedded.ts'
import type { ProblemBody } from './types.ts'

/** How often a request is tried in all, if the server says that it has too much to do. */
const TRIES = 4
/** The longest pause between two tries, in seconds, whatever the server says. */
const LONGEST_PAUSE = 20

/** What the server says is wrong. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** The kind, such as `no-such-study`. */
  readonly word: string
  readonly title: string

  constructor(body: ProblemBody) {
    super(body.detail || body.title)
    this.status = body.status
    this.word = body.type.replace(/^urn:noregret:/, '')
    this.title = body.title
  }
}

/** The server cannot be reached, or what answers is not noregret. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export interface AskOptions {
  signal?: AbortSignal
}

/**
 * Asks the server, or the data of a report. The path is that of the contract, such as `/api/v1/session`; it is asked for relative to the page.
 * Throws a `Problem` if the server refuses, `Unreachable` if there is none.
 */
export async function ask<T>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  options: AskOptions = {},
): Promise<T> {
  const known = fromReport(method, path, body)
  if (known) return known.answer as T
  if (isReport()) {
    throw new Problem({
      type: 'urn:noregret:not-in-report',
      title: 'not in this report',
      status: 404,
      detail: 'This is not part of the report: open the study on its server to see it.',
    })
  }
  for (let tried = 1; ; tried += 1) {
    const response = await send(method, path, body, options.signal)
    if (response.ok) return (response.status === 204 ? undefined : await decoded(response)) as T
    const wait = Math.min(Number(response.headers.get('Retry-After') ?? tried) || tried, LONGEST_PAUSE)
    if (response.status !== 503 || tried >= TRIES) throw await problemOf(response)
    await pause(wait * 1000, options.signal)
  }
}

/** The address of a path of the contract, relative to the page. */
export const addressOf = (path: string): string => path.replace(/^\//, '')

/** The path of a study. */
export const studyPath = (name: string): string => `/api/v1/studies/${segment(name)}`

/** Makes a segment of a path of a name, as reports name their answers. */
export function segment(name: string): string {
  // A path has no segments of dots: they mean here and above.
  return name === '.' ? '%2E' : name === '..' ? '%2E%2E' : encodeURIComponent(name)
}

async function send(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  // Forms of other sites cannot send this: the server wants it with every write by cookie.
  if (method !== 'GET') headers['X-Noregret'] = 'page'
  try {
    return await fetch(addressOf(path), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: 'same-origin',
      signal: signal ?? null,
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Unreachable('The server cannot be reached. Is it running, and is this machine online?')
  }
}

async function decoded(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new Unreachable('What answers here is not the server of noregret: its answer is no JSON.')
  }
}

async function problemOf(response: Response): Promise<Error> {
  try {
    const body = (await response.json()) as Partial<ProblemBody>
    if (typeof body.detail === 'string' && typeof body.type === 'string') {
      return new Problem({
        type: body.type,
        title: body.title ?? '',
        status: response.status,
        detail: body.detail,
      })
    }
  } catch {
    // Not JSON: a proxy answered.
  }
  return new Problem({
    type: `urn:noregret:http-${response.status}`,
    title: response.statusText,
    status: response.status,
    detail: `The server answered with status ${response.status}${response.statusText ? ` (${response.statusText})` : ''}.`,
  })
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
