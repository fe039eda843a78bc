import type { Study } from '../api/types.ts'
import { Progress } from '../parts/progress.tsx'
import { StudyActions } from '../parts/study_actions.tsx'
import { countsText, stateMark, stateText } from '../parts/study_state.ts'
import { bestTrialOf } from '../views/history_words.ts'
import { count, number } from '../words/numbers.ts'
import { exact } from '../words/times.ts'
import { link, route, studyLink } from './router.ts'
import { isStill, logOut, session } from './session.ts'
import { best, open } from './study.ts'
import { nextTheme, theme } from './theme.ts'
import { EVERYTHING, STUDY_VIEWS } from './views.tsx'

/** What stays at the top: where one is, how the study is, and where one can go. */
export function Header() {
  const { path } = route.value
  const current = path[0] === 'study' ? open.value : null
  const known = session.value
  const study = current?.study.value
  const themeName = { system: 'as the system', light: 'light', dark: 'dark' }[theme.value]
  return (
    <header class="bar">
      <div class="bar-row">
        <a class="brand" href="#/">
          noregret
        </a>
        {known && (
          <nav aria-label="Everything" class="row">
            <a href="#/" aria-current={path.length === 0 ? 'page' : undefined}>
              Studies
            </a>
            <a href={link(['compare'])} aria-current={path[0] === 'compare' ? 'page' : undefined}>
              Compare
            </a>
          </nav>
        )}
        <div class="bar-end">
          {known?.report && known.made && (
            <span class="quiet small" title={exact(known.made)}>
              Report of {new Date(known.made).toLocaleDateString(undefined, { dateStyle: 'medium' })}
            </span>
          )}
          <button type="button" class="plain" onClick={nextTheme} title={`Colors: ${themeName}`}>
            <span class="theme-label">Theme: </span>
            {theme.value === 'system' ? 'auto' : theme.value}
          </button>
          {known && !isStill.value && known.more?.login !== false && (
            <button type="button" class="plain" onClick={() => void logOut()}>
              Log out
            </button>
          )}
        </div>
      </div>
      {study && current && (
        <>
          <div class="study-head">
            <div class="study-facts">
              <p class="study-name">{study.name}</p>
              <Facts />
            </div>
            <StudyActions study={study} open={current} />
            <Remarks study={study} />
          </div>
          <nav class="tabs" aria-label="Views of this study">
            {STUDY_VIEWS.filter((view) => view.fits?.(study) ?? true).map((view) => (
              <a
                key={view.word}
                href={studyLink(study.name, view.word)}
                aria-current={isAt(view.word) ? 'page' : undefined}
              >
                {view.title}
              </a>
            ))}
            <a
              class="tab-end"
              href={studyLink(study.name, EVERYTHING)}
              aria-current={isAt(EVERYTHING) ? 'page' : undefined}
            >
              All on one page
            </a>
          </nav>
        </>
      )}
    </header>
  )
}

function isAt(word: string): boolean {
  const at = route.value.path[2] ?? ''
  return at === word || (word === 'trials' && at === 'trial')
}

/** Tags and note. */
function Remarks({ study }: { study: Study }) {
  const tags = study.tags ?? []
  if (tags.length === 0 && !study.note) return null
  return (
    <p class="study-remarks small quiet">
      {tags.map((tag) => (
        <span class="tag" key={tag}>
          {tag}
        </span>
      ))}
      {study.note && (
        <span class="clipped" title={study.note}>
          {study.note}
        </span>
      )}
    </p>
  )
}

/** State, progress and best value of the open study. */
function Facts() {
  const current = open.value
  const study = current?.study.value
  if (!current || !study) return null
  const history = current.history.value
  const counts = history?.counts ?? study.counts
  const planned = history?.planned ?? study.trials
  const ended = counts.complete + counts.failed
  const state = {
    archived: study.archived,
    paused: study.paused ?? false,
    done: study.done,
    running: counts.running,
    ended,
  }
  const bestNumber = bestTrial()
  return (
    <dl class="facts">
      <div>
        <dt class="hidden">State</dt>
        <dd>
          <span class={`badge ${stateMark(state)}`}>{stateText(state)}</span>
        </dd>
      </div>
      <div>
        <dt>Done</dt>
        <dd title={countsText(counts)}>
          {count(ended)}
          {planned !== null && <span class="quiet"> of {count(planned)}</span>}
        </dd>
        {planned !== null && (
          <dd>
            <Progress counts={counts} planned={planned} />
          </dd>
        )}
      </div>
      {counts.failed > 0 && (
        <div>
          <dt>Failed</dt>
          <dd>
            <a href={studyLink(study.name, 'trials', { filter: "state == 'failed'" })}>
              {count(counts.failed)}
            </a>
          </dd>
        </div>
      )}
      <div>
        <dt>Best</dt>
        <dd>
          {bestNumber === null ? (
            number(best.value)
          ) : (
            <a href={studyLink(study.name, `trial/${bestNumber}`)}>{number(best.value)}</a>
          )}
          <span class="quiet small"> {study.direction === 'minimize' ? '(smallest)' : '(largest)'}</span>
        </dd>
      </div>
    </dl>
  )
}

/** The number of the best trial, as far as the page knows it. */
function bestTrial(): number | null {
  const current = open.value
  const history = current?.history.value
  const known = history ? bestTrialOf(history) : null
  return known ?? current?.study.value?.best_observed?.number ?? null
}
