// A grid of numbers as colors, with contour lines, and points on top.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { AxisX, AxisY, framed, labelRoom } from './axes.tsx'
import { css, type Ramp } from './color.ts'
import { contour, levels } from './contours.ts'
import { Drawing } from './drawing.tsx'
import { cellOf, pixels } from './heat.ts'
import { within } from './hooks.ts'
import { type Mark, nearest } from './nearest.ts'
import { Readout } from './readout.tsx'
import type { Tick } from './ticks.ts'

export interface MapAxis {
  name: string
  /** Places of the columns (or rows), rising, from 0 to 1. */
  places: number[]
  ticks: (intervals: number) => Tick[]
  /** Whether each place is a band, as categories are: then no contour lines. */
  bands: boolean
}

export interface MapPoint {
  /** Places from 0 to 1. */
  x: number
  y: number
  kind: 'evaluated' | 'pending' | 'recommended'
  /** Of its trial. */
  number: number
  /** For the color of evaluated points. */
  value?: number
  /** Lines to read out; the first is the heading. */
  text: string[]
}

export interface HeatMapProps {
  label: string
  x: MapAxis
  y: MapAxis
  /** Row by row from the lowest y; NaN where there is nothing. */
  height: number[]
  /** From a height to a share of the ramp. */
  share: (height: number) => number
  ramp: Ramp
  /** Points, and how their values become shares of `pointRamp`; points without one are hollow. */
  points: MapPoint[]
  pointColor?: ((value: number) => string) | undefined
  /** What a cell says; column and row. */
  read: (column: number, row: number) => string[]
  /** When a person means a place: column and row. */
  onPick?: ((column: number, row: number) => void) | undefined
  width: number
  contours?: boolean
}

interface Spot {
  column: number
  row: number
}

export function HeatMap(props: HeatMapProps) {
  const { label, x, y, height, share, ramp, points, pointColor, read, onPick, width, contours = true } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const [spot, setSpot] = useState<Spot | null>(null)
  const [near, setNear] = useState(-1)
  const yTicks = useMemo(() => y.ticks(5), [y])
  const tall = Math.round(Math.min(360, Math.max(190, width * 0.82)))
  const frame = framed(width, tall, { left: labelRoom(yTicks, width * 0.3), right: 8, bottom: 42 })
  const wide = Math.round(frame.width)
  const high = Math.round(frame.height)

  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !canvas.current) return
    ;[canvas.current.width, canvas.current.height] = [wide, high]
    const cells = { x: x.places, y: y.places, height }
    context.putImageData(
      new ImageData(new Uint8ClampedArray(pixels(cells, wide, high, share, ramp)), wide, high),
      0,
      0,
    )
  }, [x, y, height, share, ramp, wide, high])

  const lines = useMemo(() => {
    if (!contours || x.bands || y.bands || x.places.length < 4 || y.places.length < 4) return []
    const finite = height.filter(Number.isFinite)
    const [low, top] = [Math.min(...finite), Math.max(...finite)]
    return levels(low, top, 7).map((level) => contour({ x: x.places, y: y.places, height }, level))
  }, [x, y, height, contours])

  const px = (place: number): number => frame.left + place * frame.width
  const py = (place: number): number => frame.top + (1 - place) * frame.height
  const marks: Mark[] = useMemo(
    () => points.map((p) => ({ x: px(p.x), y: py(p.y) })),
    [points, wide, high, frame.left],
  )
  const r = points.length > 300 ? 2 : 3
  // The same elements as long as nothing changes: moving the cursor does not touch thousands of points.
  const drawnPoints = useMemo(
    () =>
      points.map((point, i) => (
        <Point
          key={`${point.kind} ${point.number}`}
          point={point}
          x={marks[i]?.x ?? 0}
          y={marks[i]?.y ?? 0}
          r={r}
          color={point.value === undefined ? undefined : pointColor?.(point.value)}
        />
      )),
    [points, marks, pointColor],
  )
  const columns = useMemo(() => cellOf(x.places, wide), [x, wide])
  const rows = useMemo(() => cellOf(y.places, high), [y, high])

  const spotAt = (event: PointerEvent | MouseEvent): Spot | null => {
    const at = within(event)
    const column = columns[Math.floor(at.x - frame.left)]
    const row = rows[high - 1 - Math.floor(at.y - frame.top)]
    return column === undefined || row === undefined ? null : { column, row }
  }
  const look = (event: PointerEvent): void => {
    const at = within(event)
    setSpot(spotAt(event))
    setNear(nearest(marks, at.x, at.y, 7))
  }
  const key = (event: KeyboardEvent): void => {
    const from = spot ?? { column: Math.floor(x.places.length / 2), row: Math.floor(y.places.length / 2) }
    const far = event.shiftKey ? 5 : 1
    const steps: Record<string, [number, number]> = {
      ArrowRight: [far, 0],
      ArrowLeft: [-far, 0],
      ArrowUp: [0, far],
      ArrowDown: [0, -far],
    }
    const step = steps[event.key]
    if (step) {
      const clamp = (i: number, n: number): number => Math.min(n - 1, Math.max(0, i))
      setSpot(
        spot === null
          ? from
          : {
              column: clamp(from.column + step[0], x.places.length),
              row: clamp(from.row + step[1], y.places.length),
            },
      )
      setNear(-1)
    } else if (event.key === 'Enter' && spot && onPick) {
      onPick(spot.column, spot.row)
    } else if (event.key === 'Escape') {
      setSpot(null)
    } else {
      return
    }
    event.preventDefault()
  }
  const pick = (event: MouseEvent): void => {
    const at = spotAt(event)
    if (at && onPick) onPick(at.column, at.row)
  }
  const center = spot === null ? null : { x: px(x.places[spot.column] ?? 0), y: py(y.places[spot.row] ?? 0) }
  const mark = near >= 0 ? (marks[near] ?? null) : null
  const text = near >= 0 ? (points[near]?.text ?? []) : spot ? read(spot.column, spot.row) : []

  return (
    <div class="chart-box">
      <canvas
        ref={canvas}
        class="chart-under hatched"
        style={{
          left: `${Math.round(frame.left)}px`,
          top: `${frame.top}px`,
          width: `${wide}px`,
          height: `${high}px`,
        }}
      />
      <Drawing
        width={width}
        height={tall}
        kind="map"
        label={`${label}. Arrow keys read it out${onPick ? ', Enter takes the place' : ''}.`}
        class={onPick ? 'pickable' : undefined}
        onPointerMove={look}
        onPointerDown={look}
        onPointerLeave={(event) => {
          if (event.pointerType !== 'touch') {
            setSpot(null)
            setNear(-1)
          }
        }}
        onBlur={() => setSpot(null)}
        onKeyDown={key}
        onClick={pick}
      >
        <g class="contours">
          {lines.map((some, i) =>
            some.map((line, j) => (
              <polyline
                key={`${i} ${j}`}
                points={line.map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(' ')}
              />
            )),
          )}
        </g>
        <AxisX
          frame={frame}
          ticks={x.ticks(Math.max(2, Math.floor(frame.width / 64)))}
          label={x.name}
          bands={x.bands}
        />
        <AxisY frame={frame} ticks={yTicks} label={y.name} bands={y.bands} />
        {drawnPoints}
        {center === null ? null : (
          <path
            data-cursor
            class="crosshair"
            d={`M${frame.left},${center.y}H${frame.left + frame.width}M${center.x},${frame.top}V${frame.top + frame.height}`}
          />
        )}
      </Drawing>
      <Readout at={text.length === 0 ? null : (mark ?? center)} width={width} lines={text} />
    </div>
  )
}

