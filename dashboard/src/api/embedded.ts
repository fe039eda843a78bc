import { normalizedKey, requestKey } from './canonical.ts'

/** The marker that a bundle has in place of data; not in one piece, since the marker must be in a report once. */
const MARKER = /^__NOREGRET_[A-Z]+__$/

let answers: Map<string, unknown> | null | undefined

/** Answers that a report carries with it, by request; null if this is no report. */
function embedded(): Map<string, unknown> | null {
  if (answers === undefined) answers = read(document.getElementById('noregret-data')?.textContent ?? '')
  return answers
}

/** Reads the data of a report; null if there are none. */
export function read(text: string): Map<string, unknown> | null {
  const trimmed = text.trim()
  if (trimmed === '' || MARKER.test(trimmed)) return null
  const object = JSON.parse(trimmed) as Record<string, unknown>
  return new Map(Object.entries(object).map(([key, answer]) => [normalizedKey(key), answer]))
}

/** Whether this page is a report. */
export const isReport = (): boolean => embedded() !== null

/** Names of the requests that a report can answer. */
export const embeddedKeys = (): string[] => [...(embedded()?.keys() ?? [])]

/** The embedded answer to a request, in an object; undefined if there is none. */
export function fromReport(method: string, path: string, body?: unknown): { answer: unknown } | undefined {
  const key = requestKey(method, path, body)
  return embedded()?.has(key) ? { answer: embedded()?.get(key) } : undefined
}
