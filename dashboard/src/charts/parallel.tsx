// Parallel coordinates: a line for each trial through its values on all axes, and ranges drawn on axes to ask for some of them.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { color } from '../app/theme.ts'
import { valueText } from '../words/numbers.ts'
import { fitted } from './axes.tsx'
import { type Brushes, brushed, nudged, type Range, selected, snapped } from './brush.ts'
import { css, values as ramp } from './color.ts'
import { Drawing } from './drawing.tsx'
import { useDark, within } from './hooks.ts'
import { distance, type Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import type { Scale } from './scale.ts'

export interface ParallelAxis {
  name: string
  scale: Scale
  /** How many bands it has, if it has choices. */
  bands?: number
}

export interface ParallelRow {
  /** One an axis; NaN where there is no value. */
  places: number[]
  /** From bad (0) to good (1), for the color; null if it has no value. */
  share: number | null
  text: string[]
}

export interface ParallelProps {
  label: string
  axes: ParallelAxis[]
  /** The best last: it is drawn on top. */
  rows: ParallelRow[]
  brushes: Brushes
  onBrush: (brushes: Brushes) => void
  onOpen?: ((row: number) => void) | undefined
  width: number
}

const TOP = 40
const BOTTOM = 22
const HEIGHT = 380
const LEAST = 84
/** How far from an axis a pointer means the axis. */
const GRIP = 16

export function Parallel({ label, axes, rows, brushes, onBrush, onOpen, width: room }: ParallelProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [active, setActive] = useState(-1)
  const [drag, setDrag] = useState<{ axis: number; from: number } | null>(null)
  const dark = useDark()
  const width = Math.max(room, axes.length * LEAST)
  const gap = width / axes.length
  const ax = (axis: number): number => (axis + 0.5) * gap
  const high = HEIGHT - TOP - BOTTOM
  const ay = (place: number): number => TOP + (1 - place) * high
  const chosen = useMemo(
    () =>
      selected(
        rows.map((row) => row.places),
        brushes,
      ),
    [rows, brushes],
  )
  const lines: Mark[][] = useMemo(
    () => rows.map((row) => row.places.map((place, i) => ({ x: ax(i), y: ay(place) }))),
    [rows, width, axes.length],
  )

  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const element = canvas.current
      const context = element?.getContext('2d')
      if (element && context)
        draw(element, context, { width, lines, rows, chosen, active, brushed: brushes.size > 0 })
    })
    return () => cancelAnimationFrame(frame)
  }, [width, lines, rows, chosen, active, dark, brushes])

  const axisAt = (x: number): number => {
    const axis = Math.min(axes.length - 1, Math.max(0, Math.floor(x / gap)))
    return Math.abs(x - ax(axis)) <= GRIP ? axis : -1
  }
  const placeAt = (y: number): number => Math.min(1, Math.max(0, 1 - (y - TOP) / high))
  const brush = (axis: number, a: number, b: number): void => {
    const bands = axes[axis]?.bands
    const [low, top] = bands === undefined ? [a, b] : snapped([a, b], bands)
    onBrush(brushed(brushes, axis, low, top))
  }
  const down = (event: PointerEvent): void => {
    const svg = event.currentTarget as Element
    const at = within(event)
    const axis = axisAt(at.x)
    if (axis < 0 || at.y < TOP - 8 || at.y > HEIGHT - BOTTOM + 8) {
      look(at)
      return
    }
    svg.setPointerCapture(event.pointerId)
    event.preventDefault()
    setActive(-1)
    setDrag({ axis, from: placeAt(at.y) })
  }
  const look = (at: Mark): void => {
    let [best, least] = [-1, 8]
    lines.forEach((line, i) => {
      if (!chosen[i]) return
      const d = distance(line, at.x, at.y)
      if (d <= least) [best, least] = [i, d]
    })
    setActive(best)
  }
  const move = (event: PointerEvent): void => {
    const at = within(event)
    if (drag === null) look(at)
    else if (Math.abs(placeAt(at.y) - drag.from) * high > 3) brush(drag.axis, drag.from, placeAt(at.y))
  }
  const up = (event: PointerEvent): void => {
    if (drag !== null && Math.abs(placeAt(within(event).y) - drag.from) * high <= 3) {
      const bands = axes[drag.axis]?.bands
      // A click takes a category, or gives up a range.
      if (bands !== undefined && !brushes.has(drag.axis)) brush(drag.axis, drag.from, drag.from)
      else onBrush(brushed(brushes, drag.axis, 0, 0))
    }
    setDrag(null)
  }
  const key = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return
    const shown = rows
      .map((_, i) => i)
      .filter((i) => chosen[i])
      .reverse()
    const at = shown.indexOf(active)
    if (event.key === 'ArrowRight') setActive(shown[Math.min(shown.length - 1, at + 1)] ?? -1)
    else if (event.key === 'ArrowLeft') setActive(shown[Math.max(0, at - 1)] ?? -1)
    else if (event.key === 'Enter' && active >= 0) onOpen?.(active)
    else if (event.key === 'Escape') setActive(-1)
    else return
    event.preventDefault()
  }
  const row = rows[active]
  return (
    <div class="chart-scroll">
      <div class="chart-box" style={{ width: `${width}px` }}>
        <canvas
          ref={canvas}
          class="chart-under"
          style={{ left: '0', top: '0', width: `${width}px`, height: `${HEIGHT}px` }}
        />
        <Drawing
          class="parallel"
          width={width}
          height={HEIGHT}
          kind="parallel coordinates"
          label={`${label}. Left and right read trials out, the best first; ranges on the axes are sliders.`}
          onPointerDown={down}
          onPointerMove={move}
          onPointerUp={up}
          onPointerCancel={() => setDrag(null)}
          onPointerLeave={(event) => (event.pointerType === 'touch' ? undefined : setActive(-1))}
          onKeyDown={key}
          onBlur={() => setActive(-1)}
          onDblClick={() => (active >= 0 ? onOpen?.(active) : undefined)}
        >
          {axes.map((axis, i) => (
            <AxisOf
              key={axis.name}
              axis={axis}
              x={ax(i)}
              y={ay}
              gap={gap}
              range={brushes.get(i)}
              onNudge={(end, by) => onBrush(nudged(brushes, i, end, by))}
              onClear={() => onBrush(brushed(brushes, i, 0, 0))}
            />
          ))}
        </Drawing>
        <Readout at={row ? readAt(lines[active] ?? []) : null} width={width} lines={row?.text ?? []} />
      </div>
    </div>
  )
}

