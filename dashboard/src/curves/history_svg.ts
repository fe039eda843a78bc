import { color } from '../app/theme.ts'
import { linear, log, time } from '../charts/scale.ts'
import { count } from '../words/numbers.ts'
import type { HistoryPlotProps } from './history_plot.tsx'
import { limitsOf, rightEnd } from './series.ts'

const [WIDTH, HEIGHT] = [960, 480]
const FRAME = { left: 70, top: 20, width: WIDTH - 90, height: HEIGHT - 75 }

/** The same picture as a drawing of its own, for files: the canvas of the page has only points. */
export function historySvg({ label, series, against, log: isLog, range, planned }: HistoryPlotProps): string {
  const last = Math.max(series.x.at(-1) ?? 1, 1)
  const values = range ?? widened(limitsOf(series, isLog))
  const xs = against === 'time' ? time(0, last) : linear(0, rightEnd(last, planned), { whole: true })
  const room = (values[1] - values[0]) * 0.05
  const ys = isLog ? log(values[0], values[1]) : linear(values[0] - room, values[1] + room)
  const px = (x: number) => (FRAME.left + xs.place(x) * FRAME.width).toFixed(1)
  const py = (y: number) => (FRAME.top + (1 - ys.place(y)) * FRAME.height).toFixed(1)
  const bottom = FRAME.top + FRAME.height
  const [ink, soft, line] = [color('--ink'), color('--ink-soft'), color('--line')]
  const parts: string[] = []
  for (const tick of ys.ticks(6)) {
    const y = (FRAME.top + (1 - tick.place) * FRAME.height).toFixed(1)
    parts.push(`<path d="M${FRAME.left} ${y}h${FRAME.width}" stroke="${line}"/>`)
    parts.push(
      `<text x="${FRAME.left - 8}" y="${y}" text-anchor="end" dominant-baseline="central">${escaped(tick.label)}</text>`,
    )
  }
  for (const tick of xs.ticks(8)) {
    const x = (FRAME.left + tick.place * FRAME.width).toFixed(1)
    parts.push(`<text x="${x}" y="${bottom + 20}" text-anchor="middle">${escaped(tick.label)}</text>`)
  }
  const shown = (y: number) => (ys.place(y) >= 0 && ys.place(y) <= 1 ? y : null)
  const band = series.x.flatMap((x, i) => {
    const [low, high] = [series.low[i] ?? null, series.high[i] ?? null]
    return low === null || high === null || (isLog && low <= 0) ? [] : [{ x, low, high }]
  })
  if (band.length > 1) {
    const there = band.map((row) => `${px(row.x)} ${py(row.high)}`)
    const back = [...band].reverse().map((row) => `${px(row.x)} ${py(row.low)}`)
    parts.push(
      `<path d="M${[...there, ...back].join('L')}Z" fill="${color('--good')}" fill-opacity="0.2" clip-path="url(#frame)"/>`,
    )
  }
  const dots = series.x.flatMap((x, i) => {
    const y = series.value[i] ?? null
    return y === null || shown(y) === null ? [] : [`M${px(x)} ${py(y)}h0`]
  })
  parts.push(
    `<path d="${dots.join('')}" stroke="${color('--complete')}" stroke-width="4.5" stroke-linecap="round"/>`,
  )
  const squares = series.failed.map(({ x }) => `M${px(x)} ${bottom - 9}h0`)
  parts.push(
    `<path d="${squares.join('')}" stroke="${color('--failed')}" stroke-width="4" stroke-linecap="square"/>`,
  )
  let step = ''
  series.x.forEach((x, i) => {
    const y = series.best[i] ?? null
    if (y !== null) step += step === '' ? `M${px(x)} ${py(y)}` : `H${px(x)}V${py(y)}`
  })
  parts.push(`<path d="${step}" fill="none" stroke="${ink}" stroke-width="1.75"/>`)
  if (planned !== null && against === 'trial' && xs.place(planned) <= 1) {
    parts.push(
      `<path d="M${px(planned)} ${FRAME.top}v${FRAME.height}" stroke="${soft}" stroke-dasharray="4 4"/>`,
    )
    parts.push(
      `<text x="${Number(px(planned)) - 6}" y="${FRAME.top + 12}" text-anchor="end">budget: ${count(planned)}</text>`,
    )
  }
  const name = against === 'trial' ? 'Trials, in the order in which they ended' : 'Time since the study began'
  parts.push(
    `<text x="${FRAME.left + FRAME.width / 2}" y="${bottom + 44}" text-anchor="middle">${name}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="${soft}"><title>${escaped(label)}</title><clipPath id="frame"><rect x="${FRAME.left - 5}" y="${FRAME.top - 5}" width="${FRAME.width + 10}" height="${FRAME.height + 10}"/></clipPath>${parts.join('')}</svg>`
}

/** A range of one value gets some room. */
const widened = ([low, high]: [number, number]): [number, number] =>
  low === high ? [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1] : [low, high]

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
