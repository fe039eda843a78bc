import { describe, expect, test, vi } from 'vitest'
import { history as historyOf } from '../fixtures/answers.mjs'
import { Lives } from '../fixtures/live.mjs'
import { studies } from '../fixtures/studies.mjs'
import { fold } from '../src/api/fold.ts'
import type { History, LogEvent } from '../src/api/types.ts'

const empty: History = {
  position: 1,
  begun: '2026-11-18T06:00:00Z',
  counts: { waiting: 0, running: 0, complete: 0, failed: 0 },
  planned: 10,
  thinned: false,
  number: [],
  place: [],
  value: [],
  ended: [],
  best: [],
  running: [],
}

/** Folds events, one a second. */
function folded(events: Record<string, unknown>[], direction: 'minimize' | 'maximize' = 'minimize') {
  let history = empty
  const said: string[] = []
  events.forEach((event, i) => {
    const time = new Date(Date.parse('2026-11-18T06:00:00Z') + 1000 * (i + 1)).toISOString()
    const made = fold(history, { position: i + 2, time, event: event as LogEvent['event'] }, direction)
    history = made.history
    said.push(`${made.studyChanged ? 'study' : ''}${made.historyChanged ? 'history' : ''}:${made.trials}`)
  })
  return { history, said }
}

const asked = (first: number, n: number) => ({
  asked: { first, asked: { choices: Array.from({ length: n }, () => ({ x: [0] })) }, seconds: 0.1 },
})

describe('fold', () => {
  test('a trial from its proposal to its value', () => {
    const { history } = folded([
      asked(0, 2),
      { leased: { number: 0, worker: 'a' } },
      { told: { number: 0, value: 3.5 } },
    ])
    expect(history.counts).toEqual({ waiting: 1, running: 0, complete: 1, failed: 0 })
    expect([history.number, history.place, history.value, history.ended]).toEqual([[0], [0], [3.5], [3]])
    expect(history.best).toEqual([[0, 3, 3.5]])
    expect(history.running).toEqual([])
    expect(history.position).toBe(4)
  })

  test('the best goes the way of the direction, and only when it is better', () => {
    const tell = [3, 4, 2, 2].map((value, number) => ({ told: { number, value } }))
    expect(folded([asked(0, 4), ...tell]).history.best.map(([, , value]) => value)).toEqual([3, 2])
    expect(folded([asked(0, 4), ...tell], 'maximize').history.best.map(([, , value]) => value)).toEqual([
      3, 4,
    ])
  })

  test('a lease that ends without a result, or begins twice, is counted once', () => {
    const { history } = folded([
      asked(0, 1),
      { leased: { number: 0, worker: 'a' } },
      { leased: { number: 0, worker: 'b' } },
      { released: { number: 0, lost: true } },
      { released: { number: 0 } },
    ])
    expect(history.counts).toEqual({ waiting: 1, running: 0, complete: 0, failed: 0 })
    expect(history.running).toEqual([])
  })

  test('failures have no value; what was added never waited; NaN is no value', () => {
    const { history } = folded([
      asked(0, 1),
      { failed: { number: 0, reason: 'no' } },
      { added: { number: 1, params: {}, choice: { x: [] }, value: 1 } },
      { added: { number: 2, params: {}, choice: { x: [] }, value: 'NaN' } },
    ])
    expect(history.value).toEqual([null, 1, null])
    expect(history.counts).toEqual({ waiting: 0, running: 0, complete: 1, failed: 2 })
  })

  test('says what has to be asked again', () => {
    const { said, history } = folded([
      { planned: { trials: 20 } },
      { noted: { number: 3, note: 'x' } },
      { replaced: { number: 3, value: 1 } },
      { renewed: { worker: 'a', until: 1 } },
      { somethingNew: { number: 7 } },
    ])
    expect(said).toEqual(['study:', 'study:3', 'studyhistory:3', ':', 'studyhistory:7'])
    expect(history.planned).toBe(20)
  })

  test('the study is asked for again when it may be done', () => {
    const { said } = folded([asked(0, 3), ...[0, 1, 2].map((number) => ({ told: { number, value: 1 } }))])
    expect(said).toEqual([':0,1,2', ':0', ':1', 'study:2'])
  })

  test('what was there before is not changed', () => {
    const before = structuredClone(empty)
    fold(empty, { position: 9, time: '2026-11-18T06:00:09Z', event: asked(0, 3) as never }, 'minimize')
    expect(empty).toEqual(before)
  })

  test('following a study gives the same as asking again', () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-18T12:00:00Z') })
    try {
      const known = studies()
      const lives = new Lives(known, false)
      for (const name of ['conv-net', 'flaky-simulator']) {
        const study = known.get(name)
        if (!study) throw new Error('it is made up')
        let history = historyOf(study, 1e6) as unknown as History
        const heard: LogEvent[] = []
        lives.listeners.set(
          name,
          new Set([{ write: (text: string) => heard.push(JSON.parse(text.split('data: ')[1] ?? '')) }]),
        )
        for (let i = 0; i < 200; i += 1) {
          vi.advanceTimersByTime(1000)
          lives.turn(study)
        }
        for (const event of heard) history = fold(history, event, study.direction).history
        const again = historyOf(study, 1e6) as unknown as History
        const rough = (made: History) => ({
          ...made,
          ended: made.ended.map((t) => Math.round(t)),
          best: made.best.map(([p, , v]) => [p, v]),
          running: made.running.map(([n, t, w]) => [n, Math.round(t), w]).sort(),
        })
        expect(rough(history)).toEqual(rough(again))
      }
    } finally {
      vi.useRealTimers()
    }
  })
})
