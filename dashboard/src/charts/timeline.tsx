// Who evaluated what, and when: a row for each worker, a bar for each evaluation.

import { useMemo } from 'preact/hooks'
import { AxisX, fitted, framed } from './axes.tsx'
import { Drawing } from './drawing.tsx'
import { useCursor } from './hooks.ts'
import { lanes } from './lanes.ts'
import type { Mark } from './nearest.ts'
import { Readout } from './readout.tsx'
import { time } from './scale.ts'

export interface Bar {
  row: number
  begin: number
  /** Now, for what runs. */
  end: number
  kind: 'running' | 'complete' | 'failed' | 'lost'
  text: string[]
}

export interface TimelineProps {
  label: string
  rows: string[]
  /** In the order in which they began. */
  bars: Bar[]
  from: number
  to: number
  width: number
  onOpen?: ((bar: number) => void) | undefined
}

const LANE = 13
const LANES = 6

export function Timeline({ label, rows, bars, from, to, width, onOpen }: TimelineProps) {
  const scale = useMemo(() => time(from, to), [from, to])
  const names = Math.min(width * 0.3, 14 + 6.6 * Math.max(4, ...rows.map((row) => row.length)))
  const placed = useMemo(() => {
    const tops: number[] = []
    const where = new Array<number>(bars.length).fill(0)
    let top = 8
    rows.forEach((_, row) => {
      const own = bars.map((_bar, i) => i).filter((i) => bars[i]?.row === row)
      const { lane, count } = lanes(
        own.map((i) => bars[i] as Bar),
        LANES,
      )
      own.forEach((i, k) => {
        where[i] = top + 4 + (lane[k] ?? 0) * LANE
      })
      tops.push(top)
      top += 8 + count * LANE
    })
    return { tops, where, bottom: top }
  }, [rows, bars])
  const tall = placed.bottom + 42
  const frame = framed(width, tall, { left: names, right: 10, top: 8, bottom: 42 })
  const px = (seconds: number): number =>
    frame.left + Math.min(1, Math.max(0, scale.place(seconds))) * frame.width
  const shown = useMemo(
    () => bars.map((bar, i) => ({ bar, i })).filter(({ bar }) => bar.end >= from && bar.begin <= to),
    [bars, from, to],
  )
  const marks: Mark[] = useMemo(
    () =>
      shown.map(({ bar, i }) => ({
        x: (px(bar.begin) + px(bar.end)) / 2,
        y: (placed.where[i] ?? 0) + LANE / 2,
      })),
    [shown, placed, scale, width],
  )
  const cursor = useCursor(marks, 40)
  const read = shown[cursor.active]
  const path = (kind: Bar['kind']): string =>
    shown
      .filter(({ bar }) => bar.kind === kind)
      .map(({ bar, i }) => {
        const [a, b, y] = [px(bar.begin), px(bar.end), placed.where[i] ?? 0]
        // A hair of paper stays between neighbors; the shortest are still seen.
        const wide = Math.max(1.5, b - a - (b - a > 4 ? 1 : 0))
        const [inset, high] = kind === 'complete' || kind === 'running' ? [1, LANE - 3] : [LANE / 2 - 2, 4]
        return `M${a.toFixed(1)},${(y + inset).toFixed(1)}h${wide.toFixed(1)}v${high}h-${wide.toFixed(1)}Z`
      })
      .join('')
  const open = (): void => {
    if (onOpen && read) onOpen(read.i)
  }
  return (
    <div class="chart-box">
      <Drawing
        width={width}
        height={tall}
        kind="timeline"
        label={`${label}. Arrow keys read it out${onOpen ? ', Enter opens the trial' : ''}.`}
        {...cursor.handlers}
        onKeyDown={(event) => (event.key === 'Enter' ? open() : cursor.handlers.onKeyDown(event))}
        onDblClick={open}
      >
        <AxisX
          frame={frame}
          ticks={scale.ticks(Math.max(2, Math.floor(frame.width / 90)))}
          label="Time since the study began"
          grid
        />
        {rows.map((row, i) => {
          const [a, b] = [placed.tops[i] ?? 0, placed.tops[i + 1] ?? placed.bottom]
          return (
            <g key={`${i} ${row}`} class="axis">
              <text x={frame.left - 8} y={(a + b) / 2} text-anchor="end" dominant-baseline="central">
                {fitted(row, names - 10)}
              </text>
              {i === 0 ? null : <line class="grid" x1={0} x2={width} y1={a} y2={a} />}
            </g>
          )
        })}
        {(['complete', 'running', 'failed', 'lost'] as const).map((kind) => (
          <path key={kind} class={`span-${kind}`} d={path(kind)} />
        ))}
        {read ? (
          <rect
            data-cursor
            class="span-cursor"
            x={px(read.bar.begin) - 1}
            y={placed.where[read.i]}
            width={Math.max(3, px(read.bar.end) - px(read.bar.begin) + 1)}
            height={LANE - 1}
          />
        ) : null}
      </Drawing>
      <Readout at={marks[cursor.active] ?? null} width={width} lines={read?.bar.text ?? []} />
    </div>
  )
}
