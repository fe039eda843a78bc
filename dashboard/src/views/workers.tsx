import { useMemo } from 'preact/hooks'
import { studyPath } from '../api/ask.ts'
import type { Workers as Answered, Span } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { go, route, setQuery, studyLink } from '../app/router.ts'
import type { StudyViewProps } from '../app/views.tsx'
import { Figure } from '../charts/figure.tsx'
import { Sized } from '../charts/sized.tsx'
import { type Bar, Timeline } from '../charts/timeline.tsx'
import { SlowTrials, useNow } from '../parts/slow_trials.tsx'
import { Panel, View } from '../parts/view.tsx'
import { count, counted, percent } from '../words/numbers.ts'
import { slowTrials } from '../words/slow.ts'
import { duration } from '../words/times.ts'
import { idleShare, type Presence, presences, seenText, summaryText } from './workers_words.ts'

/** Rows of the timeline; a fleet has more workers than a page has room for. */
const ROWS = 40
/** Parts of the time, latest first, that can be looked at. */
const WINDOWS: [string, string, number][] = [
  ['all', 'All', 1],
  ['quarter', 'Last quarter', 4],
  ['part', 'Last 20th', 20],
]
const KINDS: Record<Span['outcome'], Bar['kind']> = {
  running: 'running',
  complete: 'complete',
  failed: 'failed',
  retried: 'failed',
  released: 'lost',
  lost: 'lost',
}
const OUTCOMES: Record<Span['outcome'], string> = {
  running: 'still running',
  complete: 'gave a value',
  failed: 'failed',
  retried: 'failed, and was tried again',
  released: 'was given back',
  lost: 'was lost: its worker stopped answering',
}

/** Who evaluated what, and when. */
export function Workers({ study, open }: StudyViewProps) {
  const answer = useAsk<Answered>('GET', `${studyPath(study.name)}/views/workers`, undefined, open.pace.value)
  const moment = useNow(answer.data)
  // A worker that does nothing sends nothing: only the clock says for how long.
  const data = useMemo(() => answer.data && { ...answer.data, now: moment }, [answer.data, moment])
  const counts = open.history.value?.counts ?? study.counts
  const goesOn = !study.archived && (!study.done || counts.waiting > 0)
  const window = WINDOWS.find(([word]) => word === route.value.query.get('window')) ?? WINDOWS[0]
  return (
    <View
      title="Workers"
      question="Are workers idle?"
      answer={answer}
      empty={
        data && data.workers.length === 0
          ? 'Nobody has evaluated anything yet. Workers appear here as soon as they take a trial.'
          : undefined
      }
    >
      {data && data.workers.length > 0 && (
        <div class="stack">
          <p class="lead">
            {summaryText(data, goesOn)} <SlowTrials study={study.name} slow={slowTrials(data, moment)} />
          </p>
          <When name={study.name} data={data} share={window?.[2] ?? 1} word={window?.[0] ?? 'all'} />
          <Who data={data} goesOn={goesOn} />
        </div>
      )}
    </View>
  )
}

function When({ name, data, share, word }: { name: string; data: Answered; share: number; word: string }) {
  const start = data.spans[0]?.begin ?? 0
  const to = Math.max(data.now, ...data.spans.map((span) => span.end ?? data.now))
  const from = to - (to - (data.thinned ? start : 0)) / share
  const { rows, bars } = useMemo(() => rowsOf(data, from), [data, from])
  const failed = bars.filter((bar) => bar.kind === 'failed').length
  const lost = bars.filter((bar) => bar.kind === 'lost').length
  return (
    <Figure
      name={`${name}-workers`}
      title="Who evaluated what, and when"
      toolbar={
        <fieldset class="choice" aria-label="Time shown">
          {WINDOWS.map(([key, text]) => (
            <button
              key={key}
              type="button"
              aria-pressed={key === word}
              onClick={() => setQuery({ window: key === 'all' ? null : key })}
            >
              {text}
            </button>
          ))}
        </fieldset>
      }
      summary={
        <>
          {counted(bars.length, 'evaluation')} of {counted(rows.length, 'worker')}
          {data.workers.length > rows.length && ` (of ${count(data.workers.length)}: the latest)`}
          {data.thinned && ', the last of many'}. Full bars gave a value, hollow ones run
          {failed > 0 && `, thin ones in red failed (${count(failed)})`}
          {lost > 0 && `, thin gray ones were given back or lost (${count(lost)})`}. Gaps are idle time, until
          a worker has left or all is done.
        </>
      }
      sheet={() => ({
        columns: ['trial', 'worker', 'begin', 'end', 'outcome'],
        rows: data.spans.map((span) => [
          span.number,
          data.workers[span.worker]?.name ?? '',
          span.begin,
          span.end,
          span.outcome,
        ]),
      })}
    >
      <Sized>
        {(width) => (
          <Timeline
            label="Timeline of the workers"
            rows={rows}
            bars={bars}
            from={from}
            to={to}
            width={width}
            onOpen={(i) => go(studyLink(name, `trial/${bars[i]?.number}`))}
          />
        )}
      </Sized>
    </Figure>
  )
}

/** Rows for the workers that did something, the latest first, and their bars. */
function rowsOf(data: Answered, from: number): { rows: string[]; bars: (Bar & { number: number })[] } {
  const seen = new Set(data.spans.filter((span) => (span.end ?? data.now) >= from).map((span) => span.worker))
  const chosen = data.workers
    .map((_, i) => i)
    .filter((i) => seen.has(i))
    .slice(0, ROWS)
  const row = new Map(chosen.map((worker, i) => [worker, i]))
  const bars = data.spans.flatMap((span) => {
    const at = row.get(span.worker)
    if (at === undefined) return []
    const end = span.end ?? data.now
    return [
      {
        row: at,
        begin: span.begin,
        end,
        kind: KINDS[span.outcome],
        number: span.number,
        text: [
          `trial ${span.number}`,
          data.workers[span.worker]?.name ?? '',
          `${duration(end - span.begin)}, ${OUTCOMES[span.outcome]}`,
          `began after ${duration(span.begin)}`,
        ],
      },
    ]
  })
  return { rows: chosen.map((i) => data.workers[i]?.name ?? ''), bars }
}

function Who({ data, goesOn }: { data: Answered; goesOn: boolean }) {
  const hosts = data.workers.some((worker) => worker.host !== null)
  return (
    <Panel title="Workers">
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {hosts && <th scope="col">Host</th>}
              <th scope="col" class="number">
                Running
              </th>
              <th scope="col" class="number">
                Complete
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col" class="number">
                Lost
              </th>
              <th scope="col" class="number">
                Idle
              </th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {presences(data, goesOn)
              .slice(0, 200)
              .map((one) => (
                <WorkerRow key={one.worker.name} presence={one} hosts={hosts} now={data.now} />
              ))}
          </tbody>
        </table>
      </div>
      {data.workers.length > 200 && (
        <p class="quiet small">The latest 200 of {count(data.workers.length)}.</p>
      )}
    </Panel>
  )
}

function WorkerRow({ presence, hosts, now }: { presence: Presence; hosts: boolean; now: number }) {
  const { worker } = presence
  return (
    <tr>
      <th scope="row">{worker.name}</th>
      {hosts && <td>{worker.host ?? '–'}</td>}
      <td class="number">{count(worker.running)}</td>
      <td class="number">{count(worker.complete)}</td>
      <td class="number">{count(worker.failed)}</td>
      <td class="number">{count(worker.lost)}</td>
      <td class="number">{percent(idleShare(presence))}</td>
      <td>{seenText(presence, now)}</td>
    </tr>
  )
}
