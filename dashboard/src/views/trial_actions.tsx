import { useState } from 'preact/hooks'
import { ask, studyPath } from '../api/ask.ts'
import type { Annotate, Fail, Replace, Study, Tell, Trial } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { enqueueing } from '../parts/enqueue.tsx'
import { workerText } from '../words/workers.ts'

type Action = 'tell' | 'fail' | 'release' | 'replace' | 'note'

/** What may be done with a trial, by its state. */
export function TrialActions({ study, trial, changed }: { study: Study; trial: Trial; changed: () => void }) {
  const [action, setAction] = useState<Action | null>(null)
  const close = () => setAction(null)
  const done = () => {
    close()
    changed()
  }
  const ended = trial.state === 'complete' || trial.state === 'failed'
  const props = { path: `${studyPath(study.name)}/trials/${trial.number}`, trial, done, close }
  return (
    <div class="row">
      {!ended && (
        <button type="button" onClick={() => setAction('tell')}>
          Tell its value …
        </button>
      )}
      {!ended && (
        <button type="button" onClick={() => setAction('fail')}>
          It failed …
        </button>
      )}
      {trial.state === 'running' && trial.worker && (
        <button type="button" onClick={() => setAction('release')}>
          Give back …
        </button>
      )}
      {ended && (
        <button type="button" onClick={() => setAction('replace')}>
          Correct the result …
        </button>
      )}
      <button type="button" onClick={() => setAction('note')}>
        {trial.note ? 'Change the note …' : 'Note …'}
      </button>
      <button
        type="button"
        onClick={() => {
          enqueueing.value = trial.id === undefined ? { ...trial.params } : { id: trial.id }
        }}
      >
        Enqueue again …
      </button>
      {action === 'tell' && <TellForm {...props} />}
      {action === 'fail' && <FailForm {...props} />}
      {action === 'release' && <ReleaseForm {...props} />}
      {action === 'replace' && <ReplaceForm {...props} />}
      {action === 'note' && <NoteForm {...props} />}
    </div>
  )
}

interface FormProps {
  path: string
  trial: Trial
  done: () => void
  close: () => void
}

/** A number of a form; empty is none. */
export function numberOf(text: string, name: string): number | undefined {
  if (text.trim() === '') return undefined
  const value = Number(text.trim().replace('−', '-'))
  if (!Number.isFinite(value))
    throw new Error(`${name}: ${JSON.stringify(text)} is no number, such as 0.25 or 1e-3`)
  return value
}

function NumberField({
  label,
  text,
  set,
  required,
}: {
  label: string
  text: string
  set: (text: string) => void
  required?: boolean
}) {
  return (
    <label class="field">
      {label}
      <input
        inputMode="decimal"
        autocomplete="off"
        required={required ?? false}
        value={text}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  )
}

function TellForm({ path, trial, done, close }: FormProps) {
  const [value, setValue] = useState('')
  const [noise, setNoise] = useState('')
  const submit = async () => {
    const told = numberOf(value, 'Value')
    if (told === undefined) throw new Error('A value is needed; if there is none, the trial failed')
    const variance = numberOf(noise, 'Variance')
    const body: Tell = { value: told, ...(variance === undefined ? {} : { noise_var: variance }) }
    await ask('POST', `${path}:tell`, body)
    done()
  }
  return (
    <Dialog title={`The value of trial ${trial.number}`} action="Tell" submit={submit} close={close}>
      <NumberField label="Value" text={value} set={setValue} required />
      <NumberField label="Variance of its noise, if it is known" text={noise} set={setNoise} />
    </Dialog>
  )
}

function FailForm({ path, trial, done, close }: FormProps) {
  const [reason, setReason] = useState('')
  const [retry, setRetry] = useState(false)
  const submit = async () => {
    const body: Fail = { reason: reason.trim(), ...(retry ? { retry } : {}) }
    await ask('POST', `${path}:fail`, body)
    done()
  }
  return (
    <Dialog
      title={`Trial ${trial.number} failed`}
      action="It failed"
      ready={reason.trim() !== ''}
      submit={submit}
      close={close}
    >
      <label class="field">
        Why
        <input required value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <label class="inline">
        <input type="checkbox" checked={retry} onChange={(event) => setRetry(event.currentTarget.checked)} />
        Try again, as often as the study allows
      </label>
    </Dialog>
  )
}

function ReleaseForm({ path, trial, done, close }: FormProps) {
  const submit = async () => {
    await ask('POST', `${path}:release`, { worker: trial.worker, trials: [trial.number] })
    done()
  }
  return (
    <Dialog title={`Give trial ${trial.number} back`} action="Give back" submit={submit} close={close}>
      <p>
        {workerText(trial.worker ?? '')} evaluates it at the moment. After this it waits for another worker;
        if that one tells a value all the same, the first result counts.
      </p>
    </Dialog>
  )
}

function ReplaceForm({ path, trial, done, close }: FormProps) {
  const [failed, setFailed] = useState(trial.state === 'failed')
  const [value, setValue] = useState(trial.value === null ? '' : String(trial.value))
  const [reason, setReason] = useState('')
  const submit = async () => {
    const told = failed ? null : numberOf(value, 'Value')
    if (told === undefined) throw new Error('A value is needed, or the mark that it failed')
    const body: Replace = { value: told, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
    await ask('POST', `${path}:replace`, body)
    done()
  }
  return (
    <Dialog
      title={`Correct the result of trial ${trial.number}`}
      action="Correct"
      submit={submit}
      close={close}
    >
      <p class="quiet small">The old result stays in the log; the model learns from the new one.</p>
      <label class="inline">
        <input
          type="checkbox"
          checked={failed}
          onChange={(event) => setFailed(event.currentTarget.checked)}
        />
        The evaluation failed after all
      </label>
      {!failed && <NumberField label="Value" text={value} set={setValue} required />}
      <label class="field">
        Why
        <input value={reason} maxLength={10_000} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </Dialog>
  )
}

function NoteForm({ path, trial, done, close }: FormProps) {
  const [note, setNote] = useState(trial.note ?? '')
  const submit = async () => {
    const body: Annotate = { note }
    await ask('POST', `${path}:annotate`, body)
    done()
  }
  return (
    <Dialog title={`A note on trial ${trial.number}`} action="Save" submit={submit} close={close}>
      <label class="field">
        Note
        <textarea
          rows={4}
          maxLength={10_000}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  )
}
