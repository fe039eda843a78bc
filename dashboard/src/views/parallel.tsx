import { useEffect, useMemo, useState } from 'preact/hooks'
import { ask, studyPath } from '../api/ask.ts'
import type { Study, Table, Trial } from '../api/types.ts'
import { go, route, setQuery, studyLink } from '../app/router.ts'
import { isStill } from '../app/session.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { type Brushes, selected } from '../charts/brush.ts'
import { Figure } from '../charts/figure.tsx'
import { Parallel as Chart } from '../charts/parallel.tsx'
import { extent } from '../charts/scale.ts'
import { Sized } from '../charts/sized.tsx'
import { View } from '../parts/view.tsx'
import { count, counted, number } from '../words/numbers.ts'
import {
  bestRange,
  cellsOf,
  common,
  coordinates,
  filterOf,
  readBrushes,
  VALUE,
  writtenBrushes,
} from './parallel_model.ts'

/** Trials of a page of the table. */
const PAGE = 1000
/** Pages at most: more lines say no more. */
const PAGES = 5

/** All parameters side by side, a line for each trial. */
export function Parallel({ study, open }: StudyViewProps) {
  const counts = open.history.value?.counts ?? study.counts
  const ended = counts.complete + counts.failed
  // Asking for thousands of trials costs something: of many, they are asked for again when there are 2 % more.
  const fresh = ended < PAGE ? open.pace.value : Math.floor(50 * Math.log(ended))
  const answer = useTrials(study, fresh)
  const table = answer.data
  const data = useMemo(
    () => (table ? coordinates(study.space, study.direction, table.trials) : null),
    [table, study.space, study.direction],
  )
  const brushes = data ? readBrushes(route.value.query.get('in') ?? '', data.axes.length) : new Map()
  const set = (next: Brushes) => setQuery({ in: writtenBrushes(next) })
  const value = data ? data.axes.length - 1 : 0
  const takeBest = () => {
    const range = data && bestRange(data.rows, 0.1)
    if (range) set(new Map([[value, range]]))
  }
  return (
    <View
      title="Parallel"
      question="Which settings go with good values?"
      answer={answer}
      empty={data?.rows.length === 0 ? 'No trial has ended yet. Lines appear here by themselves.' : undefined}
      toolbar={
        <>
          <button type="button" onClick={takeBest}>
            Best tenth
          </button>
          <button type="button" class="plain" disabled={brushes.size === 0} onClick={() => set(new Map())}>
            Clear ranges
          </button>
        </>
      }
    >
      {data && table && <Drawn study={study} data={data} table={table} brushes={brushes} set={set} />}
    </View>
  )
}

interface DrawnProps {
  study: Study
  data: ReturnType<typeof coordinates>
  table: Loaded
  brushes: Brushes
  set: (brushes: Brushes) => void
}

function Drawn({ study, data, table, brushes, set }: DrawnProps) {
  const chosen = useMemo(
    () =>
      selected(
        data.rows.map((row) => row.places),
        brushes,
      ),
    [data, brushes],
  )
  const some = data.rows.filter((_, i) => chosen[i])
  const range = extent(some.map((row) => row.trial.value))
  const shared = useMemo(() => common(data, chosen), [data, chosen])
  const names = data.axes.filter((axis) => axis.name !== VALUE).map((axis) => axis.name)
  const failed = some.filter((row) => row.share === null).length
  return (
    <Figure
      name={`${study.name}-parallel`}
      title="Trials through all parameters"
      summary={
        <>
          Draw a range on any axis, or several; click to remove it. Good values are yellow and at the top of
          the axis of values, bad ones are violet, failures gray. The worst values share the lower end of the
          axis.
          {table.partial &&
            ` ${count(table.trials.length)} of the ${count(table.total)} trials are here: the best, and some of the others.`}
        </>
      }
      sheet={() => ({
        columns: ['trial', 'state', 'value', ...names],
        rows: some
          .map(({ trial }) => [trial.number, trial.state, trial.value, ...cellsOf(trial.params, names)])
          .reverse(),
      })}
    >
      <p class="lead" aria-live="polite">
        {brushes.size === 0 ? (
          <>
            {counted(data.rows.length, 'trial')}: draw a range on an axis, or take the best tenth, and see
            what it goes with.
          </>
        ) : (
          <>
            {counted(some.length, 'trial')} of {count(data.rows.length)} {some.length === 1 ? 'is' : 'are'} in
            the {brushes.size === 1 ? 'range' : 'ranges'}
            {range && `, with values from ${number(range[0])} to ${number(range[1])}`}
            {failed > 0 && `; ${count(failed)} failed`}.{' '}
            {shared.length > 0 &&
              `There, ${shared
                .slice(0, 4)
                .map(({ text }) => text)
                .join(', ')}. `}
            <a href={studyLink(study.name, 'trials', { filter: filterOf(data, brushes, study.direction) })}>
              Show them as a table
            </a>
          </>
        )}
      </p>
      <Sized>
        {(width) => (
          <Chart
            label="Trials through all parameters"
            axes={data.axes}
            rows={data.rows}
            brushes={brushes}
            onBrush={set}
            onOpen={(i) => go(studyLink(study.name, `trial/${data.rows[i]?.trial.number}`))}
            width={width}
          />
        )}
      </Sized>
    </Figure>
  )
}

interface Loaded {
  trials: Trial[]
  total: number
  /** Whether some are missing. */
  partial: boolean
}

/** All trials, or of many the best and some of the others. */
function useTrials(study: Study, fresh: unknown) {
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<{ data?: Loaded; error?: Error; loading: boolean }>({ loading: true })
  const { name, direction } = study
  useEffect(() => {
    const abort = new AbortController()
    setState((old) => ({ ...old, loading: true }))
    load(name, direction === 'maximize', abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, loading: false })
      },
      (error: Error) => {
        if (!abort.signal.aborted) setState((old) => ({ data: old.data, error, loading: false }))
      },
    )
    return () => abort.abort()
  }, [name, direction, fresh, turn])
  return { data: state.data, error: state.error, loading: state.loading, reload: () => setTurn(turn + 1) }
}

async function load(name: string, descending: boolean, signal: AbortSignal): Promise<Loaded> {
  const path = `${studyPath(name)}/views/trials`
  if (isStill.peek()) {
    const all = await ask<Table>('GET', path)
    return { trials: all.trials, total: all.total, partial: all.trials.length < all.total }
  }
  const page = (from: number) =>
    ask<Table>('GET', `${path}?sort=value&descending=${descending}&from=${from}&limit=${PAGE}`, undefined, {
      signal,
    })
  const first = await page(0)
  const partial = first.matching > PAGE * PAGES
  const last = first.matching - PAGE
  const froms = partial
    ? [PAGE, Math.round(last * 0.4), Math.round(last * 0.7), last]
    : Array.from({ length: Math.ceil(first.matching / PAGE) - 1 }, (_, i) => (i + 1) * PAGE)
  const rest = await Promise.all(froms.map(page))
  return { trials: [first, ...rest].flatMap((table) => table.trials), total: first.total, partial }
}
