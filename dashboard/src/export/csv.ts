/** A cell of a table. */
export type Cell = string | number | boolean | null | undefined

/** A table as CSV (RFC 4180), numbers with all their digits. */
export function csv(header: string[], rows: Iterable<Cell[]>): string {
  const lines = [header.map(quoted).join(',')]
  for (const row of rows) lines.push(row.map(quoted).join(','))
  return `${lines.join('\r\n')}\r\n`
}

function quoted(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const text = String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
