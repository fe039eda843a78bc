import { useMemo } from 'preact/hooks'
import { studyPath } from '../api/ask.ts'
import { isReport } from '../api/embedded.ts'
import type { History as HistoryOf, Regret, Study, Table, Workers } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { go, route, setQuery, studyLink } from '../app/router.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { HistoryPlot, type HistoryPlotProps } from '../curves/history_plot.tsx'
import { historySvg } from '../curves/history_svg.ts'
import {
  type Against,
  aboveZero,
  allPositive,
  isCut,
  limitsOf,
  nearBest,
  needsLog,
  seriesOf,
} from '../curves/series.ts'
import { csv } from '../export/csv.ts'
import { Choice } from '../parts/choice.tsx'
import { SlowTrials, useNow } from '../parts/slow_trials.tsx'
import { View } from '../parts/view.tsx'
import { count, counted, number } from '../words/numbers.ts'
import { slowTrials } from '../words/slow.ts'
import { bestTrialOf, doneText, isNoGain } from './history_words.ts'
import { embeddedTrials } from './trials_source.ts'

/** Values and best so far. */
export function History({ study, open }: StudyViewProps) {
  const history = open.history.value
  const regret = useAsk<Regret | null>(
    'GET',
    `${studyPath(study.name)}/views/regret`,
    undefined,
    open.pace.value,
  )
  const { query } = route.value
  const against: Against = query.get('by') === 'time' ? 'time' : 'trial'
  const near = query.get('show') === 'best'
  const values = history?.value ?? []
  const canLog = allPositive(values)
  const wantsLog = query.get('axis') ?? (needsLog(values) ? 'log' : 'linear')
  const isLog = canLog && wantsLog === 'log'
  const band = regret.data ?? null
  const series = useMemo(() => {
    if (!history) return null
    const made = seriesOf(history, band, study.direction, against)
    return isLog ? aboveZero(made) : made
  }, [history, band, against, isLog, study.direction])
  const reasons = useReasons(study, history?.counts.failed ?? 0)
  const range = near ? nearBest(values, study.direction) : null
  const plot: HistoryPlotProps | null = series && {
    label: `Values and best so far of ${study.name}`,
    series,
    against,
    log: isLog,
    range,
    planned: history?.planned ?? null,
    reasons,
    choose: (trial) => go(studyLink(study.name, `trial/${trial}`)),
  }
  const ended = history ? history.counts.complete + history.counts.failed : 0
  return (
    <View
      title="History"
      question="Am I done?"
      answer={{ data: history, error: open.error.value, loading: history === undefined, reload: open.reload }}
      empty={history && ended === 0 ? <Nothing history={history} /> : undefined}
      toolbar={
        ended > 0 && (
          <>
            <Choice
              label="x axis"
              options={[
                ['trial', 'By trial'],
                ['time', 'By time'],
              ]}
              value={against}
              choose={(by) => setQuery({ by: by === 'trial' ? null : by })}
            />
            <Choice
              label="Values shown"
              options={[
                ['all', 'All'],
                ['best', 'Near the best'],
              ]}
              value={near ? 'best' : 'all'}
              choose={(show) => setQuery({ show: show === 'all' ? null : show })}
            />
            {canLog && (
              <Choice
                label="Axis of values"
                options={[
                  ['linear', 'Linear'],
                  ['log', 'Log'],
                ]}
                value={isLog ? 'log' : 'linear'}
                choose={(axis) => setQuery({ axis })}
              />
            )}
          </>
        )
      }
      {...(plot && history
        ? {
            exports: {
              name: `${study.name}-history`,
              csv: () => table(history),
              svg: () => historySvg(plot),
            },
          }
        : {})}
    >
      {history && <Summary study={study.name} history={history} regret={band} pace={open.pace.value} />}
      {plot && <HistoryPlot {...plot} />}
      {history && series && (
        <ul class="legend">
          <li>
            <span class="mark complete" /> value
          </li>
          <li>
            <span class="mark best" /> best so far
          </li>
          {band && (
            <li>
              <span class="mark band" /> where the model expects the best possible value (90&nbsp;%)
              {isCut(series, range ?? limitsOf(series, isLog)) && ', cut off where it leaves the plot'}
            </li>
          )}
          {series.failed.length > 0 && (
            <li>
              <span class="mark failed" /> failed
            </li>
          )}
          {series.running.length > 0 && (
            <li>
              <span class="mark running" /> running
            </li>
          )}
          <li class="off-paper">drag to zoom, double-click to see all</li>
          {history.thinned && (
            <li>
              {count(history.number.length)} of {count(ended)} results are drawn, all that matter among them
            </li>
          )}
        </ul>
      )}
    </View>
  )
}

