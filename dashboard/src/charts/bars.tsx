// Shares as horizontal bars with intervals: one row a name, the label beside its bar.

import { useMemo } from 'preact/hooks'
import { percent } from '../words/numbers.ts'
import { AxisX, fitted, framed } from './axes.tsx'
import { Drawing } from './drawing.tsx'
import { useCursor } from './hooks.ts'
import type { Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import { linearTicks } from './ticks.ts'

export interface Estimate {
  share: number
  low: number
  high: number
}

export interface BarRow {
  name: string
  /** Alone: the dark part. */
  first: Estimate
  /** With interactions: the light part behind it. */
  total: Estimate
}

export interface BarsProps {
  label: string
  rows: BarRow[]
  width: number
}

const ROW = 34

export function Bars({ label, rows, width }: BarsProps) {
  const tall = rows.length * ROW + 24 + 42
  const names = Math.min(width * 0.32, 16 + 7 * Math.max(4, ...rows.map((row) => row.name.length)))
  const frame = framed(width, tall, { left: names, right: 92, top: 20, bottom: 42 })
  const most = Math.max(0.05, ...rows.map((row) => Math.max(row.total.high, row.first.high)))
  const top = most > 0.5 ? 1 : Math.ceil(most * 20) / 20
  const px = (share: number): number => frame.left + (Math.min(top, Math.max(0, share)) / top) * frame.width
  const middle = (i: number): number => frame.top + (i + 0.5) * ROW
  const marks: Mark[] = useMemo(
    () => rows.map((row, i) => ({ x: px(row.total.share), y: middle(i) })),
    [rows, width],
  )
  const cursor = useCursor(marks, Infinity)
  const row = rows[cursor.active]
  const ticks = linearTicks(0, top, Math.max(2, Math.floor(frame.width / 90))).map((tick) => ({
    place: tick.place,
    label: percent(tick.place * top),
  }))
  return (
    <div class="chart-box">
      <Drawing
        width={width}
        height={tall}
        kind="bar chart"
        label={`${label}. Arrow keys read it out.`}
        {...cursor.handlers}
      >
        <AxisX frame={frame} ticks={ticks} label="Share of the variation" grid />
        {rows.map(({ name, first, total }, i) => (
          <g key={name} class={cursor.active === i ? 'active' : undefined}>
            <text
              class="bar-name"
              x={frame.left - 8}
              y={middle(i)}
              text-anchor="end"
              dominant-baseline="central"
            >
              {fitted(name, names - 10)}
            </text>
            <rect
              class="bar-total"
              x={frame.left}
              y={middle(i) - 9}
              width={px(total.share) - frame.left}
              height={18}
            />
            <rect
              class="bar-first"
              x={frame.left}
              y={middle(i) - 9}
              width={px(first.share) - frame.left}
              height={18}
            />
            <path class="bar-whisker" d={whisker(px(first.low), px(first.high), middle(i) - 3)} />
            <path class="bar-whisker" d={whisker(px(total.low), px(total.high), middle(i) + 4)} />
            <text
              class="bar-value"
              x={Math.max(px(total.high), px(total.share)) + 6}
              y={middle(i)}
              dominant-baseline="central"
            >
              {percent(first.share)} · {percent(total.share)}
            </text>
          </g>
        ))}
      </Drawing>
      <Readout
        at={row ? { x: Math.min(px(row.total.share), width * 0.6), y: middle(cursor.active) + 12 } : null}
        width={width}
        lines={
          row ? [row.name, `alone ${interval(row.first)}`, `with interactions ${interval(row.total)}`] : []
        }
      />
    </div>
  )
}

function whisker(a: number, b: number, y: number): string {
  return `M${a},${y}H${b}M${a},${y - 2.5}v5M${b},${y - 2.5}v5`
}

/** A share with its 90 % interval in words. */
export function interval({ share, low, high }: Estimate): string {
  return `${percent(share)} (${percent(low)} to ${percent(high)})`
}
