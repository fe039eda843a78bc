import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { noticeRefusal } from '../app/session.ts'
import { Trouble } from './trouble.tsx'

/** A form above the page. Escape and Cancel close it; errors of what it does are shown in it. */
export function Dialog({
  title,
  action,
  ready = true,
  submit,
  close,
  children,
}: {
  title: string
  /** What its button says. */
  action: string
  ready?: boolean
  submit: () => Promise<void>
  close: () => void
  children?: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const run = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await submit()
    } catch (problem) {
      noticeRefusal(problem)
      setError(problem as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} aria-label={title} onClose={close}>
      <form onSubmit={run}>
        <h2>{title}</h2>
        {children}
        {error && <Trouble error={error} />}
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy || !ready}>
            {busy ? 'One moment …' : action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
