import { computed, signal } from '@preact/signals'

/** Where the page is: the pieces of the hash's path, and its query. */
export interface Route {
  path: string[]
  query: URLSearchParams
}

/** Reads a hash such as `#/study/egg/trials?sort=value`. */
export function parse(hash: string): Route {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#?\/?/, ''), '?')
  const pieces = path.split('/').filter((piece) => piece !== '')
  return { path: pieces.map(decoded), query: new URLSearchParams(query) }
}

/** The hash of a place: what `parse` reads. Entries of the query without a value are left out. */
export function link(path: string[], query: QueryOf = {}): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(key, String(value))
  }
  const text = search.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

/** The address of a view of a study, such as `studyLink('egg', 'trials', { sort: 'value' })`. */
export function studyLink(study: string, view = '', query: QueryOf = {}): string {
  return link(['study', study, ...view.split('/').filter((piece) => piece !== '')], query)
}

export type QueryOf = Record<string, string | number | boolean | null | undefined>

const hash = signal(typeof location === 'undefined' ? '' : location.hash)

/** Where the page is now. */
export const route = computed(() => parse(hash.value))

/** Follows the browser's address from now on. */
export function startRouter(): void {
  window.addEventListener('hashchange', () => {
    hash.value = location.hash
  })
}

/** Goes to a hash made by `link`. */
export function go(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace) {
    history.replaceState(null, '', to)
    hash.value = to
  } else {
    location.hash = to
  }
}

/** Changes entries of the query; null or an empty text takes one away. The view stays, and the browser's history gets no entry. */
export function setQuery(changes: QueryOf): void {
  const { path, query } = route.value
  go(link(path, { ...Object.fromEntries(query), ...changes }), { replace: true })
}

function splitOnce(text: string, at: string): [string, string] {
  const place = text.indexOf(at)
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)]
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece)
  } catch {
    return piece
  }
}
