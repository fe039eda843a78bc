import { studyPath } from '../api/ask.ts'
import { isReport } from '../api/embedded.ts'
import type { Story, Study, Trial, Why } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { studyLink } from '../app/router.ts'
import { mayWork } from '../app/session.ts'
import type { OpenStudy } from '../app/study.ts'
import { csv } from '../export/csv.ts'
import { State } from '../parts/state.tsx'
import { Ago } from '../parts/time.tsx'
import { Panel, View } from '../parts/view.tsx'
import { counted, number, percent, valueText } from '../words/numbers.ts'
import { placeOf } from '../words/space.ts'
import { duration, exact } from '../words/times.ts'
import { workerText } from '../words/workers.ts'
import { TrialActions } from './trial_actions.tsx'
import { embeddedTrials } from './trials_source.ts'

/** One trial: what it was, what came of it, and why it was chosen. */
export function TrialPage({
  study,
  open,
  number: trialNumber,
}: {
  study: Study
  open: OpenStudy
  number: number
}) {
  const path = `${studyPath(study.name)}/trials/${trialNumber}/story`
  const answer = useAsk<Story>('GET', path, undefined, open.touched(trialNumber))
  // A report has the stories of a few trials only; of the others there is what the table has.
  const known = isReport()
    ? embeddedTrials(study.name).trials.find((trial) => trial.number === trialNumber)
    : undefined
  const trial = answer.data?.trial ?? known
  const total = open.history.value
    ? Object.values(open.history.value.counts).reduce((sum, n) => sum + n, 0)
    : trialNumber + 1
  return (
    <View
      title={`Trial ${trialNumber}`}
      question="What came of it, and why was it chosen?"
      answer={{ ...answer, data: trial, error: known ? undefined : answer.error }}
      toolbar={
        <nav aria-label="Other trials" class="toolbar">
          {trialNumber > 0 && (
            <a class="button" href={studyLink(study.name, `trial/${trialNumber - 1}`)}>
              Previous
            </a>
          )}
          {trialNumber + 1 < total && (
            <a class="button" href={studyLink(study.name, `trial/${trialNumber + 1}`)}>
              Next
            </a>
          )}
        </nav>
      }
      {...(trial ? { exports: { name: `${study.name}-trial-${trialNumber}`, csv: () => table(trial) } } : {})}
    >
      {trial && (
        <>
          <Result trial={trial} />
          {mayWork.value && !isReport() && (
            <TrialActions study={study} trial={trial} changed={answer.reload} />
          )}
          <div class="columns">
            <div>
              <Parameters study={study} trial={trial} />
              <Attributes trial={trial} />
              {trial.stderr && (
                <Panel title="The end of what it wrote to stderr">
                  {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard. */}
                  <pre tabIndex={0}>{trial.stderr}</pre>
                </Panel>
              )}
            </div>
            <div>
              {answer.data && <Reasons study={study} why={answer.data.why} />}
              {answer.data && <Timeline story={answer.data} />}
            </div>
          </div>
        </>
      )}
    </View>
  )
}

function Result({ trial }: { trial: Trial }) {
  return (
    <div class="stack">
      <div class="trial-value">
        {trial.value !== null && <strong>{number(trial.value, 6)}</strong>}
        <State state={trial.state} />
        {trial.noise_var !== null && (
          <span class="quiet">± {number(Math.sqrt(trial.noise_var), 2)} (noise)</span>
        )}
        {trial.seconds !== null && <span class="quiet">in {duration(trial.seconds)}</span>}
        {trial.worker && (
          <span class="quiet" title={trial.worker}>
            by {workerText(trial.worker)}
          </span>
        )}
        {trial.attempts > 1 && <span class="quiet">at the {ordinal(trial.attempts)} attempt</span>}
        {trial.ended && (
          <span class="quiet">
            <Ago time={trial.ended} />
          </span>
        )}
        {(trial.late ?? 0) > 0 && (
          <span class="quiet">{counted(trial.late ?? 0, 'late result')}, not counted</span>
        )}
      </div>
      {trial.reason && <p class="trouble">{trial.reason}</p>}
      {trial.note && <p>{trial.note}</p>}
    </div>
  )
}

const ordinal = (n: number): string => `${n}${n === 2 ? 'nd' : n === 3 ? 'rd' : 'th'}`

function Parameters({ study, trial }: { study: Study; trial: Trial }) {
  const declared = 'parameters' in study.space ? study.space.parameters.parameters : {}
  return (
    <Panel title={trial.id === undefined ? 'Parameters' : `Candidate ${trial.id}`}>
      <dl class="pairs">
        {Object.entries(trial.params).map(([name, value]) => {
          const param = declared[name]
          const place = param ? placeOf(param, value) : null
          return (
            <>
              <dt>{name}</dt>
              <dd title={String(value)}>
                {place !== null && param && 'low' in param && (
                  <span
                    class="place"
                    role="img"
                    aria-label={`at ${percent(place)} of the range from ${number(param.low)} to ${number(param.high)}`}
                  >
                    <span style={{ left: `${100 * place}%` }} />
                  </span>
                )}
                {valueText(value)}
              </dd>
            </>
          )
        })}
      </dl>
    </Panel>
  )
}

