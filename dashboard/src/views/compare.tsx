import { useMemo, useState } from 'preact/hooks'
import { studyPath } from '../api/ask.ts'
import type { History, Overview, StudyCard } from '../api/types.ts'
import { useAll } from '../api/use_all.ts'
import { useAsk } from '../api/use_ask.ts'
import { route, setQuery, studyLink } from '../app/router.ts'
import { isStill } from '../app/session.ts'
import { Figure } from '../charts/figure.tsx'
import { Lines, type Series } from '../charts/lines.tsx'
import { around, extent, linear, log, time } from '../charts/scale.ts'
import { Sized } from '../charts/sized.tsx'
import { View } from '../parts/view.tsx'
import { count, counted, number } from '../words/numbers.ts'
import { duration, now } from '../words/times.ts'
import { chanceText } from './compare_chance.ts'
import { at, grouped, middleOf, type Run, ranking, runOf } from './compare_model.ts'
import { listed } from './importance_words.ts'

/** Curves that can be told apart. */
const MOST = 40
/** Studies that are compared if nobody has chosen. */
const FIRST = 6
/** Names of CSS variables, and dashes once they are used up. */
const COLORS = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7']
const DASHES = [undefined, '6 3', '2 3', '8 3 2 3']
/** Best values whose ends are this many times apart get a logarithmic axis, unless told otherwise. */
const LOG_FROM = 10

/** Best values so far of several studies. */
export function Compare() {
  const { query } = route.value
  const overview = useAsk<Overview>('GET', '/api/v1/overview', undefined, isStill.value ? 0 : now.value)
  const known = overview.data?.studies.filter((card) => !card.problem) ?? []
  const chosen = choice(known, query.get('studies'))
  const direction = chosen[0]?.direction ?? 'minimize'
  // A report holds its histories under this very address.
  const points = isStill.value ? 2000 : 100
  const histories = useAll<History>(
    chosen.map(({ name }) => ({ method: 'GET', path: `${studyPath(name)}/views/history?points=${points}` })),
    chosen.reduce((sum, card) => sum + card.position, 0),
  )
  const by = query.get('by') === 'time' ? 'time' : 'trials'
  const runs = useMemo(() => {
    const byPath = new Map(histories.data?.of.map(({ path }, i) => [path, histories.data?.answers[i]]))
    return chosen.flatMap((card) => {
      const history = byPath.get(`${studyPath(card.name)}/views/history?points=${points}`)
      return history && history.best.length > 0 ? [runOf(card.name, card.tags, history, by)] : []
    })
  }, [histories.data, chosen.map((card) => card.name).join('\n'), by, points])
  const empty = overview.data && known.length === 0 ? 'There are no studies yet.' : undefined
  return (
    <View
      title="Compare"
      question="Which of my studies is better?"
      answer={overview}
      empty={empty}
      toolbar={
        <fieldset class="choice" aria-label="x axis">
          {(['trials', 'time'] as const).map((word) => (
            <button
              key={word}
              type="button"
              aria-pressed={by === word}
              onClick={() => setQuery({ by: word === 'time' ? word : null })}
            >
              By {word}
            </button>
          ))}
        </fieldset>
      }
    >
      <div class="stack">
        {runs.length > 0 ? (
          <Curves runs={runs} by={by} direction={direction} />
        ) : (
          <p class="state-note">
            {histories.loading ? 'Loading …' : 'None of the chosen studies has a value yet.'}
          </p>
        )}
        <Choose known={known} chosen={chosen} />
      </div>
    </View>
  )
}

/** The studies that the address names, or the first few that belong together; all of one direction. */
function choice(known: StudyCard[], names: string | null): StudyCard[] {
  const named = names?.split(',').map((name) => {
    try {
      return decodeURIComponent(name)
    } catch {
      return name
    }
  })
  const begun = known.filter((card) => !card.archived && card.counts.complete > 0)
  const most = begun.find((card) => card.tags.length > 0) ?? begun[0]
  const wanted = named
    ? known.filter((card) => named.includes(card.name))
    : begun
        .filter((card) => card.direction === most?.direction)
        .sort((a, b) => related(b, most) - related(a, most))
        .slice(0, FIRST)
  return wanted.filter((card) => card.direction === wanted[0]?.direction).slice(0, MOST)
}

