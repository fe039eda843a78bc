import { useMemo } from 'preact/hooks'
import { studyPath } from '../api/ask.ts'
import type { History as HistoryOf, Regret } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { go, route, setQuery, studyLink } from '../app/router.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { HistoryPlot, type HistoryPlotProps } from '../curves/history_plot.tsx'
import { historySvg } from '../curves/history_svg.ts'
import { type Against, aboveZero, allPositive, nearBest, needsLog, seriesOf } from '../curves/series.ts'
import { csv } from '../export/csv.ts'
import { Choice } from '../parts/choice.tsx'
import { View } from '../parts/view.tsx'
import { count, counted, number } from '../words/numbers.ts'
import { duration } from '../words/times.ts'

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
  const range = near ? nearBest(values, study.direction) : null
  const plot: HistoryPlotProps | null = series && {
    label: `Values and best so far of ${study.name}`,
    series,
    against,
    log: isLog,
    range,
    planned: history?.planned ?? null,
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
              label="To the right"
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
      {history && <Summary history={history} regret={band} />}
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

/** The answer in words. */
function Summary({ history, regret }: { history: HistoryOf; regret: Regret | null }) {
  const { counts, planned } = history
  const ended = counts.complete + counts.failed
  const last = history.best.at(-1)
  const since = last ? ended - last[0] - 1 : 0
  const gain = regret?.median.at(-1)
  const left = planned === null ? null : Math.max(planned - ended, 0)
  const rate = paceOf(history)
  return (
    <p class="lead">
      {planned === null
        ? `${counted(ended, 'trial')} ended.`
        : left === 0
          ? `All ${count(planned)} trials are done.`
          : `${count(ended)} of ${count(planned)} trials are done${rate !== null && left !== null && counts.running > 0 ? `; the rest takes about ${duration(left * rate)} more` : ''}.`}{' '}
      {last &&
        `The best value, ${number(last[2])}, came ${since === 0 ? 'with the last trial' : `${counted(since, 'trial')} ago`}.`}{' '}
      {regret && gain !== undefined && <Gain gain={gain} low={regret.low.at(-1)} high={regret.high.at(-1)} />}
    </p>
  )
}

/** What may still be gained, by the model. */
function Gain({ gain, low, high }: { gain: number; low: number | undefined; high: number | undefined }) {
  if (number(high, 2) === '0') return <>By the model, nothing more can be gained.</>
  return (
    <>
      By the model, about <strong>{number(gain, 2)}</strong> may still be gained (90&nbsp;%: {number(low, 2)}{' '}
      to {number(high, 2)}).
    </>
  )
}

/** Seconds from one result to the next, over the last hundred. */
function paceOf(history: HistoryOf): number | null {
  const n = Math.min(history.ended.length, 100)
  if (n < 2) return null
  const [from, to] = [history.ended.length - n, history.ended.length - 1]
  const places = (history.place[to] ?? 0) - (history.place[from] ?? 0)
  const seconds = (history.ended[to] ?? 0) - (history.ended[from] ?? 0)
  return places > 0 ? seconds / places : null
}

function table(history: HistoryOf): string {
  return csv(
    ['place', 'number', 'value', 'ended_seconds'],
    history.number.map((trial, i) => [history.place[i], trial, history.value[i], history.ended[i]]),
  )
}
