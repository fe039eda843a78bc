import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function WhereIsItGood(_: StudyViewProps) {
  return <View title="Map" question="Where is it good?" empty="Not written yet." />
}
