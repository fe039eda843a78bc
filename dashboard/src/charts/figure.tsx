// The frame of a chart: a sentence that says what it shows, the same as a table, and ways to take it along.

import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { Value } from '../api/types.ts'
import { csv } from '../export/csv.ts'
import { Panel } from '../parts/view.tsx'
import { count, valueText } from '../words/numbers.ts'
import { composed } from './compose.ts'

/** The numbers behind a chart. */
export interface Sheet {
  columns: string[]
  rows: (Value | null)[][]
}

export interface FigureProps {
  /** What files are called. */
  name: string
  title?: ComponentChildren
  /** What the chart shows, in a sentence or two, for those who see it and those who do not. */
  summary: ComponentChildren
  sheet: () => Sheet
  toolbar?: ComponentChildren
  children?: ComponentChildren
}

export function Figure({ name, title, summary, sheet, toolbar, children }: FigureProps) {
  const body = useRef<HTMLDivElement>(null)
  const [table, setTable] = useState(false)
  const id = useId()
  const exports = {
    name,
    csv: () => {
      const { columns, rows } = sheet()
      return csv(columns, rows)
    },
    svg: () => (body.current ? composed(body.current) : null),
  }
  return (
    <Panel
      title={title}
      exports={exports}
      toolbar={
        <>
          {toolbar}
          <button type="button" class="plain" aria-expanded={table} onClick={() => setTable(!table)}>
            {table ? 'Hide table' : 'Table'}
          </button>
        </>
      }
    >
      <figure class="chart" aria-labelledby={id}>
        <div class="chart-body" ref={body}>
          {children}
        </div>
        <figcaption id={id} class="quiet small">
          {summary}
        </figcaption>
      </figure>
      {table && <SheetTable sheet={sheet()} />}
    </Panel>
  )
}

/** As many rows as a person would read; the rest is in the CSV file. */
const ROWS = 500

function SheetTable({ sheet }: { sheet: Sheet }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="chart-table" tabIndex={0} aria-label="Table of the chart">
      <table>
        <thead>
          <tr>
            {sheet.columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sheet.rows.slice(0, ROWS).map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={sheet.columns[j]} class={typeof cell === 'number' ? 'number' : undefined}>
                  {valueText(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sheet.rows.length > ROWS && (
        <p class="quiet small">
          The first {count(ROWS)} of {count(sheet.rows.length)} rows. All of them are in the CSV file.
        </p>
      )}
    </section>
  )
}
