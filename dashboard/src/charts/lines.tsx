// Several curves over one another, each with its name at its end.

import { useId, useMemo } from 'preact/hooks'
import { AxisX, AxisY, fitted, framed, labelRoom } from './axes.tsx'
import { Drawing } from './drawing.tsx'
import { useCursor } from './hooks.ts'
import type { Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import type { Scale } from './scale.ts'

export interface Series {
  name: string
  color: string
  /** Dashes beside color; none for the first ones. */
  dash?: string
  /** Corners of a step function, rising in x. */
  points: [number, number][]
  /** Lower and upper ends at the same x. */
  band?: [number, number, number][]
  /** Only for comparison: thin and without a name. */
  faint?: boolean
}

export interface LinesProps {
  label: string
  series: Series[]
  x: Scale
  y: Scale
  xLabel: string
  yLabel: string
  /** What the curves say at a place, heading first. */
  read: (x: number) => string[]
  width: number
}

/** Moves labels apart which would overlap, as little as it can, inside the chart. */
export function apart(wanted: number[], least: number, low: number, high: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] as number) - (wanted[b] as number))
  const placed = [...wanted]
  let floor = low
  for (const i of order) {
    placed[i] = Math.max(wanted[i] as number, floor)
    floor = (placed[i] as number) + least
  }
  let ceiling = high
  for (const i of [...order].reverse()) {
    placed[i] = Math.min(placed[i] as number, ceiling)
    ceiling = (placed[i] as number) - least
  }
  return placed
}

export function Lines({ label, series, x, y, xLabel, yLabel, read, width }: LinesProps) {
  const tall = Math.round(Math.min(420, Math.max(260, width * 0.5)))
  const named = series.filter((one) => one.faint !== true)
  const yTicks = y.ticks(6)
  const right = Math.min(width * 0.28, 16 + 6.8 * Math.max(0, ...named.map((one) => one.name.length)))
  const frame = framed(width, tall, { left: labelRoom(yTicks), right, bottom: 42 })
  const px = (value: number): number => frame.left + x.place(value) * frame.width
  const py = (value: number): number => frame.top + (1 - y.place(value)) * frame.height
  const n = 120
  const marks: Mark[] = useMemo(
    () =>
      Array.from({ length: n + 1 }, (_, i) => ({
        x: frame.left + (i / n) * frame.width,
        y: frame.top + frame.height / 2,
      })),
    [width, right, frame.left],
  )
  const cursor = useCursor(marks, Infinity)
  const at = marks[cursor.active]
  const clip = useId()
  const ends = named.map((one) => py(one.points.at(-1)?.[1] ?? 0))
  const labels = apart(ends, 14, frame.top + 6, frame.top + frame.height - 2)
  return (
    <div class="chart-box">
      <Drawing
        width={width}
        height={tall}
        kind="line chart"
        label={`${label}. Arrow keys read it out.`}
        {...cursor.handlers}
      >
        <AxisY frame={frame} ticks={yTicks} label={yLabel} grid />
        <AxisX frame={frame} ticks={x.ticks(Math.max(2, Math.floor(frame.width / 90)))} label={xLabel} />
        <clipPath id={clip}>
          <rect x={frame.left} y={frame.top - 6} width={frame.width} height={frame.height + 12} />
        </clipPath>
        <g clip-path={`url(#${clip})`}>
          {series.map((one) =>
            one.band ? (
              <path
                key={`band ${one.name}`}
                d={banded(one.band, px, py)}
                fill={one.color}
                fill-opacity={0.16}
              />
            ) : null,
          )}
          {series.map((one, i) => (
            <path
              key={`line ${i} ${one.name}`}
              class="series"
              d={stepped(one.points, px, py)}
              stroke={one.color}
              stroke-width={one.faint === true ? 0.8 : 1.8}
              stroke-opacity={one.faint === true ? 0.5 : 1}
              stroke-dasharray={one.dash}
            />
          ))}
        </g>
        {named.map((one, i) => (
          <text
            key={one.name}
            class="direct-label"
            x={Math.min(frame.left + frame.width, px(one.points.at(-1)?.[0] ?? 0)) + 8}
            y={labels[i]}
            dominant-baseline="central"
            style={{ fill: one.color }}
          >
            {fitted(one.name, right - 8)}
          </text>
        ))}
        {at ? (
          <path data-cursor class="crosshair" d={`M${at.x},${frame.top}V${frame.top + frame.height}`} />
        ) : null}
      </Drawing>
      <Readout
        at={at ?? null}
        width={width}
        lines={at ? read(x.value((at.x - frame.left) / frame.width) as number) : []}
      />
    </div>
  )
}

type Pixel = (value: number) => number

function stepped(points: [number, number][], px: Pixel, py: Pixel): string {
  return points
    .map(([a, b], i) =>
      i === 0 ? `M${px(a).toFixed(1)},${py(b).toFixed(1)}` : `H${px(a).toFixed(1)}V${py(b).toFixed(1)}`,
    )
    .join('')
}

function banded(band: [number, number, number][], px: Pixel, py: Pixel): string {
  const there = stepped(
    band.map(([a, , high]) => [a, high] as const),
    px,
    py,
  )
  const last = band.at(-1)
  if (!last) return ''
  // The way back takes the steps from the right: up or down first, then along.
  const back = [...band]
    .reverse()
    .map(([a, low], i) => (i === 0 ? `V${py(low).toFixed(1)}` : `V${py(low).toFixed(1)}H${px(a).toFixed(1)}`))
    .join('')
  return `${there}${back}Z`
}
