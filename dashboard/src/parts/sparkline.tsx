/** A small curve of the best so far, without axes: its meaning is beside it in words. */
export function Sparkline({ values, label }: { values: number[]; label: string }) {
  const finite = values.filter(Number.isFinite)
  if (finite.length < 2) return <span class="spark" />
  const [low, high] = [Math.min(...finite), Math.max(...finite)]
  // A few bad values at the beginning would hide all that came later.
  const shown = low > 0 && high / low > 100 ? finite.map(Math.log) : finite
  const [bottom, top] = [Math.min(...shown), Math.max(...shown)]
  const span = top - bottom || 1
  const x = (i: number) => 2 + (i * 116) / (shown.length - 1)
  const y = (value: number) => 2 + 24 * (1 - (value - bottom) / span)
  const path = shown
    .map((value, i) =>
      i === 0 ? `M${x(0)},${y(value).toFixed(1)}` : `H${x(i).toFixed(1)}V${y(value).toFixed(1)}`,
    )
    .join('')
  return (
    <svg class="spark" viewBox="0 0 120 28" role="img" aria-label={label}>
      <title>{label}</title>
      <path d={path} />
      <circle cx={x(shown.length - 1)} cy={y(shown.at(-1) ?? 0)} r="2" />
    </svg>
  )
}
