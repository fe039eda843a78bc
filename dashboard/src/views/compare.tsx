import { View } from '../parts/view.tsx'

export function Compare() {
  return <View title="Compare" question="Which study is better?" empty="Not written yet." />
}
