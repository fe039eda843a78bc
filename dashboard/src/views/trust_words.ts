// What leave-one-out predictions and the model's noise say, in words.

import type { LeftOut, ModelCard } from '../api/types.ts'
import { counted, number, percent } from '../words/numbers.ts'

/** How sure one is that an honest model's share is in the range that chance allows. */
const SURE = 0.99

/** The shares of n values that chance allows where each counts with a probability: the middle of the binomial law. */
export function allowed(n: number, share: number): [number, number] {
  if (n < 1) return [0, 1]
  const outside = (1 - SURE) / 2
  let [below, low, high] = [0, 0, n]
  // By logarithms: the first probability of many is far below what a number can hold.
  let term = n * Math.log(1 - share)
  for (let k = 0; k <= n; k += 1) {
    if (below <= outside) low = k
    below += Math.exp(term)
    if (below < 1 - outside) high = k + 1
    term += Math.log(((n - k) / (k + 1)) * (share / (1 - share)))
  }
  return [low / n, Math.min(high, n) / n]
}

/** How honest the intervals are: a difference is called one only where chance does not explain it. The level of 90 % counts. */
export function coverageText({ coverage, number: trials }: LeftOut): string {
  const [half, most] = coverage
  const n = trials.length
  const [low, high] = allowed(n, 0.9)
  const range = `chance allows ${percent(low)} to ${percent(high)} of ${counted(n, 'value')}`
  const seen = `${percent(most)} of the values are inside their 90 % intervals`
  if (most < low) return `${seen}: too few (${range}). The model is too sure of itself.`
  if (most > high) return `${seen}: more than it need be (${range}). The model is careful.`
  if (half > allowed(n, 0.5)[1])
    return `${seen}: about right (${range}). But ${percent(half)} are inside their 50 % intervals: near its predictions the model is more careful than it needs to be.`
  return `${seen}: about right (${range}).`
}

/** How good the predictions are. */
export function explainedText({ explained }: LeftOut): string {
  if (explained < 0)
    return 'The predictions are no better than the mean of all values: do not rely on the maps yet.'
  const share = `The predictions explain ${percent(explained)} of the values' variance`
  if (explained < 0.3) return `${share}: the model knows little yet.`
  return explained < 0.8 ? `${share}.` : `${share}: it knows the objective well.`
}

/** How large the noise is beside what the parameters do. */
export function noiseText({ noise_sd, signal_sd }: ModelCard): string {
  const ratio = noise_sd / signal_sd
  const numbers = `noise ±${number(noise_sd, 2)}, against ±${number(signal_sd, 2)} by the parameters; ± is one standard deviation`
  if (!(signal_sd > 0))
    return `It sees no effect of the parameters so far, and noise of ±${number(noise_sd, 2)} (one standard deviation).`
  if (ratio > 1)
    return `It takes most of the differences for noise (${numbers}): evaluate good points several times.`
  if (ratio > 0.3) return `Repeating a trial would give a clearly different value (${numbers}).`
  if (ratio > 0.03) return `Repeating a trial would change its value a little (${numbers}).`
  return `There is next to no noise (${numbers}).`
}