function Attributes({ trial }: { trial: Trial }) {
  const entries = Object.entries(trial.attrs)
  if (entries.length === 0) return null
  return (
    <Panel title="Attributes">
      <dl class="pairs">
        {entries.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd title={JSON.stringify(value)}>{valueText(value)}</dd>
          </>
        ))}
      </dl>
    </Panel>
  )
}

function Reasons({ study, why }: { study: Study; why: Why }) {
  const facts: [string, unknown][] = []
  if (why.mean !== undefined) {
    facts.push([
      'Expected value',
      `${number(why.mean)}${why.sd === undefined ? '' : ` ± ${number(why.sd, 2)}`}`,
    ])
  }
  if (why.best_mean !== undefined) {
    facts.push([
      'Best expected value then',
      <span title="The best value that the model expected among evaluated points when it chose this one, without noise">
        {number(why.best_mean)}
      </span>,
    ])
  }
  if (why.expected_improvement !== undefined)
    facts.push(['Expected improvement', number(why.expected_improvement, 2)])
  if (why.nearest) {
    const [trial, correlation] = why.nearest
    facts.push([
      'Nearest evaluated point',
      <>
        <a href={studyLink(study.name, `trial/${trial}`)}>trial {trial}</a>, correlation{' '}
        {number(correlation, 2)}
      </>,
    ])
  }
  if (why.eta_hat !== undefined) facts.push(['Acquisition maximized to', percent(why.eta_hat)])
  if (why.batch !== undefined && why.batch > 1)
    facts.push(['Proposed together with', counted(why.batch - 1, 'other')])
  if (why.algorithm) facts.push(['Algorithm', why.algorithm])
  return (
    <Panel title="Why this point was chosen">
      <p>{why.summary}</p>
      <dl class="pairs">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value as string}</dd>
          </>
        ))}
      </dl>
      {why.notes?.map((note) => (
        <p key={note} class="quiet small">
          {note}
        </p>
      ))}
    </Panel>
  )
}

/** How a step is called where its own word says too little. */
const STEPS: Record<string, string> = {
  asked: 'proposed',
  leased: 'handed out',
  released: 'given back',
  lost: 'worker lost',
  retried: 'failed, tried again',
  told: 'value told',
  late: 'late result',
  noted: 'note',
}

function Timeline({ story }: { story: Story }) {
  const begun = story.timeline[0]?.time
  return (
    <Panel title="Timeline">
      <ol class="steps">
        {story.timeline.map((step, i) => (
          <li key={`${step.time} ${step.what}`}>
            <time class="quiet" dateTime={step.time} title={exact(step.time)}>
              {i === 0 || begun === undefined
                ? new Date(step.time).toLocaleTimeString(undefined, { timeStyle: 'medium' })
                : `+ ${duration((Date.parse(step.time) - Date.parse(begun)) / 1000)}`}
            </time>
            <p>
              {STEPS[step.what] ?? step.what}
              {step.worker && (
                <span class="quiet" title={step.worker}>
                  {' '}
                  · {workerText(step.worker)}
                </span>
              )}
              {step.detail && <span class="quiet"> · {detailOf(step.what, step.detail)}</span>}
            </p>
          </li>
        ))}
      </ol>
      {story.timeline.length > 1 && (
        <p class="quiet small">
          Times with + are since {story.timeline[0]?.what === 'asked' ? 'the proposal' : 'the first line'}.
        </p>
      )}
    </Panel>
  )
}

/** What is known of a step; the end of a lease is called so. */
const detailOf = (what: string, detail: string): string =>
  shortened(what === 'leased' ? detail.replace(/^until /, 'lease until ') : detail)

/** Numbers have too many digits for a line, and moments are read on a clock; everything else stays. */
function shortened(detail: string): string {
  const short = (digits: string) => number(Number(digits), 6)
  return detail
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) =>
      new Date(moment).toLocaleTimeString(undefined, { timeStyle: 'medium' }),
    )
    .replace(/-?\d*\.\d{6,}(e[-+]?\d+)?/gi, short)
}

function table(trial: Trial): string {
  const rows = [
    ...Object.entries(trial.params).map(([name, value]) => ['parameter', name, value] as const),
    ...Object.entries(trial.attrs).map(
      ([name, value]) =>
        ['attribute', name, typeof value === 'object' ? JSON.stringify(value) : value] as const,
    ),
    ['result', 'value', trial.value] as const,
    ['result', 'state', trial.state] as const,
    ['result', 'seconds', trial.seconds] as const,
  ]
  return csv(
    ['kind', 'name', 'value'],
    rows.map((row) => [...row]),
  )
}
