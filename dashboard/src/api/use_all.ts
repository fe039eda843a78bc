import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask } from './ask.ts'
import { requestKey } from './canonical.ts'
import type { Answer } from './use_ask.ts'

/** A request of several. */
export interface Question {
  method: 'GET' | 'POST'
  path: string
  body?: unknown
}

/** The answers to several questions at once, with the questions: the answers before stay until all the new ones are there. */
export function useAll<T>(
  questions: Question[],
  fresh: unknown = 0,
): Answer<{ of: Question[]; answers: T[] }> {
  const key = questions.map(({ method, path, body }) => requestKey(method, path, body)).join('\n')
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<{
    data?: { of: Question[]; answers: T[] }
    error?: Error
    loading: boolean
  }>({ loading: true })
  // The key stands for the questions; `fresh` and `turn` are why to ask again.
  useEffect(() => {
    if (questions.length === 0) return
    const abort = new AbortController()
    setState((old) => ({ ...old, loading: true }))
    Promise.all(
      questions.map(({ method, path, body }) => ask<T>(method, path, body, { signal: abort.signal })),
    ).then(
      (answers) => {
        if (!abort.signal.aborted) setState({ data: { of: questions, answers }, loading: false })
      },
      (error: Error) => {
        if (!abort.signal.aborted) setState((old) => ({ data: old.data, error, loading: false }))
      },
    )
    return () => abort.abort()
  }, [key, fresh, turn])
  const reload = useCallback(() => setTurn((old) => old + 1), [])
  return { data: state.data, error: state.error, loading: state.loading && questions.length > 0, reload }
}
