import { useEffect, useRef, useState } from 'preact/hooks'
import { sentence } from '../parts/trouble.tsx'

/** How long somebody has to rest before what they type is asked, in milliseconds. */
const REST = 450

/** A field for a filter; an error is shown under it, with a mark at its column. */
export function FilterBox({
  filter,
  example,
  error,
  apply,
}: {
  filter: string
  /** What a filter may look like for this study. */
  example: string
  error: Error | null
  apply: (text: string) => void
}) {
  const [text, setText] = useState(filter)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setText(filter), [filter])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (value: string) => {
    setText(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => apply(value), REST)
  }
  const now = (event: Event) => {
    event.preventDefault()
    clearTimeout(timer.current)
    apply(text)
  }
  const column = error ? columnOf(error.message) : null
  const end = column === null ? 0 : column - 1 + wordAt(filter, column)
  return (
    <form class="filter" onSubmit={now} role="search">
      <label class="hidden" for="filter">
        Filter
      </label>
      <input
        id="filter"
        class="mono"
        type="search"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        placeholder={example}
        aria-invalid={error !== null}
        aria-describedby={error ? 'filter-error' : 'filter-help'}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {error ? (
        <div id="filter-error" class="filter-error" role="alert">
          {column !== null && (
            <p class="mono" aria-hidden="true">
              {filter.slice(0, column - 1)}
              <mark>{filter.slice(column - 1, end) || ' '}</mark>
              {filter.slice(end)}
            </p>
          )}
          <p>{sentence(new Error(error.message.replace(/^filter[,:]?\s*/i, '')))}</p>
        </div>
      ) : (
        <p id="filter-help" class="quiet small">
          A condition over parameters, attributes, <code>number</code>, <code>state</code>, <code>value</code>
          , <code>seconds</code>, <code>worker</code>, <code>attempts</code>, <code>reason</code>, in the
          language of constraints.
        </p>
      )}
    </form>
  )
}

/** The column that an error names; they count from 1. */
export function columnOf(message: string): number | null {
  const found = /column (\d+)/.exec(message)
  return found ? Number(found[1]) : null
}

/** How long the word is that begins at a column: one sign at least. */
function wordAt(text: string, column: number): number {
  return /^[\p{L}\p{N}_.]+/u.exec(text.slice(column - 1))?.[0].length ?? 1
}