const related = (card: StudyCard, to: StudyCard | undefined): number =>
  card.tags.filter((tag) => to?.tags.includes(tag)).length

interface CurvesProps {
  runs: Run[]
  by: 'trials' | 'time'
  direction: 'minimize' | 'maximize'
}

function Curves({ runs, by, direction }: CurvesProps) {
  const { query } = route.value
  const { series, curves } = useMemo(() => drawnOf(runs), [runs])
  const values = useMemo(() => series.flatMap((one) => one.points.map(([, value]) => value)), [series])
  const [low, high] = extent(values) ?? [0, 1]
  const may = low > 0
  const isLog = may && (query.has('log') ? query.get('log') === '1' : high / low > LOG_FROM)
  const longest = Math.max(...curves.map((curve) => curve.end))
  const x = useMemo(
    () =>
      by === 'time'
        ? time(0, longest || 1)
        : linear(Math.min(1, longest - 1), Math.max(2, longest), { whole: true }),
    [by, longest],
  )
  const y = useMemo(() => (isLog ? log(low / 1.1, high * 1.1) : around(values)), [isLog, low, high, values])
  const place = (value: number): string =>
    by === 'time' ? `after ${duration(value)}` : `after ${counted(Math.round(value), 'trial')}`
  const read = (value: number) => [
    place(value),
    ...curves
      .map(({ name, points, end }) => ({ name, value: value <= end ? at(points, value) : null }))
      .filter((one) => one.value !== null)
      .sort((a, b) => (direction === 'minimize' ? 1 : -1) * ((a.value ?? 0) - (b.value ?? 0)))
      .slice(0, 10)
      .map((one) => `${one.name}: ${number(one.value)}`),
  ]
  const { x: common, ranked } = ranking(curves, direction)
  const [first, second] = ranked.map(({ name }) => ({
    name,
    values: (curves.find((curve) => curve.name === name)?.runs ?? [])
      .map((run) => at(run.points, common))
      .filter((value) => value !== null),
  }))
  const verdict = first && second ? chanceText(first, second, direction) : ''
  const bands = curves.filter((curve) => curve.size > 1)
  return (
    <Figure
      name="comparison"
      title="Best value so far"
      toolbar={
        may && (
          <label class="inline">
            <input type="checkbox" checked={isLog} onChange={() => setQuery({ log: isLog ? 0 : 1 })} />
            Logarithmic
          </label>
        )
      }
      summary={
        <>
          {ranked.length > 1 &&
            `${place(common).replace(/^a/, 'A')}, which all have reached, ${ranked[0]?.name} is best with ${number(ranked[0]?.value)}; next ${
              ranked.length === 2 ? 'is' : 'are'
            } ${listed(ranked.slice(1, 4).map((one) => `${one.name} with ${number(one.value)}`))}. ${verdict} `}
          {direction === 'minimize' ? 'Lower is better.' : 'Higher is better.'}
          {bands.length > 0 &&
            ` ${bands.map((band) => `${band.name} is the median of ${count(band.size)} studies with this tag`).join('; ')}. ${
              bands.every((band) => band.size < 4)
                ? 'A band goes from the best to the worst of its studies.'
                : bands.some((band) => band.size < 4)
                  ? 'A band holds the middle half of its studies; of fewer than four it goes from the best to the worst.'
                  : 'A band holds the middle half of its studies.'
            }`}
        </>
      }
      sheet={() => ({
        columns: ['study', by === 'time' ? 'seconds' : 'trials', 'best'],
        rows: runs.flatMap((run) => run.points.map(([a, b]) => [run.name, a, b])),
      })}
    >
      <Sized>
        {(width) => (
          <Lines
            label="Best value so far of several studies"
            series={series}
            x={x}
            y={y}
            xLabel={by === 'time' ? 'Time since each began' : 'Trials that have ended'}
            yLabel="Best value so far"
            read={read}
            width={width}
          />
        )}
      </Sized>
    </Figure>
  )
}

