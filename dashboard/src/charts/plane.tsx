// Candidates on a plane: small dots colored by a number, larger marks for those that were chosen.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { color } from '../app/theme.ts'
import { AxisX, AxisY, framed } from './axes.tsx'
import { Drawing } from './drawing.tsx'
import { useCursor, useDark } from './hooks.ts'
import type { Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import { around } from './scale.ts'

export interface PlanePoint {
  x: number
  y: number
  /** null: in the color of paper and ink. */
  color: string | null
  chosen: boolean
  /** One of those that come next. */
  next: boolean
  text: string[]
}

export interface PlaneProps {
  label: string
  xLabel: string
  yLabel: string
  points: PlanePoint[]
  width: number
}

export function Plane({ label, xLabel, yLabel, points, width }: PlaneProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const dark = useDark()
  const tall = Math.round(Math.min(520, Math.max(280, width * 0.75)))
  const frame = framed(width, tall, { left: 34, bottom: 42 })
  const [sx, sy] = useMemo(
    () => [
      around(
        points.map((p) => p.x),
        0.03,
      ),
      around(
        points.map((p) => p.y),
        0.03,
      ),
    ],
    [points],
  )
  const marks: Mark[] = useMemo(
    () =>
      points.map((p) => ({
        x: frame.left + sx.place(p.x) * frame.width,
        y: frame.top + (1 - sy.place(p.y)) * frame.height,
      })),
    [points, sx, sy, width],
  )
  const cursor = useCursor(marks, 16)
  const at = marks[cursor.active]
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (!element || !context) return
    const ratio = Math.min(2, devicePixelRatio || 1)
    ;[element.width, element.height] = [width * ratio, tall * ratio]
    context.scale(ratio, ratio)
    const [ink, muted, paper] = [color('--ink'), color('--ink-soft'), color('--ground')]
    const disc = (mark: Mark, r: number, fill: string, edge: string | null): void => {
      context.beginPath()
      context.arc(mark.x, mark.y, r, 0, 2 * Math.PI)
      context.fillStyle = fill
      context.fill()
      if (edge !== null) {
        context.strokeStyle = edge
        context.stroke()
      }
    }
    context.globalAlpha = 0.75
    points.forEach((p, i) => {
      if (!p.chosen && !p.next) disc(marks[i] as Mark, 2, p.color ?? muted, null)
    })
    context.globalAlpha = 1
    context.lineWidth = 1.2
    points.forEach((p, i) => {
      if (p.chosen && !p.next) disc(marks[i] as Mark, 4, p.color ?? paper, ink)
    })
    points.forEach((p, i) => {
      if (!p.next) return
      const { x, y } = marks[i] as Mark
      context.beginPath()
      context.rect(x - 5, y - 5, 10, 10)
      context.fillStyle = p.color ?? paper
      context.fill()
      context.lineWidth = 2
      context.strokeStyle = ink
      context.stroke()
    })
  }, [points, marks, width, tall, dark])
  return (
    <div class="chart-box">
      <canvas
        ref={canvas}
        class="chart-under"
        style={{ left: '0', top: '0', width: `${width}px`, height: `${tall}px` }}
      />
      <Drawing
        width={width}
        height={tall}
        kind="scatter plot"
        label={`${label}. Arrow keys read it out.`}
        {...cursor.handlers}
      >
        <AxisX frame={frame} ticks={[]} label={xLabel} />
        <AxisY frame={frame} ticks={[]} label={yLabel} />
        {at ? <circle data-cursor class="cursor-ring" cx={at.x} cy={at.y} r={8} /> : null}
      </Drawing>
      <Readout at={at ?? null} width={width} lines={points[cursor.active]?.text ?? []} />
    </div>
  )
}