/** Failures whose reasons the plot can show. */
const REASONS = 200

/** Why trials failed, by their numbers: the last of them, where there are many. */
function useReasons(study: Study, failed: number): Map<number, string> {
  const query = new URLSearchParams({
    filter: "state == 'failed'",
    sort: 'number',
    descending: 'true',
    from: '0',
    limit: String(REASONS),
  })
  const path = failed > 0 && !isReport() ? `${studyPath(study.name)}/views/trials?${query}` : null
  const { data } = useAsk<Table>('GET', path, undefined, failed)
  return useMemo(() => {
    const trials = isReport() ? embeddedTrials(study.name).trials : (data?.trials ?? [])
    return new Map(trials.flatMap(({ number, reason }) => (reason ? [[number, reason] as const] : [])))
  }, [data, study.name])
}

function Nothing({ history }: { history: HistoryOf }) {
  return history.counts.running > 0 ? (
    <>{counted(history.counts.running, 'trial')} running; none has ended yet.</>
  ) : (
    <>
      No trial has ended yet. Start a worker, for instance with “noregret worker”, or ask for trials in a
      program.
    </>
  )
}

interface SummaryProps {
  study: string
  history: HistoryOf
  regret: Regret | null
  pace: number
}

/** The answer in words. */
function Summary({ study, history, regret, pace }: SummaryProps) {
  const { counts } = history
  const workers = useAsk<Workers>('GET', `${studyPath(study)}/views/workers`, undefined, pace)
  const moment = useNow(workers.data)
  // The history is newer: what has ended since is not stuck.
  const running = new Set(history.running.map(([number]) => number))
  const slow = workers.data
    ? slowTrials(workers.data, moment).filter(({ number }) => running.has(number))
    : []
  const last = history.best.at(-1)
  const since = last ? counts.complete + counts.failed - last[0] - 1 : 0
  const trial = bestTrialOf(history)
  const gain = regret?.median.at(-1)
  return (
    <p class="lead">
      {doneText(history, slow)}{' '}
      {counts.failed > 0 && (
        <>
          <a href={studyLink(study, 'trials', { filter: "state == 'failed'" })}>
            {count(counts.failed)} failed
          </a>
          .{' '}
        </>
      )}
      {last && (
        <>
          The best value, {number(last[2])}
          {trial !== null && (
            <>
              {' '}
              of <a href={studyLink(study, `trial/${trial}`)}>trial {trial}</a>
            </>
          )}
          , came {since === 0 ? 'last' : `${counted(since, 'trial')} ago`}.{' '}
        </>
      )}
      <SlowTrials study={study} slow={slow} />{' '}
      {regret && gain !== undefined && (
        <Gain gain={gain} low={regret.low.at(-1)} high={regret.high.at(-1)} values={history.value} />
      )}
    </p>
  )
}

interface GainProps {
  gain: number
  low: number | undefined
  high: number | undefined
  values: (number | null)[]
}

/** What may still be gained, by the model. */
function Gain({ gain, low, high, values }: GainProps) {
  if (isNoGain(high ?? 0, values))
    return <>By the model, nothing that can be told from 0 may still be gained.</>
  return (
    <>
      By the model, about <strong>{number(gain, 2)}</strong> may still be gained (90&nbsp;%: {number(low, 2)}{' '}
      to {number(high, 2)}).
    </>
  )
}

function table(history: HistoryOf): string {
  return csv(
    ['place', 'number', 'value', 'ended_seconds'],
    history.number.map((trial, i) => [history.place[i], trial, history.value[i], history.ended[i]]),
  )
}
