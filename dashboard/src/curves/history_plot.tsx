import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { color, colors } from '../app/theme.ts'
import { logTicks, timeTicks } from '../charts/ticks.ts'
import { count, number } from '../words/numbers.ts'
import { duration } from '../words/times.ts'
import { type Against, type HistorySeries, limitsOf, rightEnd } from './series.ts'

export interface HistoryPlotProps {
  label: string
  series: HistorySeries
  against: Against
  log: boolean
  /** Limits of the values; all of them without. */
  range: [number, number] | null
  planned: number | null
  /** Why trials failed, by their numbers, as far as that is known. */
  reasons?: Map<number, string>
  /** Opens a trial. */
  choose: (trial: number) => void
}

/** Pixels from the pointer within which a trial is meant. */
const REACH = 14
/** Up to so many results there is room for larger dots. */
const FEW = 200
const FONT = '12px system-ui, sans-serif'

/** A history as curves. Dragging zooms, a double click shows all; arrow keys go from result to result, Enter opens the trial. */
export function HistoryPlot(props: HistoryPlotProps) {
  const { series, against, log, range, planned, label } = props
  const root = useRef<HTMLDivElement>(null)
  const readout = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef(props)
  latest.current = props
  const chosen = useRef(-1)
  const data = useMemo<uPlot.AlignedData>(
    () => [series.x, series.value, series.best, series.high, series.low],
    [series],
  )
  const scheme = colors.value

  // Before the browser paints: what is printed has other colors.
  useLayoutEffect(() => {
    const host = root.current
    if (!host) return
    const read = (self: uPlot, i: number) => {
      chosen.current = i
      show(self, readout.current, latest.current, i)
      self.over.style.cursor = i < 0 ? 'crosshair' : 'pointer'
    }
    const made = new uPlot(
      options(
        latest,
        () => host.clientWidth,
        read,
        () => chosen.current,
      ),
      data,
      host,
    )
    plot.current = made
    const click = () => {
      const trial = latest.current.series.number[chosen.current]
      if (trial !== null && trial !== undefined) latest.current.choose(trial)
    }
    made.over.addEventListener('click', click)
    const observer = new ResizeObserver(() =>
      made.setSize({ width: host.clientWidth, height: height(host.clientWidth) }),
    )
    observer.observe(host)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
    // Only what shapes axes makes a new plot: results only change its data.
  }, [against, log, scheme, series.x.length > FEW])

  useEffect(() => {
    const made = plot.current
    if (!made) return
    // A reader who has zoomed stays where they are.
    made.setData(data, !zoomed(made, latest.current))
    made.redraw(false)
  }, [data, planned, range?.[0], range?.[1]])

  const keys = (event: KeyboardEvent) => {
    const made = plot.current
    if (!made) return
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const at = next(series, chosen.current, step)
      chosen.current = at
      show(made, readout.current, latest.current, at)
      made.redraw(false)
    } else if (event.key === 'Enter') {
      const trial = series.number[chosen.current]
      if (trial !== null && trial !== undefined) props.choose(trial)
    }
  }
  return (
    <div class="plot">
      <div
        class="plot-canvas"
        ref={root}
        role="application"
        aria-roledescription="line chart"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys read the results.
        tabIndex={0}
        aria-label={`${label}. Arrow keys go from result to result, Enter opens the trial.`}
        onKeyDown={keys}
      />
      <div class="plot-readout" ref={readout} aria-live="polite" />
    </div>
  )
}

const height = (width: number): number => Math.round(Math.min(460, Math.max(280, width * 0.42)))

/** The next result in a direction; the last one to begin with. */
function next(series: HistorySeries, from: number, step: number): number {
  let i = from < 0 ? (step > 0 ? -1 : series.x.length) : from
  do i += step
  while (i >= 0 && i < series.x.length && series.number[i] === null)
  return i >= 0 && i < series.x.length ? i : from
}

/** Limits that a reader has chosen by dragging, of which the plot's data know nothing. */
const zooms = new WeakSet<uPlot>()
const zoomed = (plot: uPlot, _: HistoryPlotProps): boolean => zooms.has(plot)

