import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import type { Answer } from '../api/use_ask.ts'
import { ExportMenu, type Exports } from './export_menu.tsx'
import { Trouble } from './trouble.tsx'

export interface ViewProps {
  /** Its name in the navigation. */
  title: string
  /** The question that it answers, in words. */
  question: string
  /** What it waits for: while there is no data, the frame says so; errors are shown above the old data. */
  answer?: Pick<Answer<unknown>, 'data' | 'error' | 'loading' | 'reload'>
  /** A sentence that stands for the view where there is nothing to show, with what to do about it. */
  empty?: ComponentChildren
  /** Switches and fields, to the right of the head. */
  toolbar?: ComponentChildren
  exports?: Exports
  children?: ComponentChildren
}

/** The frame of a view: its question, its tools, and what it says while there is nothing to show. */
export function View({ title, question, answer, empty, toolbar, exports, children }: ViewProps) {
  useEffect(() => {
    document.title = `${title} · noregret`
  }, [title])
  const id = useId()
  const waiting = answer !== undefined && answer.data === undefined
  return (
    <section class="view" aria-busy={answer?.loading ?? false} aria-labelledby={id}>
      <header class="view-head">
        <div>
          <p class="view-title">{title}</p>
          <h1 id={id}>{question}</h1>
        </div>
        <div class="toolbar">
          {toolbar}
          {exports && !waiting && !empty && <ExportMenu exports={exports} />}
        </div>
      </header>
      {answer?.error && <Trouble error={answer.error} again={answer.reload} />}
      {waiting ? (
        !answer.error && <p class="state-note">Loading …</p>
      ) : empty ? (
        <p class="state-note">{empty}</p>
      ) : (
        children
      )}
    </section>
  )
}

/** A chart or table with a small head of its own. */
export function Panel({
  title,
  note,
  exports,
  toolbar,
  children,
}: {
  title?: ComponentChildren
  note?: ComponentChildren
  exports?: Exports
  toolbar?: ComponentChildren
  children?: ComponentChildren
}) {
  return (
    <section class="panel">
      {(title || exports || toolbar) && (
        <header class="panel-head">
          <h2>{title}</h2>
          <div class="toolbar">
            {toolbar}
            {exports && <ExportMenu exports={exports} />}
          </div>
        </header>
      )}
      {children}
      {note && <p class="quiet small">{note}</p>}
    </section>
  )
}
