import type { StudyViewProps } from '../app/views.tsx'
import { View } from '../parts/view.tsx'

export function History(_: StudyViewProps) {
  return <View title="History" question="Am I done?" empty="Not written yet." />
}
