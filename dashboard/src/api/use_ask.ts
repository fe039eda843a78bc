import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask } from './ask.ts'
import { requestKey } from './canonical.ts'

/** What a question has brought so far. */
export interface Answer<T> {
  /** The last answer; the one before stays until the next is there. */
  data: T | undefined
  error: Error | undefined
  loading: boolean
  /** Asks again. */
  reload: () => void
}

/** Answers that a view shows at once when somebody comes back to it, while it asks again. */
const KEPT = 40
const kept = new Map<string, unknown>()

/** Forgets all answers, for instance because somebody else logs in. */
export function forget(): void {
  kept.clear()
}

function keep(key: string, answer: unknown): void {
  kept.delete(key)
  kept.set(key, answer)
  const [oldest] = kept.keys()
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
}

/**
 * Asks a question and keeps the answer for the component. Without a path nothing is asked.
 * It asks again if `fresh` changes, for instance with the position of the study's log; the old answer stays until the new one is there.
 */
export function useAsk<T>(
  method: 'GET' | 'POST',
  path: string | null,
  body?: unknown,
  fresh: unknown = 0,
): Answer<T> {
  const key = path === null ? '' : requestKey(method, path, body)
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<{ key: string; data?: T; error?: Error; loading: boolean }>({
    key: '',
    loading: true,
  })
  const question = useRef({ path, body })
  question.current = { path, body }

  useEffect(() => {
    if (question.current.path === null) return
    const abort = new AbortController()
    setState((old) =>
      old.key === key
        ? { ...old, loading: true }
        : { key, data: kept.get(key) as T | undefined, loading: true },
    )
    ask<T>(method, question.current.path, question.current.body, { signal: abort.signal }).then(
      (data) => {
        if (abort.signal.aborted) return
        keep(key, data)
        setState({ key, data, loading: false })
      },
      (error: Error) => {
        if (!abort.signal.aborted) setState((old) => ({ key, data: old.data, error, loading: false }))
      },
    )
    return () => abort.abort()
  }, [method, key, fresh, turn])

  const reload = useCallback(() => setTurn((old) => old + 1), [])
  const current = state.key === key
  return {
    data: current ? state.data : (kept.get(key) as T | undefined),
    error: current ? state.error : undefined,
    loading: path !== null && (!current || state.loading),
    reload,
  }
}
