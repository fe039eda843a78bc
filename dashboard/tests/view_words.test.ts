import { describe, expect, it } from 'vitest'
import type { LeftOut, Share, Span, Worker, Workers } from '../src/api/types.ts'
import { interactionsText, inWords, listed, pairOf } from '../src/views/importance_words.ts'
import { allowed, coverageText, explainedText, noiseText } from '../src/views/trust_words.ts'
import { idleOfAll, idleShare, presences, seenText, summaryText } from '../src/views/workers_words.ts'
import { slowTrials } from '../src/words/slow.ts'

/** With plain spaces, whichever stand before a sign of percent. */
const plain = (text: string): string => text.replace(/\s/g, ' ')

const share = (x: number, spread = 0.005): Share => ({ share: x, low: x - spread, high: x + spread })

describe('importance', () => {
  const parameters = [
    { name: 'lr', first: share(0.5), total: share(0.7, 0.1) },
    { name: 'depth', first: share(0.2), total: share(0.4) },
    { name: 'bias', first: share(0), total: share(0.001) },
  ]
  it('is said of the first, and of what does nothing', () => {
    const text = plain(inWords({ evaluations: 9, parameters, interactions: 0.3 }))
    expect(text).toContain('lr matters most: with its interactions it explains 70 %')
    expect(text).toContain('Then comes depth with 40 %.')
    expect(text).toContain('bias seems to do nothing')
  })
  it('admits when the order is open', () => {
    const close = [parameters[0], { name: 'depth', first: share(0.5), total: share(0.65, 0.1) }].filter(
      (p) => p !== undefined,
    )
    expect(inWords({ evaluations: 9, parameters: close, interactions: 0 })).toContain('not certain yet')
  })
  it('says what interactions mean', () => {
    expect(plain(interactionsText({ evaluations: 9, parameters, interactions: 0.3 }))).toMatch(
      /^A good part.*30 %.*depth and lr/,
    )
    expect(interactionsText({ evaluations: 9, parameters, interactions: 0.01 })).toMatch(/hardly interact/)
    expect(interactionsText({ evaluations: 9, parameters, interactions: -0.01 })).toMatch(/hardly interact/)
  })
  it('shows a map of the same pair as it speaks of', () => {
    const three = [...parameters.slice(0, 2), { name: 'kind', first: share(0.01), total: share(0.35) }]
    expect(interactionsText({ evaluations: 9, parameters: three, interactions: 0.3 })).toMatch(/kind and /)
    expect(pairOf({ evaluations: 9, parameters: three, interactions: 0.3 })[0]).toBe('kind')
    expect(pairOf({ evaluations: 9, parameters: three, interactions: 0.01 })).toEqual(['lr', 'depth'])
    expect(pairOf({ evaluations: 9, parameters: three.slice(0, 1), interactions: 0.3 })).toEqual(['lr'])
  })
  it('lists names', () => expect(listed(['a', 'b', 'c'])).toBe('a, b and c'))
})

