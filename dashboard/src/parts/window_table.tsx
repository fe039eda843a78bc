import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Pixels of a row. */
const ROW = 34
/** Rows that are drawn above and below what is seen. */
const SPARE = 12
/** The tallest that a browser can scroll with certainty, in pixels. */
const TALLEST = 15_000_000

export interface HeadCell {
  key: string
  width: number
  right: boolean
  /** Whether it takes the room that is left over. */
  grows?: boolean
  content: ComponentChildren
  sort?: 'ascending' | 'descending' | undefined
}

export interface WindowTableProps {
  label: string
  head: HeadCell[]
  rows: number
  /** Draws the cells of a row; null while it is not there. */
  row: (i: number) => { key: string | number; cells: ComponentChildren[]; open: () => void } | null
  /** Says which rows are seen. */
  seen: (first: number, last: number) => void
}

/** A table of any length of which only the rows that are seen are drawn. */
export function WindowTable({ label, head, rows, row, seen }: WindowTableProps) {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [tall, setTall] = useState(600)
  const shown = Math.min(rows, Math.floor(TALLEST / ROW))
  const first = Math.max(0, Math.floor(top / ROW) - SPARE)
  const last = Math.min(shown - 1, Math.ceil((top + tall) / ROW) + SPARE)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setTall(element.clientHeight)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    seen(first, Math.max(last, 0))
  }, [first, last, seen])

  // What is left over goes to long texts, or else to the last column: numbers stay close to one another.
  const some = head.some((cell) => cell.grows)
  const columns = head
    .map((cell, c) =>
      (some ? cell.grows : c === head.length - 1) ? `minmax(${cell.width}px, 1fr)` : `${cell.width}px`,
    )
    .join(' ')
  const least = head.reduce((sum, cell) => sum + cell.width, 0)
  const drawn = []
  for (let i = first; i <= last; i += 1) {
    const found = row(i)
    drawn.push(
      // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row does the same.
      <div
        key={i}
        role="row"
        aria-rowindex={i + 2}
        class={`grid-row ${found ? '' : 'waits'}`}
        style={{ top: `${i * ROW}px`, height: `${ROW}px`, gridTemplateColumns: columns }}
        onClick={(event) => {
          const selecting = (getSelection()?.toString() ?? '') !== ''
          if (found && !selecting && !(event.target as Element).closest('a')) found.open()
        }}
      >
        {head.map((cell, c) => (
          <div key={cell.key} role="cell" class={cell.right ? 'number' : ''}>
            {found ? found.cells[c] : ''}
          </div>
        ))}
      </div>,
    )
  }
  return (
    <div
      class="grid-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard.
      tabIndex={0}
      role="table"
      aria-label={label}
      aria-rowcount={rows + 1}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div
        role="row"
        class="grid-head"
        aria-rowindex={1}
        style={{ gridTemplateColumns: columns, minWidth: `${least}px` }}
      >
        {head.map((cell) => (
          <div
            key={cell.key}
            role="columnheader"
            aria-sort={cell.sort ?? 'none'}
            class={cell.right ? 'number' : ''}
          >
            {cell.content}
          </div>
        ))}
      </div>
      <div class="grid-body" role="rowgroup" style={{ height: `${shown * ROW}px`, minWidth: `${least}px` }}>
        {drawn}
      </div>
      {shown < rows && (
        <p class="quiet small">The first {shown} rows can be scrolled to: filter to see others.</p>
      )}
    </div>
  )
}
