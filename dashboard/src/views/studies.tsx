import { View } from '../parts/view.tsx'

export function Studies() {
  return (
    <View
      title="Studies"
      question="Which studies are there, and how are they doing?"
      empty="Not written yet."
    />
  )
}
