import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function Pool(_: StudyViewProps) {
  return <View title="Pool" question="What has been covered?" empty="Not written yet." />
}
