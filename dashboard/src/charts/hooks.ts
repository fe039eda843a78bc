// What charts need of the browser: their width, the colors of the theme, and a cursor over marks.

import type { RefObject } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { colors } from '../app/theme.ts'
import { inOrder, type Mark, nearest } from './nearest.ts'

/** The width of an element in pixels, as it changes; 0 until it is known. */
export function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = ref.current
    if (!element) return undefined
    const measure = (): void => setWidth(Math.floor(element.getBoundingClientRect().width))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return width
}

/** Whether the page is dark; the component is drawn again when that changes. */
export function useDark(): boolean {
  // The signal counts changes of the colors: reading it is what subscribes.
  return colors.value >= 0 && getComputedStyle(document.documentElement).colorScheme === 'dark'
}

/** Where an event is, in pixels from the corner of the element that listens. */
export function within(event: PointerEvent | MouseEvent): Mark {
  const box = (event.currentTarget as Element).getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

export interface Cursor {
  /** The place of the mark that is read; -1 for none. */
  readonly active: number
  /** For the element around the marks. */
  readonly handlers: {
    onPointerMove: (event: PointerEvent) => void
    onPointerDown: (event: PointerEvent) => void
    onPointerLeave: (event: PointerEvent) => void
    onKeyDown: (event: KeyboardEvent) => void
    onBlur: () => void
  }
}

/** Reads marks out: the nearest to a pointer or a finger, or one after another by the arrow keys. */
export function useCursor(marks: readonly Mark[], reach = 28): Cursor {
  const [active, setActive] = useState(-1)
  const order = useMemo(() => inOrder(marks), [marks])
  const point = (event: PointerEvent): void => {
    const { x, y } = within(event)
    setActive(nearest(marks, x, y, reach))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = order.indexOf(active)
    const last = order.length - 1
    const far = event.shiftKey ? 10 : 1
    const to = {
      ArrowRight: at < 0 ? 0 : Math.min(last, at + far),
      ArrowLeft: at < 0 ? last : Math.max(0, at - far),
      Home: 0,
      End: last,
      Escape: -1,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setActive(order[to] ?? -1)
  }
  return {
    active: active < marks.length ? active : -1,
    handlers: {
      onPointerMove: point,
      onPointerDown: point,
      onPointerLeave: (event) => {
        if (event.pointerType !== 'touch') setActive(-1)
      },
      onKeyDown,
      onBlur: () => setActive(-1),
    },
  }
}
