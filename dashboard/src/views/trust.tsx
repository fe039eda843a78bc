import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function Trust(_: StudyViewProps) {
  return <View title="Trust" question="Can I trust it?" empty="Not written yet." />
}