interface Curve {
  name: string
  points: [number, number][]
  end: number
  /** How many studies it stands for. */
  size: number
  runs: Run[]
}

/** A series for each group and each single study; members of groups are drawn faintly. */
function drawnOf(runs: Run[]): { series: Series[]; curves: Curve[] } {
  const { groups, alone } = grouped(runs)
  const look = (i: number) => {
    const dash = DASHES[Math.floor(i / COLORS.length) % DASHES.length]
    return { color: `var(${COLORS[i % COLORS.length]})`, ...(dash ? { dash } : {}) }
  }
  const series: Series[] = []
  const curves: Curve[] = []
  groups.forEach((group, i) => {
    const { points, band } = middleOf(group)
    for (const run of group.runs)
      series.push({ ...look(i), name: run.name, points: extended(run), faint: true })
    series.push({ ...look(i), name: group.tag, points, band })
    curves.push({
      name: group.tag,
      points,
      end: points.at(-1)?.[0] ?? 0,
      size: group.runs.length,
      runs: group.runs,
    })
  })
  alone.forEach((run, i) => {
    series.push({ ...look(groups.length + i), name: run.name, points: extended(run) })
    curves.push({ name: run.name, points: run.points, end: run.end, size: 1, runs: [run] })
  })
  return { series, curves }
}

/** The last best value goes on to the end. */
function extended(run: Run): [number, number][] {
  const last = run.points.at(-1)
  return last && run.end > last[0] ? [...run.points, [run.end, last[1]]] : run.points
}

function Choose({ known, chosen }: { known: StudyCard[]; chosen: StudyCard[] }) {
  const [text, setText] = useState('')
  const names = new Set(chosen.map((card) => card.name))
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = known.filter((card) => {
    const hay = [card.name, ...card.tags].join(' ').toLowerCase()
    return (
      words.every((word) => hay.includes(word)) &&
      (!card.archived || words.length > 0 || names.has(card.name))
    )
  })
  const set = (next: Set<string>) =>
    setQuery({ studies: [...next].map(encodeURIComponent).join(',') || null })
  const toggle = (name: string) => {
    const next = new Set(names)
    if (!next.delete(name)) next.add(name)
    set(next)
  }
  const direction = chosen[0]?.direction
  return (
    <section class="panel" aria-labelledby="choose">
      <header class="panel-head">
        <h2 id="choose">Studies</h2>
        <input
          type="search"
          placeholder="Name or tag"
          aria-label="Search studies by name or tag"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </header>
      <ul class="choose">
        {shown.slice(0, 200).map((card) => {
          const other = direction !== undefined && card.direction !== direction
          return (
            <li key={card.name}>
              <label>
                <input
                  type="checkbox"
                  checked={names.has(card.name)}
                  disabled={other}
                  onChange={() => toggle(card.name)}
                />
                <span>
                  <a href={studyLink(card.name)}>{card.name}</a>{' '}
                  <span class="quiet small">{number(card.best)}</span>{' '}
                  {card.tags.map((tag) => (
                    <span key={tag} class="tag">
                      {tag}
                    </span>
                  ))}
                  {other && (
                    <span class="quiet small">
                      {' '}
                      {card.direction === 'minimize' ? 'minimizes' : 'maximizes'}: it cannot be compared with
                      these
                    </span>
                  )}
                </span>
              </label>
            </li>
          )
        })}
      </ul>
      <p class="quiet small">
        Studies that share a tag, for instance the same setting with other seeds, become a median with a band.
      </p>
    </section>
  )
}
