// What the model expects along one parameter: a line with its band, or a point with its interval for each category.

import { useMemo } from 'preact/hooks'
import { AxisX, AxisY, framed, labelRoom } from './axes.tsx'
import { Drawing } from './drawing.tsx'
import { type MapAxis, type MapPoint, star } from './heat_map.tsx'
import { useCursor } from './hooks.ts'
import type { Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import { around } from './scale.ts'

export interface CurveProps {
  label: string
  x: MapAxis
  /** What is drawn upwards. */
  unit: string
  mean: number[]
  low: number[]
  high: number[]
  /** Points with their values; `y` is not used. */
  points: MapPoint[]
  read: (i: number) => string[]
  onPick?: ((i: number) => void) | undefined
  /** The ends of the axis upwards, where several curves share it. */
  domain?: [number, number] | undefined
  width: number
}

export function Curve({ label, x, unit, mean, low, high, points, read, onPick, domain, width }: CurveProps) {
  const tall = Math.round(Math.min(340, Math.max(220, width * 0.5)))
  const scale = useMemo(
    () => around(domain ?? [...low, ...high, ...points.map((p) => p.value)]),
    [low, high, points, domain],
  )
  const yTicks = scale.ticks(5)
  const frame = framed(width, tall, { left: labelRoom(yTicks), bottom: 42 })
  const px = (place: number): number => frame.left + place * frame.width
  const py = (value: number): number => frame.top + (1 - scale.place(value)) * frame.height
  const marks: Mark[] = useMemo(
    () => mean.map((m, i) => ({ x: px(x.places[i] ?? 0), y: py(m) })),
    [mean, x, scale, width],
  )
  const cursor = useCursor(marks, Infinity)
  const at = marks[cursor.active] ?? null
  const path = (ys: number[]): string =>
    ys.map((v, i) => `${px(x.places[i] ?? 0).toFixed(1)},${py(v).toFixed(1)}`).join('L')
  const band = `M${path(high)}L${low
    .map((v, i) => `${px(x.places[i] ?? 0).toFixed(1)},${py(v).toFixed(1)}`)
    .reverse()
    .join('L')}Z`
  const pick = (): void => {
    if (onPick && cursor.active >= 0) onPick(cursor.active)
  }
  return (
    <div class="chart-box">
      <Drawing
        width={width}
        height={tall}
        kind="curve"
        label={`${label}. Arrow keys read it out${onPick ? ', Enter takes the place' : ''}.`}
        class={onPick ? 'pickable' : undefined}
        {...cursor.handlers}
        onKeyDown={(event) => (event.key === 'Enter' ? pick() : cursor.handlers.onKeyDown(event))}
        onClick={pick}
      >
        <AxisY frame={frame} ticks={yTicks} label={unit} grid />
        <AxisX
          frame={frame}
          ticks={x.ticks(Math.max(2, Math.floor(frame.width / 70)))}
          label={x.name}
          bands={x.bands}
        />
        <g class={points.length > 300 ? 'many' : undefined}>
          {points.map((point) =>
            point.kind === 'evaluated' && point.value !== undefined ? (
              <circle key={point.number} class="point-plain" cx={px(point.x)} cy={py(point.value)} r={2.5} />
            ) : null,
          )}
        </g>
        {x.bands ? (
          mean.map((_, i) => (
            <g key={i}>
              <line
                class="interval"
                x1={marks[i]?.x}
                x2={marks[i]?.x}
                y1={py(low[i] ?? 0)}
                y2={py(high[i] ?? 0)}
              />
              <circle class="estimate" cx={marks[i]?.x} cy={marks[i]?.y} r={4.5} />
            </g>
          ))
        ) : (
          <>
            <path class="band" d={band} />
            <path class="curve" d={`M${path(mean)}`} />
          </>
        )}
        {points.map((point) => {
          if (point.kind === 'pending')
            return (
              <path
                key={point.number}
                class="point-tick"
                d={`M${px(point.x)},${frame.top + frame.height}v-9`}
              />
            )
          if (point.kind === 'recommended' && point.value !== undefined)
            return <path key="best" class="point-recommended" d={star(px(point.x), py(point.value), 9)} />
          return null
        })}
        {at === null ? null : (
          <path data-cursor class="crosshair" d={`M${at.x},${frame.top}V${frame.top + frame.height}`} />
        )}
      </Drawing>
      <Readout at={at} width={width} lines={cursor.active < 0 ? [] : read(cursor.active)} />
    </div>
  )
}
