import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function Importance(_: StudyViewProps) {
  return <View title="Importance" question="What matters?" empty="Not written yet." />
}
