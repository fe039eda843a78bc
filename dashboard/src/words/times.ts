import { signal } from '@preact/signals'

/** Now, in milliseconds, for times in words: it moves every ten seconds. */
export const now = signal(Date.now())

let timer: ReturnType<typeof setInterval> | undefined

/** Keeps `now` going. */
export function startClock(): void {
  timer = setInterval(() => {
    now.value = Date.now()
  }, 10_000)
}

/** Stops the clock at a moment: in a report it is when the report was made. */
export function stopClock(at: string): void {
  clearInterval(timer)
  const moment = Date.parse(at)
  if (Number.isFinite(moment)) now.value = moment
}

/** A length of time in words: `3 min`, `2.5 h`. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–'
  if (seconds < 0) return `−${duration(-seconds)}`
  if (seconds === 0) return '0 s'
  if (seconds < 0.001) return '<1 ms'
  if (seconds < 0.995) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 59.5) return `${short(seconds)} s`
  if (seconds < 3570) return `${short(seconds / 60)} min`
  if (seconds < 47.5 * 3600) return `${short(seconds / 3600)} h`
  return `${short(seconds / 86_400)} days`
}

const short = (value: number): string =>
  value < 9.95 ? String(Number(value.toFixed(1))) : String(Math.round(value))

/** A moment in words, by the clock `now`: `3 min ago`. */
export function ago(time: string | number | null | undefined): string {
  const moment = millis(time)
  if (moment === null) return '–'
  const seconds = (now.value - moment) / 1000
  if (seconds < -60) return `in ${duration(-seconds)}`
  return seconds < 10 ? 'just now' : `${duration(seconds)} ago`
}

/** A moment exactly, in the reader's time zone. */
export function exact(time: string | number | null | undefined): string {
  const moment = millis(time)
  if (moment === null) return ''
  return new Date(moment).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}

function millis(time: string | number | null | undefined): number | null {
  if (time === null || time === undefined) return null
  const moment = typeof time === 'number' ? time : Date.parse(time)
  return Number.isFinite(moment) ? moment : null
}
