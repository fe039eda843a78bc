import { describe, expect, it } from 'vitest'
import type { LeftOut, Share, Worker, Workers } from '../src/api/types.ts'
import { interactionsText, inWords, listed } from '../src/views/importance_words.ts'
import { coverageText, explainedText, noiseText } from '../src/views/trust_words.ts'
import { idleOfAll, idleShare, summaryText } from '../src/views/workers_words.ts'

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
  it('lists names', () => expect(listed(['a', 'b', 'c'])).toBe('a, b and c'))
})

describe('trust', () => {
  const left = (n: number, half: number, wide: number): LeftOut => ({
    number: Array.from({ length: n }, (_, i) => i),
    value: [],
    mean: [],
    sd: [],
    coverage: [half, 0.9, wide],
    explained: 0.9,
  })
  it('calls a difference one only where chance does not explain it', () => {
    // 17 of 20 is within two deviations (0.049) of 19; 850 of 1,000 is 14 of them away.
    expect(coverageText(left(20, 0.5, 0.86))).toMatch(/^The intervals are honest/)
    expect(coverageText(left(1000, 0.5, 0.85))).toMatch(/^The model is too sure/)
    expect(coverageText(left(1000, 0.9, 1))).toMatch(/^The model is more careful/)
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
  it('are idle where they have nothing to evaluate', () => {
    expect(idleShare(worker(75))).toBe(0.25)
    expect(idleShare({ ...worker(0), last: 0 })).toBeNull()
    expect(idleOfAll([worker(50), worker(100)])).toBe(0.25)
    expect(idleOfAll([])).toBeNull()
  })
  it('are summed up in sentences', () => {
    const data: Workers = {
      position: 1,
      begun: null,
      now: 100,
      workers: [worker(20, 1), worker(20)],
      spans: [],
      thinned: false,
      evaluation_seconds: 40,
      thinking_seconds: 60,
    }
    const text = plain(summaryText(data))
    expect(text).toContain('1 worker of 2 has something to evaluate now.')
    expect(text).toContain('idle for 80 % of their time: fewer would do')
    expect(text).toContain('60 % of all the time spent: a faster algorithm')
  })
})