/** Evaluated points are discs, pending ones crosses, and the recommended one is a star: shapes, not colors alone. */
function Point({
  point,
  x,
  y,
  r,
  color,
}: {
  point: MapPoint
  x: number
  y: number
  r: number
  color: string | undefined
}) {
  if (point.kind === 'pending') {
    const cross = `M${x - 4},${y - 4}l8,8m0,-8l-8,8`
    return (
      <g>
        <path class="point-under" d={cross} />
        <path class="point-pending" d={cross} />
      </g>
    )
  }
  if (point.kind === 'recommended') return <path class="point-recommended" d={star(x, y, 9)} />
  return (
    <circle
      class={color === undefined ? 'point-plain' : 'point-evaluated'}
      cx={x}
      cy={y}
      r={r}
      fill={color}
    />
  )
}

/** A star with five points, as a path. */
export function star(x: number, y: number, r: number): string {
  const corners = Array.from({ length: 10 }, (_, i) => {
    const [angle, radius] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 === 0 ? r : r * 0.42]
    return `${(x + radius * Math.cos(angle)).toFixed(1)},${(y + radius * Math.sin(angle)).toFixed(1)}`
  })
  return `M${corners.join('L')}Z`
}

export interface LegendProps {
  ramp: Ramp
  /** From bad to good, or from certain to uncertain. */
  from: string
  to: string
  label: string
  width: number
}

/** The colors of a ramp with its ends in numbers. */
export function Legend({ ramp, from, to, label, width }: LegendProps) {
  const bar = Math.min(180, Math.max(80, width * 0.4))
  const steps = 24
  return (
    <svg
      data-chart
      class="legend"
      width={width}
      height={20}
      role="img"
      aria-label={`${label}: from ${from} to ${to}`}
    >
      <text x={width / 2 - bar / 2 - 6} y={13} text-anchor="end">
        {from}
      </text>
      {Array.from({ length: steps }, (_, i) => (
        <rect
          key={i}
          x={width / 2 - bar / 2 + (bar * i) / steps}
          y={5}
          width={bar / steps + 0.5}
          height={9}
          fill={css(ramp((i + 0.5) / steps))}
        />
      ))}
      <text x={width / 2 + bar / 2 + 6} y={13} text-anchor="start">
        {to}
      </text>
    </svg>
  )
}