function options(
  latest: { current: HistoryPlotProps },
  width: () => number,
  read: (self: uPlot, i: number) => void,
  chosen: () => number,
): uPlot.Options {
  const { against, log } = latest.current
  const [ink, line, complete, accent] = [
    color('--ink-soft'),
    color('--line'),
    color('--complete'),
    color('--ink'),
  ]
  const axis = { stroke: ink, font: FONT, grid: { stroke: line, width: 1 }, ticks: { show: false } }
  return {
    width: width(),
    height: height(width()),
    padding: [12, 14, 0, 0],
    legend: { show: false },
    scales: {
      x: {
        time: false,
        range: (self, min, max) => (zooms.has(self) ? [min, max] : limitsOfX(latest.current)),
      },
      y: {
        distr: log ? 3 : 1,
        // The axis of this plot, whatever the next one will have.
        range: () => limitsOfY({ ...latest.current, log }),
      },
    },
    axes: [
      {
        ...axis,
        size: 30,
        gap: 8,
        label:
          against === 'trial' ? 'Trials, in the order in which they ended' : 'Time since the study began',
        labelFont: FONT,
        labelSize: 22,
        space: 70,
        ...(against === 'time'
          ? {
              splits: (_self, _i, min, max) =>
                timeTicks(min, max, 7).map((tick) => min + tick.place * (max - min)),
              values: (_self, splits) => labelsOfTime(splits),
            }
          : {
              incrs: [1, 2, 5]
                .flatMap((n) => [n, n * 10, n * 100, n * 1e3, n * 1e4, n * 1e5])
                .sort((a, b) => a - b),
              values: (_self, splits) => splits.map(count),
            }),
      } as uPlot.Axis,
      {
        ...axis,
        size: (_self: uPlot, values: string[] | null) =>
          18 + 7 * Math.max(3, ...(values ?? []).map((text) => text?.length ?? 0)),
        values: (_self: uPlot, splits: number[]) => splits.map((value) => number(value, 6)),
        // uPlot's own marks never end if a logarithmic axis begins at an odd number.
        ...(log
          ? { splits: (_self: uPlot, _axis: number, min: number, max: number) => logMarks(min, max) }
          : {}),
      } as uPlot.Axis,
    ],
    series: [
      {},
      {
        paths: () => null,
        points: {
          show: true,
          size: latest.current.series.x.length > FEW ? 4.5 : 7,
          width: 0,
          fill: complete,
          stroke: complete,
        },
      },
      {
        stroke: accent,
        width: 1.75,
        ...(uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
        points: { show: false },
      },
      { stroke: color('--good'), width: 0, spanGaps: true, points: { show: false } },
      { stroke: color('--good'), width: 0, spanGaps: true, points: { show: false } },
    ],
    bands: [{ series: [3, 4], fill: faded(color('--good'), 0.2) }],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, uni: 10 },
      bind: {
        dblclick: (self) => () => {
          zooms.delete(self)
          self.setScale('x', { min: 0, max: 1 })
          return null
        },
      },
    },
    hooks: {
      setSelect: [
        (self) => {
          if (self.select.width > 0) zooms.add(self)
        },
      ],
      setCursor: [(self) => read(self, nearest(self, latest.current.series))],
      draw: [(self) => marks(self, latest.current, chosen())],
    },
  }
}

function limitsOfX({ series, against, planned }: HistoryPlotProps): [number, number] {
  const last = Math.max(series.x.at(-1) ?? 0, ...series.running.map((trial) => trial.x))
  if (against === 'time') return [0, Math.max(last * 1.02, 1)]
  return [0, rightEnd(last, planned)]
}

function limitsOfY({ series, range, log }: HistoryPlotProps): [number, number] {
  let [low, high] = range ?? limitsOf(series, log)
  // A logarithmic axis without a positive end would have marks without end.
  if (log && !(low > 0 && high < Infinity)) [low, high] = positiveLimits(series)
  if (low === high)
    [low, high] = log
      ? [low / 2, high * 2]
      : [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1]
  if (log && low > 0) {
    const room = (high / low) ** 0.05
    return [low / room, high * room]
  }
  const room = (high - low) * 0.06
  return [low - room, high + room]
}

/** Values at which a logarithmic axis has its marks. */
const logMarks = (min: number, max: number): number[] =>
  logTicks(min, max, 6).map((tick) => Number((min * (max / min) ** tick.place).toPrecision(6)))

function positiveLimits(series: HistorySeries): [number, number] {
  const positive = series.value.filter((value): value is number => value !== null && value > 0)
  if (positive.length === 0) return [1, 10]
  return [positive.reduce((a, b) => Math.min(a, b)), positive.reduce((a, b) => Math.max(a, b))]
}

/** The same unit for all marks of an axis, which the largest decides. */
function labelsOfTime(splits: number[]): string[] {
  const ticks = timeTicks(splits[0] ?? 0, splits.at(-1) ?? 1, splits.length - 1)
  return splits.map((value, i) => ticks[i]?.label ?? duration(value))
}

