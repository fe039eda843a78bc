import { useMemo } from 'preact/hooks'
import type { Direction, Params, Study, SurfaceMap, Trial, Value } from '../api/types.ts'
import { css, deviations, goodness, type Ramp, values } from '../charts/color.ts'
import { Curve } from '../charts/curve.tsx'
import { uncertain } from '../charts/digits.ts'
import { Figure, type Sheet } from '../charts/figure.tsx'
import { HeatMap, Legend } from '../charts/heat_map.tsx'
import { useDark } from '../charts/hooks.ts'
import { Sized } from '../charts/sized.tsx'
import { number, valueText } from '../words/numbers.ts'
import {
  axesOf,
  bestCell,
  colorRange,
  drawn,
  feasible,
  isElsewhere,
  nearestPlace,
  paramsAt,
  placeText,
  pointsOf,
} from './map_model.ts'

/** How many deviations an interval of 95 % goes to either side. */
const SPREAD = 1.96

interface MapFigureProps {
  study: Study
  /** One a panel; all of the same parameters. */
  maps: SurfaceMap[]
  titles: string[]
  /** The value of the parameter of the panels in each. */
  choices: (Value | undefined)[]
  /** The parameter of the panels; empty without panels. */
  panel: string
  /** Trials whose parameters are known, to tell points of different panels apart. */
  known: Trial[] | undefined
  /** Whether the reader has fixed other parameters. */
  moved: boolean
  onPick: ((point: Params) => void) | undefined
}

/** Means and deviations side by side, or a curve with its band; with panels, a row each. */
export function MapFigure({ study, maps, titles, choices, panel, known, moved, onPick }: MapFigureProps) {
  const dark = useDark()
  const { direction } = study
  const first = maps[0] as SurfaceMap
  const means = useMemo(() => maps.flatMap((map) => feasible(map.mean, map.infeasible)), [maps])
  const range = useMemo(() => colorRange(means, direction), [means, direction])
  const most = useMemo(() => Math.max(...maps.flatMap((map) => map.sd)), [maps])
  const share = useMemo(() => goodness(range.low, range.high, direction), [range, direction])
  const sdShare = useMemo(() => (sd: number) => (most > 0 ? sd / most : 0), [most])
  const sdRamp = useMemo(() => deviations(dark), [dark])
  const [bad, good] = direction === 'minimize' ? [range.high, range.low] : [range.low, range.high]
  const pointColor = useMemo(() => (value: number) => css(values(share(value))), [share])
  const belongs = useMemo(() => membership(panel, maps, choices, known), [panel, maps, choices, known])
  const sheet = () => sheetOf(maps, titles, choices, panel)
  const name = [study.name, 'map', first.x.name, first.y?.name].filter(Boolean).join('-')
  const ends = `${range.cut ? 'beyond ' : ''}${number(bad, 3)}`
  return (
    <Figure
      name={name}
      title={`${first.x.name}${first.y ? ` and ${first.y.name}` : ''}, by the model`}
      summary={summary(maps, titles, study, belongs, moved)}
      sheet={sheet}
    >
      {first.y ? (
        maps.map((map, i) => (
          <div class="chart-panels" key={titles[i] ?? i}>
            <Surface
              map={map}
              direction={direction}
              title={`Expected value${titles[i] ? `, ${titles[i]}` : ''}`}
              heights="mean"
              share={share}
              ramp={values}
              color={pointColor}
              belongs={belongs}
              onPick={onPick}
              legend={{ from: ends, to: number(good, 3), label: 'Expected value, from bad to good' }}
            />
            <Surface
              map={map}
              direction={direction}
              title={`Deviation${titles[i] ? `, ${titles[i]}` : ''}`}
              heights="sd"
              share={sdShare}
              ramp={sdRamp}
              belongs={belongs}
              onPick={onPick}
              legend={{
                from: '0',
                to: number(most, 3),
                label: 'Standard deviation, from certain to uncertain',
              }}
            />
          </div>
        ))
      ) : (
        <div class="chart-panels">
          {maps.map((map, i) => (
            <CurvePanel
              key={titles[i] ?? i}
              map={map}
              direction={direction}
              title={titles[i] ?? ''}
              maps={maps}
              belongs={belongs}
              onPick={onPick}
            />
          ))}
        </div>
      )}
    </Figure>
  )
}

