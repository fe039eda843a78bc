import { ago, exact } from '../words/times.ts'

/** A moment in words, with the exact time as its title. */
export function Ago({ time }: { time: string | null | undefined }) {
  if (!time) return <span class="quiet">–</span>
  return (
    <time dateTime={time} title={exact(time)}>
      {ago(time)}
    </time>
  )
}
