import { useMemo } from 'preact/hooks'
import type { Workers } from '../api/types.ts'
import { studyLink } from '../app/router.ts'
import { isStill } from '../app/session.ts'
import { count } from '../words/numbers.ts'
import type { Slow } from '../words/slow.ts'
import { duration, now } from '../words/times.ts'

/** Trials that are named; of the others only the number. */
const NAMED = 3

/** Says which running trials take much longer than usual, with links to them. */
export function SlowTrials({ study, slow }: { study: string; slow: Slow[] }) {
  if (slow.length === 0) return null
  const rest = slow.length - NAMED
  return (
    <>
      {slow.slice(0, NAMED).map(({ number, seconds, usual }, i) => (
        <>
          {i > 0 && ' '}
          <a href={studyLink(study, `trial/${number}`)}>Trial {number}</a> has run for {duration(seconds)},
          usually {duration(usual)}: is it stuck?
        </>
      ))}
      {rest > 0 && ` ${count(rest)} more take as long.`}
    </>
  )
}

/** Now, in seconds since the study began: by the server's clock when it answered, and by this machine's since then. */
export function useNow(data: Workers | undefined): number {
  const answered = useMemo(() => Date.now(), [data])
  const since = isStill.value ? 0 : Math.max(0, (now.value - answered) / 1000)
  return (data?.now ?? 0) + since
}
