import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Trouble } from '../parts/trouble.tsx'
import { View } from '../parts/view.tsx'
import { Compare } from '../views/compare.tsx'
import { Everything } from '../views/everything.tsx'
import { Login } from '../views/login.tsx'
import { Studies } from '../views/studies.tsx'
import { TrialPage } from '../views/trial.tsx'
import { Header } from './header.tsx'
import { route } from './router.ts'
import { loadSession, session, sessionError } from './session.ts'
import { open, openStudy } from './study.ts'
import { EVERYTHING, STUDY_VIEWS } from './views.tsx'

/** The whole page. */
export function Shell() {
  const name = studyName()
  const known = session.value
  useEffect(() => {
    openStudy(known ? name : null)
  }, [name, known])

  if (known === null) return <Login />
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        Skip to the content
      </button>
      <Header />
      {open.value?.connection.value === 'lost' && (
        <p class="notice" role="status">
          The connection is lost. What you see is from before; the page goes on by itself as soon as the
          server is back.
        </p>
      )}
      <LeftOut />
      <main tabIndex={-1}>
        {sessionError.value ? (
          <Trouble error={sessionError.value} again={() => void loadSession()} />
        ) : known === undefined ? (
          <p class="state-note">Loading …</p>
        ) : (
          <Place />
        )}
      </main>
    </>
  )
}

/** The study of the address, if it names one. */
export const studyName = (): string | null =>
  route.value.path[0] === 'study' ? (route.value.path[1] ?? null) : null

function Place(): ComponentChildren {
  const { path } = route.value
  if (path.length === 0) return <Studies />
  if (path[0] === 'compare') return <Compare />
  if (path[0] !== 'study' || path[1] === undefined) return <Nowhere />
  const current = open.value
  if (current === null || current.name !== path[1]) return <p class="state-note">Loading …</p>
  const study = current.study.value
  const error = current.error.value
  if (!study) {
    return error ? <Trouble error={error} again={current.reload} /> : <p class="state-note">Loading …</p>
  }
  const word = path[2] ?? ''
  if (word === 'trial') {
    const number = Number(path[3])
    if (!Number.isSafeInteger(number) || number < 0 || path[3] === '') return <Nowhere />
    return <TrialPage study={study} open={current} number={number} />
  }
  if (word === EVERYTHING) return <Everything key={study.name} study={study} open={current} />
  const found = STUDY_VIEWS.find((view) => view.word === word)
  if (!found) return <Nowhere />
  const Found = found.view
  // A key: another study's view begins anew.
  return <Found key={`${study.name}/${word}`} study={study} open={current} />
}

function Nowhere() {
  return (
    <View title="Nothing here" question="There is no such view">
      <p class="state-note">
        The address may be from another version. <a href="#/">All studies</a>
      </p>
    </View>
  )
}

/** What a report leaves out, in its own words. */
function LeftOut() {
  const thinned = session.value?.more?.thinned
  if (!Array.isArray(thinned) || thinned.length === 0) return null
  return (
    <details class="left-out small quiet">
      <summary>This report leaves something out</summary>
      <ul>
        {thinned.map((sentence) => (
          <li key={String(sentence)}>{String(sentence)}</li>
        ))}
      </ul>
    </details>
  )
}
