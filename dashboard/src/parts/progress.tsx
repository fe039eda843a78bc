import type { Counts } from '../api/types.ts'

/** How much is done, how much failed, how much runs. */
export function Progress({ counts, planned }: { counts: Counts; planned: number }) {
  const all = Math.max(planned, counts.complete + counts.failed + counts.running, 1)
  const ended = counts.complete + counts.failed
  const rest = Math.max(planned - ended - counts.running, 0)
  return (
    <span
      class="progress"
      title={`Blue: ${counts.complete} complete. Red: ${counts.failed} failed. Yellow: ${counts.running} running. Gray: ${rest} to come.`}
      role="progressbar"
      aria-label="Trials done"
      aria-valuemin={0}
      aria-valuemax={planned}
      aria-valuenow={Math.min(ended, planned)}
    >
      <span style={{ width: `${(100 * counts.complete) / all}%`, background: 'var(--complete)' }} />
      <span style={{ width: `${(100 * counts.failed) / all}%`, background: 'var(--failed)' }} />
      <span style={{ width: `${(100 * counts.running) / all}%`, background: 'var(--running)' }} />
    </span>
  )
}