interface SurfaceProps {
  map: SurfaceMap
  direction: Direction
  title: string
  heights: 'mean' | 'sd'
  share: (height: number) => number
  ramp: Ramp
  color?: (value: number) => string
  belongs: (map: SurfaceMap) => ((number: number) => boolean) | undefined
  onPick: ((point: Params) => void) | undefined
  legend: { from: string; to: string; label: string }
}

function Surface({
  map,
  direction,
  title,
  heights,
  share,
  ramp,
  color,
  belongs,
  onPick,
  legend,
}: SurfaceProps) {
  const [x, y] = useMemo(() => [drawn(map.x), map.y && drawn(map.y, true)], [map])
  const height = useMemo(() => feasible(map[heights], map.infeasible), [map, heights])
  const points = useMemo(() => pointsOf(map, x, y, direction, belongs(map)), [map, x, y, direction, belongs])
  if (!y) return null
  const columns = map.x.values.length
  const read = (column: number, row: number) => {
    const cell = row * columns + column
    const ruled = map.infeasible.includes(cell)
    return [
      placeText(map, cell),
      ruled ? 'ruled out by a constraint' : `expected ${uncertain(map.mean[cell] ?? 0, map.sd[cell] ?? 0)}`,
    ]
  }
  const pick = onPick && ((column: number, row: number) => onPick(paramsAt(map, column, row)))
  return (
    <div>
      <h3>{title}</h3>
      <Sized>
        {(width) => (
          <>
            <HeatMap
              label={`${title} over ${x.name} and ${y.name}`}
              x={x}
              y={y}
              height={height}
              share={share}
              ramp={ramp}
              points={points}
              pointColor={color}
              read={read}
              onPick={pick}
              width={width}
              contours={heights === 'mean'}
            />
            <Legend ramp={ramp} {...legend} width={width} />
          </>
        )}
      </Sized>
    </div>
  )
}

interface CurvePanelProps {
  map: SurfaceMap
  direction: Direction
  title: string
  maps: SurfaceMap[]
  belongs: (map: SurfaceMap) => ((number: number) => boolean) | undefined
  onPick: ((point: Params) => void) | undefined
}

function CurvePanel({ map, direction, title, maps, belongs, onPick }: CurvePanelProps) {
  const x = useMemo(() => drawn(map.x), [map])
  const low = useMemo(() => map.mean.map((mean, i) => mean - SPREAD * (map.sd[i] ?? 0)), [map])
  const high = useMemo(() => map.mean.map((mean, i) => mean + SPREAD * (map.sd[i] ?? 0)), [map])
  const points = useMemo(
    () =>
      pointsOf(map, x, null, direction, belongs(map)).map((point) =>
        point.kind === 'recommended'
          ? { ...point, value: map.mean[nearestPlace(x.places, point.x)] ?? 0 }
          : point,
      ),
    [map, x, direction, belongs],
  )
  const domain = useMemo(() => sharedDomain(maps), [maps])
  const read = (i: number) => [placeText(map, i), `expected ${uncertain(map.mean[i] ?? 0, map.sd[i] ?? 0)}`]
  return (
    <div>
      {title && <h3>{title}</h3>}
      <Sized>
        {(width) => (
          <Curve
            label={`Expected value over ${x.name}${title ? `, ${title}` : ''}`}
            x={x}
            unit="Expected value, with its 95 % interval"
            mean={map.mean}
            low={low}
            high={high}
            points={points}
            read={read}
            onPick={onPick && ((i) => onPick(paramsAt(map, i, 0)))}
            domain={domain}
            width={width}
          />
        )}
      </Sized>
    </div>
  )
}

/** The ends of the values that all curves are drawn between: the bands, and the values unless they are far beyond. */
function sharedDomain(maps: SurfaceMap[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const map of maps) {
    map.mean.forEach((mean, i) => {
      const spread = SPREAD * (map.sd[i] ?? 0)
      low = Math.min(low, mean - spread)
      high = Math.max(high, mean + spread)
    })
  }
  const room = high - low
  for (const map of maps) {
    for (const [, , , value] of map.evaluated) {
      if (value > low - room / 2 && value < low) low = value
      if (value < high + room / 2 && value > high) high = value
    }
  }
  return [low, high]
}

/** As many of the others as a sentence has room for. */
const NAMED = 7

function listedOthers(others: [string, Value][]): string {
  const named = others.slice(0, NAMED).map(([name, value]) => `${name} ${valueText(value)}`)
  return `${named.join(', ')}${others.length > NAMED ? ` and ${others.length - NAMED} others at the best` : ''}`
}

