// Axes, drawn with as little ink as says where one is.

import type { Tick } from './ticks.ts'

export interface Frame {
  left: number
  top: number
  width: number
  height: number
}

/** The part of a chart inside its axes. */
export function framed(
  width: number,
  height: number,
  room: { left?: number; right?: number; top?: number; bottom?: number } = {},
): Frame {
  const { left = 52, right = 12, top = 24, bottom = 40 } = room
  return { left, top, width: Math.max(10, width - left - right), height: Math.max(10, height - top - bottom) }
}

/** The room that labels need at the left, in pixels. */
export function labelRoom(ticks: Tick[], most = 140): number {
  return Math.min(most, 14 + 6.6 * Math.max(3, ...ticks.map((tick) => tick.label.length)))
}

/** As many characters as fit, the last one an ellipsis if some are missing. */
export function fitted(text: string, pixels: number): string {
  const most = Math.max(1, Math.floor(pixels / 6.4))
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`
}

export interface AxisProps {
  frame: Frame
  ticks: Tick[]
  /** What it measures. */
  label: string
  /** Whether lines go through the whole chart. */
  grid?: boolean
  /** Whether labels stand in bands, and are cut to their width. */
  bands?: boolean
}

export function AxisX({ frame, ticks, label, grid = false, bands = false }: AxisProps) {
  const bottom = frame.top + frame.height
  const room = bands ? frame.width / Math.max(1, ticks.length) : 120
  return (
    <g class="axis">
      {ticks.map(({ place, label: text }) => {
        const x = frame.left + place * frame.width
        const anchor = bands ? 'middle' : place < 0.02 ? 'start' : place > 0.98 ? 'end' : 'middle'
        return (
          <g key={`${place}${text}`}>
            {bands ? null : (
              <line
                class={grid ? 'grid' : 'tick'}
                x1={x}
                x2={x}
                y1={grid ? frame.top : bottom}
                y2={bottom + 4}
              />
            )}
            <text x={x} y={bottom + 16} text-anchor={anchor}>
              {fitted(text, room)}
            </text>
          </g>
        )
      })}
      <line class="rule" x1={frame.left} x2={frame.left + frame.width} y1={bottom} y2={bottom} />
      <text class="axis-label" x={frame.left + frame.width / 2} y={bottom + 33} text-anchor="middle">
        {fitted(label, frame.width)}
      </text>
    </g>
  )
}

/** Its name stands above it, where it can be read without turning the head. */
export function AxisY({ frame, ticks, label, grid = false, bands = false }: AxisProps) {
  return (
    <g class="axis">
      {ticks.map(({ place, label: text }) => {
        const y = frame.top + (1 - place) * frame.height
        return (
          <g key={`${place}${text}`}>
            {bands ? null : (
              <line
                class={grid ? 'grid' : 'tick'}
                x1={frame.left - 4}
                x2={grid ? frame.left + frame.width : frame.left}
                y1={y}
                y2={y}
              />
            )}
            <text x={frame.left - 7} y={y} text-anchor="end" dominant-baseline="central">
              {fitted(text, frame.left - 6)}
            </text>
          </g>
        )
      })}
      {grid ? null : (
        <line class="rule" x1={frame.left} x2={frame.left} y1={frame.top} y2={frame.top + frame.height} />
      )}
      <text class="axis-label" x={2} y={12} text-anchor="start">
        {fitted(label, frame.left + frame.width)}
      </text>
    </g>
  )
}
