/** A JSON text that is the same for the same content: keys sorted, no spaces. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** A request as a report's data names it, whatever the order of keys in its body. */
export function requestKey(method: string, path: string, body?: unknown): string {
  return body === undefined ? `${method} ${path}` : `${method} ${path} ${canonical(body)}`
}

/** The same for a key that somebody else wrote. */
export function normalizedKey(key: string): string {
  const [method = '', path = ''] = key.split(' ', 2)
  const body = key.slice(method.length + path.length + 2)
  if (body === '') return key
  try {
    return requestKey(method, path, JSON.parse(body))
  } catch {
    return key
  }
}
