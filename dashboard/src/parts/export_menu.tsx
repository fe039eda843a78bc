import { useEffect, useRef, useState } from 'preact/hooks'
import { pngOfCanvas, pngOfSvg, svgText } from '../export/picture.ts'
import { fileName, save } from '../export/save.ts'

/** What can be taken away of a chart or a table. Each is made when it is asked for. */
export interface Exports {
  /** The file's name, without its ending. */
  name: string
  /** The numbers behind it. */
  csv?: () => string | Promise<string>
  /** The drawing: an element of the page, or the text of a file. The PNG is made of it, unless there is a canvas. */
  svg?: () => SVGSVGElement | string | null
  /** The canvas, where the chart is drawn on one. */
  canvas?: () => HTMLCanvasElement | null
}

/** A small menu: copy or save as CSV, PNG and SVG. */
export function ExportMenu({ exports }: { exports: Exports }) {
  const [open, setOpen] = useState(false)
  const [said, setSaid] = useState('')
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!open) return
    const close = (event: Event) => {
      if (
        event instanceof KeyboardEvent
          ? event.key === 'Escape'
          : !root.current?.contains(event.target as Node)
      ) {
        setOpen(false)
        if (event instanceof KeyboardEvent) root.current?.querySelector('button')?.focus()
      }
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('keydown', close)
    }
  }, [open])

  const run = (what: () => Promise<string>) => () => {
    setOpen(false)
    what().then(
      (text) => tell(text),
      (error: Error) => tell(error.message),
    )
  }
  const tell = (text: string) => {
    setSaid(text)
    setTimeout(() => setSaid(''), 3000)
  }
  const file = (ending: string) => `${fileName(exports.name)}.${ending}`
  const { csv } = exports
  const drawn = exports.svg !== undefined || exports.canvas !== undefined
  return (
    <div class="menu" ref={root}>
      <span class="quiet small" role="status">
        {said}
      </span>
      <button
        type="button"
        class="plain"
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        Export
      </button>
      {open && (
        <div class="menu-list" role="menu">
          {csv && (
            <button
              type="button"
              role="menuitem"
              onClick={run(async () => {
                await navigator.clipboard.writeText(await csv())
                return 'Copied'
              })}
            >
              Copy as CSV
            </button>
          )}
          {csv && (
            <button
              type="button"
              role="menuitem"
              onClick={run(async () => {
                save(file('csv'), new Blob([await csv()], { type: 'text/csv' }))
                return 'Saved'
              })}
            >
              Save CSV
            </button>
          )}
          {drawn && (
            <button
              type="button"
              role="menuitem"
              onClick={run(async () => {
                save(file('png'), await picture(exports))
                return 'Saved'
              })}
            >
              Save PNG
            </button>
          )}
          {exports.svg && (
            <button
              type="button"
              role="menuitem"
              onClick={run(async () => {
                save(file('svg'), new Blob([drawing(exports)], { type: 'image/svg+xml' }))
                return 'Saved'
              })}
            >
              Save SVG
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function drawing(exports: Exports): string {
  const made = exports.svg?.()
  if (!made) throw new Error('There is nothing drawn yet.')
  return typeof made === 'string' ? made : svgText(made)
}

function picture(exports: Exports): Promise<Blob> {
  const canvas = exports.canvas?.()
  return canvas ? pngOfCanvas(canvas) : pngOfSvg(drawing(exports))
}
