// What leave-one-out predictions and the model's noise say, in words.

import type { LeftOut, ModelCard } from '../api/types.ts'
import { number, percent } from '../words/numbers.ts'

/**
 * How honest the intervals are. With n values a true coverage of 95 % is seen as 95 % give or take two deviations of a
 * binomial share; only beyond that is a difference called one.
 */
export function coverageText({ coverage, number: trials }: LeftOut): string {
  const [half, , wide] = coverage
  const off = (share: number, of: number) =>
    (share - of) / Math.sqrt((of * (1 - of)) / Math.max(1, trials.length))
  const seen = `${percent(wide)} of the values are inside their 95 % interval, and ${percent(half)} inside their 50 % interval`
  if (off(wide, 0.95) < -2) return `The model is too sure of itself: ${seen}.`
  if (off(half, 0.5) < -2.5) return `The model is rather too sure of itself: ${seen}.`
  if (off(half, 0.5) > 2.5) return `The model is more careful than it needs to be: ${seen}.`
  return `The intervals are honest: ${seen}.`
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
  const numbers = `noise ±${number(noise_sd, 2)}, against ±${number(signal_sd, 2)} by the parameters`
  if (!(signal_sd > 0))
    return `It sees no effect of the parameters so far, and noise of ±${number(noise_sd, 2)}.`
  if (ratio > 1)
    return `It takes most of the differences for noise (${numbers}): evaluate good points several times.`
  if (ratio > 0.3) return `Repeating a trial would give a clearly different value (${numbers}).`
  if (ratio > 0.03) return `Repeating a trial would change its value a little (${numbers}).`
  return `There is next to no noise (${numbers}).`
}
