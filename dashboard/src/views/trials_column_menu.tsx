import { useEffect, useRef, useState } from 'preact/hooks'

/** Chooses columns. Null stands for the usual ones. */
export function ColumnMenu({
  all,
  shown,
  choose,
}: {
  all: string[]
  shown: string[]
  choose: (names: string[] | null) => void
}) {
  const [open, setOpen] = useState(false)
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
      }
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('keydown', close)
    }
  }, [open])
  const toggle = (name: string) => {
    const next = shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name]
    choose(all.filter((other) => next.includes(other)))
  }
  return (
    <div class="menu" ref={root}>
      <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
        Columns
      </button>
      {open && (
        <fieldset class="menu-list">
          <legend class="hidden">Columns</legend>
          {all.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={shown.includes(name)}
                // The number is the way to the trial.
                disabled={name === 'number'}
                onChange={() => toggle(name)}
              />
              {name}
            </label>
          ))}
          <button type="button" onClick={() => choose(null)}>
            The usual ones
          </button>
        </fieldset>
      )}
    </div>
  )
}
