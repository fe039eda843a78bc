/** A cell of a table. */
export type Cell = string | number | boolean | null | undefined

/** A table as CSV (RFC 4180), numbers with all their digits. */
export function csv(header: string[], rows: Iterable<Cell[]>): string {
  const lines = [header.map(quoted).join(',')]
  for (const row of rows) lines.push(row.map(quoted).join(','))
  return `${lines.join('\r\n')}\r\n`
}

/**
 * A cell of a file. Spreadsheets run texts that begin with one of these signs as formulas, and names and reasons may come from anybody:
 * such a text gets an apostrophe, which spreadsheets take for "this is a text". Numbers stay as they are.
 */
function quoted(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const isFormula = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) && !isNumber(cell)
  const text = isFormula ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))
