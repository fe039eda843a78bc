/** The state of a trial: a word with a mark whose shape says the same as its color. */
export function State({ state }: { state: string }) {
  return <span class={`badge ${state}`}>{state}</span>
}
