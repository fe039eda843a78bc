/** A choice of a few, side by side. */
export function Choice<T extends string>({
  label,
  options,
  value,
  choose,
}: {
  /** What is chosen, for screen readers. */
  label: string
  options: [T, string][]
  value: T | null
  choose: (value: T) => void
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([word, text]) => (
        <button key={word} type="button" aria-pressed={value === word} onClick={() => choose(word)}>
          {text}
        </button>
      ))}
    </div>
  )
}