describe('trust', () => {
  const left = (n: number, half: number, most: number): LeftOut => ({
    number: Array.from({ length: n }, (_, i) => i),
    value: [],
    mean: [],
    sd: [],
    coverage: [half, most, 0.95],
    explained: 0.9,
  })
  it('calls a difference one only where chance does not explain it', () => {
    expect(plain(coverageText(left(62, 0.5, 0.84)))).toMatch(
      /^84 % .* 90 % intervals: about right \(.* of 62 values/,
    )
    expect(coverageText(left(1000, 0.5, 0.85))).toMatch(/too few .* too sure of itself/)
    expect(coverageText(left(1000, 0.5, 1))).toMatch(/more than it need be/)
    expect(coverageText(left(1000, 0.9, 0.91))).toMatch(/more careful than it needs to be/)
  })
  it('knows what chance allows', () => {
    // Of 10 values with 0.9 each: 5 or fewer with 0.0016, 6 or fewer with 0.0128; all of them with 0.35.
    expect(allowed(10, 0.9)).toEqual([0.6, 1])
    // Of many, 2.576 deviations (0.0095 each) to either side.
    const [low, high] = allowed(1000, 0.9)
    expect(Math.abs(low - (0.9 - 2.576 * 0.00949))).toBeLessThan(0.002)
    expect(Math.abs(high - (0.9 + 2.576 * 0.00949))).toBeLessThan(0.002)
    expect(allowed(0, 0.9)).toEqual([0, 1])
    // The first probability of so many is far below the smallest number.
    expect(allowed(100_000, 0.9)[0]).toBeCloseTo(0.8976, 3)
  })
  it('warns of predictions that are worse than none', () => {
    expect(explainedText({ ...left(9, 0, 0), explained: -0.1 })).toMatch(/no better than the mean/)
    expect(plain(explainedText(left(9, 0, 0)))).toMatch(/90 %.*knows the objective well/)
  })
  it('puts noise beside signal', () => {
    const card = { evaluations: 9, of: 9, lengthscales: [] }
    expect(noiseText({ ...card, noise_sd: 2, signal_sd: 1 })).toMatch(/several times/)
    expect(noiseText({ ...card, noise_sd: 0.001, signal_sd: 1 })).toMatch(/next to no noise/)
    expect(noiseText({ ...card, noise_sd: 1, signal_sd: 0 })).toMatch(/no effect/)
  })
})

describe('workers', () => {
  const worker = (busy: number, running = 0): Worker => ({
    name: 'w',
    host: null,
    running,
    complete: 3,
    failed: 0,
    lost: 0,
    first: 0,
    last: 100,
    busy,
  })
  const span = (worker: number, begin: number, end: number | null, number = 0): Span => ({
    number,
    worker,
    begin,
    end,
    outcome: end === null ? 'running' : 'complete',
  })
  const answer = (workers: Worker[], spans: Span[] = [], now = 100): Workers => ({
    position: 1,
    begun: null,
    now,
    workers,
    spans,
    thinned: false,
    evaluation_seconds: 40,
    thinking_seconds: 60,
  })
  it('are idle where they have nothing to evaluate', () => {
    const there = (one: Worker) => ({ worker: one, until: one.last, left: false })
    expect(idleShare(there(worker(75)))).toBe(0.25)
    expect(idleShare(there({ ...worker(0), last: 0 }))).toBeNull()
    expect(idleOfAll([there(worker(50)), there(worker(100))])).toBe(0.25)
    expect(idleOfAll([])).toBeNull()
  })
  it('are idle up to now while the study goes on, and not after its end', () => {
    const data = answer([worker(100)], [], 150)
    expect(presences(data, true).map(idleShare)).toEqual([1 - 100 / 150])
    expect(presences(data, false).map(idleShare)).toEqual([0])
    expect(presences(data, true).map((one) => seenText(one, 150))).toEqual(['last seen 50 s ago'])
    expect(plain(summaryText(data, true))).toContain('1 is idle. All in all, workers were idle for 33 %')
  })
  it('have left if they were not seen for two of their evaluations, and a minute at least', () => {
    const at = (now: number, took: number) =>
      presences(answer([worker(100)], [span(0, 0, took)], now), true).map(({ left, until }) => [left, until])
    expect(at(159, 1)).toEqual([[false, 159]])
    expect(at(161, 1)).toEqual([[true, 100]])
    expect(at(299, 100)).toEqual([[false, 299]])
    expect(at(301, 100)).toEqual([[true, 100]])
    const gone = answer([worker(100)], [], 500)
    expect(presences(gone, true).map((one) => seenText(one, 500))).toEqual([
      'has left: last seen 6.7 min ago',
    ])
    expect(summaryText(gone, true)).toContain('1 seems to have left.')
    // Its lease says that it is there.
    expect(presences(answer([worker(400, 1)], [], 500), true)[0]).toMatchObject({ left: false, until: 500 })
  })
  it('may be stuck with a trial that takes much longer than all before', () => {
    const spans = [1, 1, 1, 1, 4].map((took, i) => span(0, i, i + took, i))
    const running = span(0, 10, null, 9)
    expect(slowTrials({ spans: [...spans, running] }, 15)).toEqual([])
    expect(slowTrials({ spans: [...spans, running] }, 15.1)).toMatchObject([{ number: 9, usual: 1 }])
    expect(slowTrials({ spans: [...spans.slice(1), running] }, 99)).toEqual([])
    // Five times the median, but not longer than the longest.
    expect(slowTrials({ spans: [...spans, span(0, 0, 30), running] }, 20)).toEqual([])
  })
  it('are summed up in sentences', () => {
    const text = plain(summaryText(answer([worker(20, 1), worker(20)]), true))
    expect(text).toContain('1 worker of 2 has something to evaluate now. 1 is idle.')
    expect(text).toContain('idle for 80 % of their time: fewer would do')
    expect(text).toContain('60 % of all the time spent: a faster algorithm')
  })
})
