// Expectation against observation, with intervals and the line on which both are equal.

import { useMemo } from 'preact/hooks'
import { AxisX, AxisY, framed, labelRoom } from './axes.tsx'
import { Drawing } from './drawing.tsx'
import { useCursor } from './hooks.ts'
import type { Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import { around } from './scale.ts'

/** Intervals of more points than this would cover one another: only the one that is read is drawn. */
export const BARS = 400

export interface ScatterPoint {
  /** Observed. */
  x: number
  /** Expected, with its interval. */
  y: number
  low: number
  high: number
  /** Whether the observation is outside the interval. */
  outside: boolean
  text: string[]
}

export interface ScatterProps {
  label: string
  xLabel: string
  yLabel: string
  points: ScatterPoint[]
  width: number
  onOpen?: ((i: number) => void) | undefined
}

export function Scatter({ label, xLabel, yLabel, points, width, onOpen }: ScatterProps) {
  const tall = Math.round(Math.min(480, Math.max(260, width * 0.8)))
  const scale = useMemo(() => robust(points), [points])
  const yTicks = scale.ticks(6)
  const frame = framed(width, tall, { left: labelRoom(yTicks), bottom: 42 })
  const px = (value: number): number => frame.left + scale.place(value) * frame.width
  const py = (value: number): number =>
    frame.top + (1 - Math.min(1, Math.max(0, scale.place(value)))) * frame.height
  const marks: Mark[] = useMemo(() => points.map((p) => ({ x: px(p.x), y: py(p.y) })), [points, scale, width])
  const cursor = useCursor(marks)
  const point = points[cursor.active]
  const bars = points.length <= BARS
  const open = (): void => {
    if (onOpen && cursor.active >= 0) onOpen(cursor.active)
  }
  return (
    <div class="chart-box">
      <Drawing
        width={width}
        height={tall}
        kind="scatter plot"
        label={`${label}. Arrow keys read it out.`}
        {...cursor.handlers}
        onKeyDown={(event) => (event.key === 'Enter' ? open() : cursor.handlers.onKeyDown(event))}
        onDblClick={open}
      >
        <AxisY frame={frame} ticks={yTicks} label={yLabel} grid />
        <AxisX frame={frame} ticks={scale.ticks(Math.max(2, Math.floor(frame.width / 80)))} label={xLabel} />
        <line
          class="identity"
          x1={frame.left}
          y1={frame.top + frame.height}
          x2={frame.left + frame.width}
          y2={frame.top}
        />
        <text
          class="direct-label"
          x={frame.left + frame.width * 0.84 + 8}
          y={frame.top + frame.height * 0.16 + 16}
        >
          exact
        </text>
        {points.map((p, i) => (
          <g
            key={i}
            class={`scatter-point${p.outside ? ' outside' : ''}${i === cursor.active ? ' active' : ''}`}
          >
            {bars || i === cursor.active ? (
              <line x1={px(p.x)} x2={px(p.x)} y1={py(p.low)} y2={py(p.high)} />
            ) : null}
            {p.outside ? (
              <path d={`M${px(p.x)},${py(p.y) - 4}l4,4l-4,4l-4,-4Z`} />
            ) : (
              <circle cx={px(p.x)} cy={py(p.y)} r={i === cursor.active ? 4 : 2.6} />
            )}
          </g>
        ))}
      </Drawing>
      <Readout at={marks[cursor.active] ?? null} width={width} lines={point?.text ?? []} />
    </div>
  )
}

/** One scale for both axes. Expectations far outside the observations do not squeeze the rest: they are drawn at the edge. */
function robust(points: ScatterPoint[]): ReturnType<typeof around> {
  const seen = around(
    points.map((p) => p.x),
    0.15,
  )
  const [low, high] = [seen.value(0) as number, seen.value(1) as number]
  const clamp = (x: number): number => Math.min(high, Math.max(low, x))
  return around(points.flatMap((p) => [p.x, clamp(p.y), clamp(p.low), clamp(p.high)]))
}
