import { useEffect } from 'preact/hooks'
import { STUDY_VIEWS, type StudyViewProps } from '../app/views.tsx'

/** All views of a study under one another: to print, or to scroll through. */
export function Everything({ study, open }: StudyViewProps) {
  useEffect(() => {
    document.title = `${study.name} · noregret`
  })
  return (
    <div class="everything">
      {STUDY_VIEWS.filter((one) => one.onePage !== false && (one.fits?.(study) ?? true)).map(
        ({ word, view: Shown }) => (
          <Shown key={word} study={study} open={open} />
        ),
      )}
    </div>
  )
}
