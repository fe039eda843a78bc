import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useWidth } from './hooks.ts'

/** Draws a chart as wide as there is room. */
export function Sized({ children }: { children: (width: number) => ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  return (
    <div ref={box} class="chart-sized">
      {width > 0 && children(width)}
    </div>
  )
}
