import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function TrialPage({ number }: StudyViewProps & { number: number }) {
  return (
    <View
      title={`Trial ${number}`}
      question="What came of it, and why was it chosen?"
      empty="Not written yet."
    />
  )
}
