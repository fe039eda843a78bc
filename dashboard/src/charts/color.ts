// Colors of numbers: maps whose lightness rises evenly, so that they survive color blindness and grey print.

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [number, number, number]

/** Viridis (van der Walt & Smith 2015, CC0), at 9 places from dark to light. */
const VIRIDIS: readonly Rgb[] = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
]

/** A single hue (blue) from almost paper to saturated. */
const BLUES_LIGHT: readonly Rgb[] = [
  [244, 247, 251],
  [214, 226, 240],
  [172, 200, 226],
  [120, 168, 207],
  [70, 130, 180],
  [36, 92, 143],
  [15, 52, 96],
]

/** The same on a dark ground: uncertain is bright. */
const BLUES_DARK: readonly Rgb[] = [
  [22, 27, 34],
  [25, 45, 68],
  [31, 68, 106],
  [47, 99, 146],
  [84, 139, 184],
  [141, 183, 216],
  [212, 230, 244],
]

function between(table: readonly Rgb[], share: number): Rgb {
  const at = Math.min(1, Math.max(0, share)) * (table.length - 1)
  const i = Math.min(table.length - 2, Math.floor(at))
  const t = at - i
  const [a, b] = [table[i] as Rgb, table[i + 1] as Rgb]
  const mix = (k: 0 | 1 | 2): number => Math.round(a[k] + (b[k] - a[k]) * t)
  return [mix(0), mix(1), mix(2)]
}

/** From a share (0 to 1) to a color. */
export type Ramp = (share: number) => Rgb

/** For values: 1 is good, and yellow; 0 is bad, and dark violet. */
export const values: Ramp = (share) => between(VIRIDIS, share)

/** For deviations: 1 is uncertain. */
export function deviations(dark: boolean): Ramp {
  return (share) => between(dark ? BLUES_DARK : BLUES_LIGHT, share)
}

/** The share of a value between bad (0) and good (1), in either direction. */
export function goodness(
  low: number,
  high: number,
  direction: 'minimize' | 'maximize',
): (value: number) => number {
  const span = high - low
  return (value) => {
    if (!(span > 0)) return 0.5
    const share = (value - low) / span
    return direction === 'minimize' ? 1 - share : share
  }
}

/** As CSS writes it. */
export function css([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`
}

/** Relative luminance (WCAG 2.1), from 0 to 1. */
export function luminance([r, g, b]: Rgb): number {
  const channel = (x: number): number =>
    x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
}

/** Colors of a few studies or workers that color-blind people tell apart (Okabe & Ito 2008), readable on light and on dark. */
export const series: readonly string[] = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#a6761d',
  '#56b4e9',
  '#e69f00',
  '#7570b3',
]
