import { counted } from '../words/numbers.ts'

/** What the state of a study depends on. */
export interface StateOf {
  archived: boolean
  paused: boolean
  done: boolean
  running: number
  ended: number
}

/** The state of a study in a few words. */
export function stateText({ archived, paused, done, running, ended }: StateOf): string {
  if (archived) return 'archived'
  if (done) return 'done'
  if (paused) return running > 0 ? `paused, ${running} still running` : 'paused'
  if (running > 0) return `${running} running`
  return ended === 0 ? 'not begun' : 'idle'
}

/** The mark before these words: a class of the style sheet. */
export function stateMark({ archived, paused, done, running }: StateOf): string {
  if (done) return 'done'
  return running > 0 && !paused && !archived ? 'running' : 'waiting'
}

/** Trials by state in one sentence. */
export const countsText = (counts: {
  waiting: number
  running: number
  complete: number
  failed: number
}): string =>
  `${counted(counts.complete, 'trial')} complete, ${counts.failed} failed, ${counts.running} running, ${counts.waiting} waiting`