function readAt(line: Mark[]): Mark {
  const first = line.find((mark) => Number.isFinite(mark.y)) ?? { x: 0, y: TOP }
  return { x: first.x, y: Math.min(first.y + 8, HEIGHT - 150) }
}

interface AxisOfProps {
  axis: ParallelAxis
  x: number
  y: (place: number) => number
  gap: number
  range: Range | undefined
  onNudge: (end: 0 | 1, by: number) => void
  onClear: () => void
}

function AxisOf({ axis, x, y, gap, range, onNudge, onClear }: AxisOfProps) {
  const step = axis.bands === undefined ? 0.02 : 1 / axis.bands
  const key =
    (end: 0 | 1) =>
    (event: KeyboardEvent): void => {
      const by = {
        ArrowUp: step,
        ArrowRight: step,
        ArrowDown: -step,
        ArrowLeft: -step,
        PageUp: 5 * step,
        PageDown: -5 * step,
      }[event.key]
      if (by !== undefined) onNudge(end, by)
      else if (event.key === 'Escape' || event.key === 'Delete') onClear()
      else return
      event.preventDefault()
      event.stopPropagation()
    }
  const ends = range ?? [0, 1]
  return (
    <g class="parallel-axis">
      <rect class="grip" x={x - GRIP} width={2 * GRIP} y={y(1) - 8} height={y(0) - y(1) + 16} />
      <text class="axis-label" x={x} y={14} text-anchor="middle">
        {fitted(axis.name, gap - 8)}
      </text>
      <line class="rule" x1={x} x2={x} y1={y(0)} y2={y(1)} />
      {axis.scale.ticks(5).map(({ place, label }) => (
        <g key={label}>
          <line class="tick" x1={x - 3} x2={x + 3} y1={y(place)} y2={y(place)} />
          <text class="halo" x={x + 6} y={y(place)} dominant-baseline="central">
            {fitted(label, gap - 14)}
          </text>
        </g>
      ))}
      {range ? (
        <rect
          class="brush"
          x={x - 7}
          width={14}
          y={y(range[1])}
          height={Math.max(2, y(range[0]) - y(range[1]))}
        />
      ) : null}
      {([0, 1] as const).map((end) => (
        <path
          key={end}
          class={`handle${range ? ' set' : ''}`}
          data-cursor
          d={end === 1 ? `M${x - 7},${y(ends[1]) - 1}l7,-8l7,8Z` : `M${x - 7},${y(ends[0]) + 1}l7,8l7,-8Z`}
          role="slider"
          tabindex={0}
          aria-orientation="vertical"
          aria-label={`${axis.name}, ${end === 1 ? 'upper' : 'lower'} end`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(ends[end] * 100)}
          aria-valuetext={valueText(axis.scale.value(Math.min(0.9999, ends[end])))}
          onKeyDown={key(end)}
        />
      ))}
    </g>
  )
}

interface Picture {
  width: number
  lines: Mark[][]
  rows: ParallelRow[]
  chosen: boolean[]
  active: number
  brushed: boolean
}

function draw(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D, picture: Picture): void {
  const ratio = Math.min(2, devicePixelRatio || 1)
  ;[canvas.width, canvas.height] = [picture.width * ratio, HEIGHT * ratio]
  context.scale(ratio, ratio)
  const many = picture.chosen.filter(Boolean).length
  const faint = color('--line')
  const stroke = (line: Mark[]): void => {
    context.beginPath()
    let pen = false
    for (const { x, y } of line) {
      if (!Number.isFinite(y)) pen = false
      else if (pen) context.lineTo(x, y)
      else {
        context.moveTo(x, y)
        pen = true
      }
    }
    context.stroke()
  }
  context.lineWidth = 1
  if (picture.brushed) {
    context.strokeStyle = faint
    context.globalAlpha = Math.min(0.5, Math.max(0.12, 150 / Math.max(1, picture.lines.length)))
    picture.lines.forEach((line, i) => {
      if (!picture.chosen[i]) stroke(line)
    })
  }
  context.globalAlpha = Math.min(0.9, Math.max(0.15, 60 / Math.max(1, many)))
  picture.lines.forEach((line, i) => {
    if (!picture.chosen[i]) return
    const share = picture.rows[i]?.share ?? null
    context.strokeStyle = share === null ? faint : css(ramp(share))
    stroke(line)
  })
  const line = picture.lines[picture.active]
  if (!line) return
  context.globalAlpha = 1
  context.lineWidth = 5
  context.strokeStyle = color('--ground')
  stroke(line)
  context.lineWidth = 2.5
  context.strokeStyle = color('--ink')
  stroke(line)
}
