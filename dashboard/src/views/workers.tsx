import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function Workers(_: StudyViewProps) {
  return <View title="Workers" question="Are the workers busy?" empty="Not written yet." />
}
