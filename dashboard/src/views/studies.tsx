import { useEffect, useState } from 'preact/hooks'
import { ask, studyPath } from '../api/ask.ts'
import type { Archive, Overview, StudyCard } from '../api/types.ts'
import { useAsk } from '../api/use_ask.ts'
import { route, setQuery, studyLink } from '../app/router.ts'
import { isStill, mayAdminister, noticeRefusal } from '../app/session.ts'
import { csv } from '../export/csv.ts'
import { Progress } from '../parts/progress.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { stateMark, stateText } from '../parts/study_state.ts'
import { Ago } from '../parts/time.tsx'
import { Trouble } from '../parts/trouble.tsx'
import { View } from '../parts/view.tsx'
import { count, counted, number } from '../words/numbers.ts'
import { workerText } from '../words/workers.ts'

/** How often the list is asked for again, in milliseconds, while somebody looks. */
const EVERY = 5000
/** Names of workers that are shown; of the others only the number. */
const NAMED = 3

/** All studies. */
export function Studies() {
  const turn = useTurns(EVERY)
  const answer = useAsk<Overview>('GET', '/api/v1/overview', undefined, turn)
  const { query } = route.value
  const search = (query.get('q') ?? '').toLowerCase()
  const withArchived = query.get('archived') === '1'
  const all = answer.data?.studies ?? []
  const archived = all.filter((study) => study.archived).length
  const found = all.filter(
    (study) =>
      (withArchived || !study.archived) &&
      [study.name, study.algorithm, ...study.tags].some((word) => word.toLowerCase().includes(search)),
  )
  return (
    <View
      title="Studies"
      question="Which studies are there, and how are they doing?"
      answer={answer}
      toolbar={
        <>
          <input
            type="search"
            aria-label="Search by name, tag or algorithm"
            placeholder="Search"
            value={query.get('q') ?? ''}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
          {archived > 0 && (
            <label class="inline">
              <input
                type="checkbox"
                checked={withArchived}
                onChange={(event) => setQuery({ archived: event.currentTarget.checked ? 1 : null })}
              />
              Archived ({archived})
            </label>
          )}
        </>
      }
      exports={{ name: 'studies', csv: () => table(found) }}
      empty={
        all.length === 0
          ? 'There is no study yet. Make one with “noregret run study.toml”, or with Python.'
          : found.length === 0
            ? 'No study fits. Search for another word, or show the archived ones.'
            : undefined
      }
    >
      <div class="card card-head small quiet" aria-hidden="true">
        <span>Study and algorithm</span>
        <span>State, last event</span>
        <span>Trials ended</span>
        <span>Best value</span>
        <span>Best so far</span>
        <span>Workers</span>
      </div>
      <ul class="cards">
        {found.map((card) => (
          <Card key={card.name} card={card} changed={answer.reload} />
        ))}
      </ul>
    </View>
  )
}

function Card({ card, changed }: { card: StudyCard; changed: () => void }) {
  const { counts } = card
  const ended = counts.complete + counts.failed
  const state = {
    archived: card.archived,
    paused: card.paused,
    done: card.done,
    running: counts.running,
    ended,
  }
  return (
    <li class="card">
      <div class="card-name">
        <a href={studyLink(card.name)}>{card.name}</a>
        <p class="quiet small">
          {card.algorithm}
          {card.tags.map((tag) => (
            <span key={tag} class="tag">
              {tag}
            </span>
          ))}
        </p>
      </div>
      {card.problem ? (
        <p class="card-problem small bad">{card.problem}</p>
      ) : (
        <>
          <div>
            <span class={`badge ${stateMark(state)}`}>{stateText(state)}</span>
            <p class="small quiet">
              <Ago time={card.last} />
            </p>
          </div>
          <div>
            <p>
              {count(ended)}
              {card.trials !== null && <span class="quiet"> of {count(card.trials)}</span>}
            </p>
            {card.trials !== null && <Progress counts={counts} planned={card.trials} />}
            {counts.failed > 0 && <p class="small bad">{counted(counts.failed, 'failure')}</p>}
          </div>
          <div>
            <p>
              <strong>{number(card.best)}</strong>
            </p>
            <p class="small quiet">{card.direction === 'minimize' ? 'smallest' : 'largest'}</p>
          </div>
          <Sparkline
            values={card.spark}
            label={`Best so far: from ${number(card.spark[0])} to ${number(card.spark.at(-1))}`}
          />
          <div class="card-workers small quiet" title={card.workers.join(', ')}>
            {workersText(card.workers)}
          </div>
        </>
      )}
      {mayAdminister.value && <Shelve card={card} changed={changed} />}
    </li>
  )
}

/** Puts a study away, or takes it out again. */
function Shelve({ card, changed }: { card: StudyCard; changed: () => void }) {
  const [error, setError] = useState<Error | null>(null)
  const run = async () => {
    setError(null)
    const body: Archive = { archived: !card.archived }
    try {
      await ask('POST', `${studyPath(card.name)}:archive`, body)
      changed()
    } catch (problem) {
      noticeRefusal(problem)
      setError(problem as Error)
    }
  }
  return (
    <div class="card-end">
      {error && <Trouble error={error} />}
      <button type="button" class="plain small" onClick={() => void run()}>
        {card.archived ? 'Take out' : 'Archive'}
        <span class="hidden"> {card.name}</span>
      </button>
    </div>
  )
}

function workersText(workers: string[]): string {
  if (workers.length === 0) return ''
  const rest = workers.length - NAMED
  return `${workers.slice(0, NAMED).map(workerText).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function table(cards: StudyCard[]): string {
  const header = [
    'name',
    'algorithm',
    'direction',
    'best',
    'complete',
    'failed',
    'running',
    'waiting',
    'trials',
    'last',
  ]
  return csv(
    header,
    cards.map(({ counts, ...card }) => [
      card.name,
      card.algorithm,
      card.direction,
      card.best,
      counts.complete,
      counts.failed,
      counts.running,
      counts.waiting,
      card.trials,
      card.last,
    ]),
  )
}

/** Counts up while somebody looks at the page; never in a report. */
function useTurns(milliseconds: number): number {
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (isStill.value) return
    const timer = setInterval(() => {
      if (!document.hidden) setTurn((old) => old + 1)
    }, milliseconds)
    return () => clearInterval(timer)
  }, [milliseconds])
  return turn
}
