// What is under the cursor, beside it, and for screen readers.

export interface ReadoutProps {
  /** Where, in pixels inside the chart; null if there is nothing to read. */
  at: { x: number; y: number } | null
  /** The width of the chart. */
  width: number
  /** The first line is the heading. */
  lines: string[]
}

export function Readout({ at, width, lines }: ReadoutProps) {
  const right = at !== null && at.x > width / 2
  const place: Record<string, string> =
    at === null
      ? {}
      : {
          top: `${Math.round(at.y)}px`,
          ...(right
            ? { right: `${Math.round(width - at.x + 12)}px` }
            : { left: `${Math.round(at.x + 12)}px` }),
        }
  return (
    <>
      {at === null ? null : (
        <div class="readout" style={place} aria-hidden="true">
          {lines.map((line, i) => (i === 0 ? <strong key={i}>{line}</strong> : <span key={i}>{line}</span>))}
        </div>
      )}
      <div class="hidden" role="status">
        {at === null ? '' : lines.join(', ')}
      </div>
    </>
  )
}
