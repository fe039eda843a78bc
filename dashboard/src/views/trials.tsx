import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function Trials(_: StudyViewProps) {
  return <View title="Trials" question="What was tried, and what came of it?" empty="Not written yet." />
}
