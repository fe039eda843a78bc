// Cells of a heat map: their edges, and their colors as pixels.

import type { Ramp } from './color.ts'

/** The edges between cells around places on an axis: half way to the neighbors, and 0 and 1 at the ends. */
export function edges(places: readonly number[]): number[] {
  const inner = places.slice(1).map((place, i) => (place + (places[i] as number)) / 2)
  return [0, ...inner, 1]
}

/** For each of `n` pixels along an axis the cell in which its middle is. */
export function cellOf(places: readonly number[], n: number): number[] {
  const inner = edges(places).slice(1, -1)
  let cell = 0
  return Array.from({ length: n }, (_, i) => {
    const middle = (i + 0.5) / n
    while (cell < inner.length && middle >= (inner[cell] as number)) cell += 1
    return cell
  })
}

export interface Cells {
  readonly x: readonly number[]
  readonly y: readonly number[]
  /** Row by row from the lowest y; NaN where there is nothing. */
  readonly height: readonly number[]
}

/** The cells as red, green, blue and opacity of `width` times `height` pixels, the highest row first, as a canvas wants them. */
export function pixels(
  cells: Cells,
  width: number,
  height: number,
  share: (height: number) => number,
  ramp: Ramp,
): Uint8ClampedArray {
  const columns = cellOf(cells.x, width)
  const rows = cellOf(cells.y, height)
  const colors = cells.height.map((h) => (Number.isFinite(h) ? ramp(share(h)) : null))
  const out = new Uint8ClampedArray(width * height * 4)
  for (let py = 0; py < height; py += 1) {
    const row = (rows[height - 1 - py] as number) * cells.x.length
    for (let px = 0; px < width; px += 1) {
      const color = colors[row + (columns[px] as number)]
      if (!color) continue
      const at = (py * width + px) * 4
      out[at] = color[0]
      out[at + 1] = color[1]
      out[at + 2] = color[2]
      out[at + 3] = 255
    }
  }
  return out
}
