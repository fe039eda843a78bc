import { useState } from 'preact/hooks'
import { ask, studyPath } from '../api/ask.ts'
import type { Annotate, Pause, Study } from '../api/types.ts'
import { mayWork } from '../app/session.ts'
import type { OpenStudy } from '../app/study.ts'
import { Dialog } from './dialog.tsx'
import { Enqueue, enqueueing } from './enqueue.tsx'

/** What may be done with a study; nothing for those who only look. */
export function StudyActions({ study, open }: { study: Study; open: OpenStudy }) {
  const [editing, setEditing] = useState(false)
  const [error, setError] = useState<string>('')
  const pause = async () => {
    setError('')
    try {
      const body: Pause = { paused: !study.paused }
      open.study.value = await ask<Study>('POST', `${studyPath(study.name)}:pause`, body)
    } catch (problem) {
      setError((problem as Error).message)
    }
  }
  return (
    <div class="study-actions">
      {error && (
        <span role="alert" class="bad small">
          {error}
        </span>
      )}
      {mayWork.value && (
        <>
          <button type="button" class="plain" onClick={() => (enqueueing.value = {})}>
            Enqueue …
          </button>
          <button
            type="button"
            class="plain"
            onClick={() => void pause()}
            disabled={study.done && !study.paused}
          >
            {study.paused ? 'Go on' : 'Pause'}
          </button>
          <button type="button" class="plain" onClick={() => setEditing(true)}>
            Tags and note …
          </button>
        </>
      )}
      {editing && <Annotating study={study} open={open} close={() => setEditing(false)} />}
      {enqueueing.value && <Enqueue study={study} open={open} />}
    </div>
  )
}

function Annotating({ study, open, close }: { study: Study; open: OpenStudy; close: () => void }) {
  const [tags, setTags] = useState((study.tags ?? []).join(', '))
  const [note, setNote] = useState(study.note ?? '')
  const submit = async () => {
    const words = tags.split(',').map((tag) => tag.trim())
    const body: Annotate = { note, tags: [...new Set(words.filter((tag) => tag !== ''))] }
    open.study.value = await ask<Study>('POST', `${studyPath(study.name)}:annotate`, body)
    close()
  }
  return (
    <Dialog title={`Tags and note of ${study.name}`} action="Save" submit={submit} close={close}>
      <label class="field">
        Tags, with commas between them
        <input value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
      </label>
      <p class="quiet small">
        Studies that share a tag are compared as one group, for instance the same setting with other seeds.
      </p>
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