/** Which trials belong to a map of a panel, as far as their parameters are known. */
function membership(
  panel: string,
  maps: SurfaceMap[],
  choices: (Value | undefined)[],
  known: Trial[] | undefined,
) {
  const params = new Map(known?.map((trial) => [trial.number, trial.params]) ?? [])
  return (map: SurfaceMap): ((number: number) => boolean) | undefined => {
    const value = choices[maps.indexOf(map)]
    if (value === undefined || params.size === 0) return undefined
    return (number) => params.get(number)?.[panel] === value
  }
}

/** Why the star is elsewhere than the best of the map. */
function awayText(moved: boolean, averaged: boolean, value: string): string {
  if (moved)
    return 'It has its own values of the parameters that you fixed, so the best of this map may be elsewhere. '
  return averaged
    ? 'It is elsewhere than the best of the map, which averages over the other parameters. '
    : `The model expects ${value} at a point that nobody has evaluated yet. `
}

function summary(
  maps: SurfaceMap[],
  titles: string[],
  study: Study,
  belongs: SurfaceProps['belongs'],
  moved: boolean,
) {
  const best = maps
    .map((map, i) => ({ map, title: titles[i] ?? '', cell: bestCell(map, study.direction) }))
    .filter(({ cell }) => cell >= 0)
    .reduce<{ map: SurfaceMap; title: string; cell: number } | null>((than, one) => {
      const [a, b] = [one.map.mean[one.cell] ?? 0, than?.map.mean[than.cell] ?? 0]
      return than === null || (study.direction === 'minimize' ? a < b : a > b) ? one : than
    }, null)
  const first = maps[0] as SurfaceMap
  const others = Object.entries(first.fixed).filter(
    ([name]) =>
      name !== first.x.name &&
      name !== first.y?.name &&
      !titles.some((title) => title.startsWith(`${name} `)),
  )
  const where = others.length > 0 ? `with ${listedOthers(others)}` : 'over all values of the others'
  const alone = (first.y ? 2 : 1) + (titles.some(Boolean) ? 1 : 0) >= axesOf(study.space).length
  const star = best?.map.recommended?.[0]
  const away =
    best !== null &&
    star !== undefined &&
    (belongs(best.map)?.(star) === false || isElsewhere(best.map, best.cell))
  const averaged = !alone && others.length === 0
  const banded = [first.x, first.y].some((axis) => axis && drawn(axis).bands)
  const ruled = maps.some((map) => map.infeasible.length > 0)
  return (
    <>
      {best && (
        <>
          The model expects the {study.direction === 'minimize' ? 'smallest' : 'largest'} value,{' '}
          {uncertain(best.map.mean[best.cell] ?? 0, best.map.sd[best.cell] ?? 0)}, at{' '}
          {placeText(best.map, best.cell)}
          {best.title && `, ${best.title}`}
          {alone ? '' : `, ${where}`}.{' '}
        </>
      )}
      {first.y
        ? 'Good is yellow. Discs: evaluated points, in the color of their value. Crosses: trials that wait or run. '
        : 'Dots: evaluated points. Ticks at the bottom: trials that wait or run. '}
      {maps.some((map) => map.recommended) &&
        'The star is the recommended point: the best expectation among evaluated points. '}
      {away && best && awayText(moved, averaged, number(best.map.mean[best.cell], 3))}
      {titles.some(Boolean)
        ? 'A panel shows the evaluated points with its value, also those with other values of the other parameters.'
        : alone
          ? ''
          : 'All evaluated points are shown, also those with other values of the other parameters.'}
      {banded &&
        ' Within the band of a category or a whole number, points are shifted so that all can be seen.'}
      {ruled && ' Hatched: ruled out by constraints.'}
    </>
  )
}

function sheetOf(maps: SurfaceMap[], titles: string[], choices: (Value | undefined)[], panel: string): Sheet {
  const first = maps[0] as SurfaceMap
  const names = [first.x.name, ...(first.y ? [first.y.name] : [])]
  const rows = maps.flatMap((map, k) =>
    map.mean.map((mean, cell) => {
      const columns = map.x.values.length
      const at = [
        map.x.values[cell % columns] ?? null,
        ...(map.y ? [map.y.values[Math.floor(cell / columns)] ?? null] : []),
      ]
      const of = panel && titles[k] ? [choices[k] ?? null] : []
      return [...of, ...at, mean, map.sd[cell] ?? null, !map.infeasible.includes(cell)]
    }),
  )
  return {
    columns: [...(panel && titles[0] ? [panel] : []), ...names, 'mean', 'deviation', 'feasible'],
    rows,
  }
}
