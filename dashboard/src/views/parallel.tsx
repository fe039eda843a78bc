import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function Parallel(_: StudyViewProps) {
  return <View title="Parallel" question="How do the parameters go together?" empty="Not written yet." />
}
