import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { ask, studyPath } from '../api/ask.ts'
import type { Param, Params, Study, Trials, Value } from '../api/types.ts'
import { go, studyLink } from '../app/router.ts'
import type { OpenStudy } from '../app/study.ts'
import { choicesOf } from '../words/space.ts'
import { Dialog } from './dialog.tsx'

export { choicesOf }

/** Values that the form to enqueue a point begins with; null while it is closed. A map opens it with the point that was clicked. */
export const enqueueing = signal<Params | null>(null)

/** A form for a point to be evaluated next. */
export function Enqueue({ study, open }: { study: Study; open: OpenStudy }) {
  const begun = enqueueing.value ?? {}
  const pool = 'pool' in study.space
  const declared: [string, Param][] =
    'parameters' in study.space ? Object.entries(study.space.parameters.parameters) : []
  const start = { ...study.best_observed?.params, ...begun }
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    pool
      ? { id: String(begun.id ?? '') }
      : Object.fromEntries(declared.map(([name, param]) => [name, shortText(start[name] ?? middle(param))])),
  )
  const close = () => {
    enqueueing.value = null
  }
  const submit = async () => {
    const point: Params = pool
      ? { id: texts.id ?? '' }
      : Object.fromEntries(
          declared.map(([name, param]) => [
            name,
            exactly(start[name], texts[name] ?? '') ?? valueOfText(param, texts[name] ?? ''),
          ]),
        )
    const made = await ask<Trials>('POST', `${studyPath(study.name)}/trials:enqueue`, { points: [point] })
    close()
    const number = made.trials[0]?.number
    if (number !== undefined) go(studyLink(open.name, `trial/${number}`))
  }
  const set = (name: string, text: string) => setTexts((old) => ({ ...old, [name]: text }))
  return (
    <Dialog title="Enqueue a point" action="Enqueue" submit={submit} close={close}>
      <p class="quiet small">
        {pool
          ? 'This candidate is evaluated next, before what the algorithm proposes.'
          : 'This point is evaluated next, before what the algorithm proposes. It begins at the best so far.'}
      </p>
      {pool ? (
        <label class="field">
          Candidate, by its name
          <input required value={texts.id ?? ''} onInput={(event) => set('id', event.currentTarget.value)} />
        </label>
      ) : (
        <div class="fields">
          {declared.map(([name, param]) => (
            <Field
              key={name}
              name={name}
              param={param}
              text={texts[name] ?? ''}
              set={(text) => set(name, text)}
            />
          ))}
        </div>
      )}
    </Dialog>
  )
}

function Field({
  name,
  param,
  text,
  set,
}: {
  name: string
  param: Param
  text: string
  set: (text: string) => void
}) {
  const choices = choicesOf(param)
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the two controls is always there.
    <label class="field">
      {name}
      {choices ? (
        <select value={text} onChange={(event) => set(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      ) : (
        'low' in param && (
          <input
            type="number"
            required
            min={param.low}
            max={param.high}
            step={param.type === 'int' ? 1 : 'any'}
            value={text}
            title={`${param.low} to ${param.high}`}
            onInput={(event) => set(event.currentTarget.value)}
          />
        )
      )}
    </label>
  )
}

/** A value with no more digits than one wants to read in a form. */
const shortText = (value: Value): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(6))) : String(value)

/** The value that the form began with, with all its digits, if its text was left alone. */
const exactly = (value: Value | undefined, text: string): Value | undefined =>
  value !== undefined && shortText(value) === text ? value : undefined

/** What a text of the form means. */
export function valueOfText(param: Param, text: string): Value {
  const choice = choicesOf(param)?.find((value) => String(value) === text)
  if (choice !== undefined) return choice
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) throw new Error(`${JSON.stringify(text)} is no number`)
  return value
}

/** Somewhere in the middle, for parameters about which nothing is known. */
function middle(param: Param): Value {
  const choices = choicesOf(param)
  if (choices) return choices[0] ?? ''
  if (!('low' in param)) return ''
  const value = param.log ? Math.sqrt(param.low * param.high) : (param.low + param.high) / 2
  return param.type === 'int' ? Math.round(value) : Number(value.toPrecision(4))
}