/** What uPlot does not draw: failures and running trials at the foot, the budget, and the result that is read. */
function marks(self: uPlot, { series, against, planned }: HistoryPlotProps, chosen: number): void {
  const { ctx, bbox } = self
  const ratio = devicePixelRatio
  const foot = bbox.top + bbox.height - FOOT * ratio
  const inside = (x: number) => x >= bbox.left - 1 && x <= bbox.left + bbox.width + 1
  ctx.save()
  ctx.fillStyle = color('--failed')
  for (const { x } of series.failed) {
    const px = self.valToPos(x, 'x', true)
    if (inside(px)) ctx.fillRect(px - 2 * ratio, foot - 2 * ratio, 4 * ratio, 4 * ratio)
  }
  ctx.strokeStyle = color('--running')
  ctx.lineWidth = 1.5 * ratio
  for (const { x } of series.running) {
    const px = self.valToPos(x, 'x', true)
    if (!inside(px)) continue
    ctx.beginPath()
    ctx.arc(px, foot, 3 * ratio, 0, 2 * Math.PI)
    ctx.stroke()
  }
  if (planned !== null && against === 'trial') {
    const px = self.valToPos(planned, 'x', true)
    if (inside(px)) {
      ctx.strokeStyle = color('--ink-soft')
      ctx.fillStyle = color('--ink-soft')
      ctx.lineWidth = ratio
      ctx.setLineDash([4 * ratio, 4 * ratio])
      ctx.beginPath()
      ctx.moveTo(px, bbox.top)
      ctx.lineTo(px, bbox.top + bbox.height)
      ctx.stroke()
      ctx.setLineDash([])
      ctx.font = `${12 * ratio}px system-ui, sans-serif`
      ctx.textAlign = 'right'
      ctx.textBaseline = 'top'
      ctx.fillText(`budget: ${count(planned)}`, px - 6 * ratio, bbox.top + 4 * ratio)
    }
  }
  const [x, value, trial] = [series.x[chosen], series.value[chosen] ?? null, series.number[chosen] ?? null]
  if (x !== undefined && trial !== null) {
    const [px, py] = [self.valToPos(x, 'x', true), value === null ? foot : self.valToPos(value, 'y', true)]
    ctx.strokeStyle = color('--ink')
    ctx.lineWidth = 1.5 * ratio
    ctx.beginPath()
    ctx.arc(px, py, 5 * ratio, 0, 2 * Math.PI)
    ctx.stroke()
  }
  ctx.restore()
}

/** The result under the pointer; -1 if none is near. */
function nearest(self: uPlot, series: HistorySeries): number {
  const { left = -1, top = -1 } = self.cursor
  if (left < 0 || top < 0) return -1
  const [from, to] = [self.posToVal(left - REACH, 'x'), self.posToVal(left + REACH, 'x')]
  let found = -1
  let least = REACH * REACH
  for (let i = lowerBound(series.x, from); i < series.x.length && (series.x[i] ?? 0) <= to; i += 1) {
    if (series.number[i] === null) continue
    const dx = self.valToPos(series.x[i] ?? 0, 'x') - left
    const dy = heightOf(self, series.value[i] ?? null) - top
    if (dx * dx + dy * dy < least) {
      least = dx * dx + dy * dy
      found = i
    }
  }
  return found
}

/** Pixels from the foot of the plot to the marks that have no value. */
const FOOT = 7

/** Where a result is from the top of the plot, in pixels: failures stand at the foot. */
const heightOf = (self: uPlot, value: number | null): number =>
  value === null ? self.over.clientHeight - FOOT : self.valToPos(value, 'y')

function lowerBound(sorted: number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Says what is under the pointer. */
function show(
  self: uPlot,
  readout: HTMLDivElement | null,
  { series, against, reasons }: HistoryPlotProps,
  i: number,
): void {
  if (!readout) return
  const trial = series.number[i] ?? null
  readout.hidden = trial === null
  if (trial === null) return
  const value = series.value[i] ?? null
  const x = series.x[i] ?? 0
  const when = against === 'time' ? ` after ${duration(x)}` : ''
  readout.textContent =
    value === null
      ? `Trial ${trial} failed${when}${reasons?.has(trial) ? `: ${shortened(reasons.get(trial) ?? '')}` : ''}`
      : `Trial ${trial}: ${number(value, 6)}${when} · best so far ${number(series.best[i], 6)}`
  const left = self.over.offsetLeft + self.valToPos(x, 'x')
  const top = self.over.offsetTop + heightOf(self, value)
  const half = readout.offsetWidth / 2
  readout.style.left = `${Math.min(Math.max(left, half + 4), self.width - half - 4)}px`
  readout.style.top = `${top < 46 ? top + 14 : top - 38}px`
}

/** A reason in one line: its first words say most. */
const shortened = (reason: string): string => {
  const line = reason.trim().split('\n')[0] ?? ''
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** A color of the form #rrggbb, see-through. */
const faded = (hex: string, opacity: number): string =>
  `${hex}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0')}`
