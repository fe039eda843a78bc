// Numbers on axes and with their deviation: as many digits as say something, no more.

import { number } from '../words/numbers.ts'

const minus = (text: string): string => text.replace(/^-/, '−')

function exponential(x: number, digits: number): string {
  const [mantissa = '0', exponent = '0'] = x.toExponential(Math.min(Math.max(digits - 1, 0), 15)).split('e')
  return minus(`${Number(mantissa)}e${Number(exponent)}`)
}

/** A number beside others which differ by steps of this size: all get the same decimals. */
export function stepped(x: number, step: number): string {
  if (x === 0) return '0'
  const size = Math.abs(x)
  if (size >= 1e6 || step < 1e-5) {
    return exponential(x, Math.floor(Math.log10(size)) - Math.floor(Math.log10(step) + 1e-9) + 1)
  }
  return minus(x.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))))
}

/** An estimate and its deviation, both to the digits that the deviation allows: 3.14 ± 0.02. */
export function uncertain(mean: number, sd: number): string {
  if (!(sd > 0) || !Number.isFinite(sd)) return number(mean)
  const step = 10 ** (Math.floor(Math.log10(sd)) - 1)
  return `${stepped(mean, step)} ± ${stepped(sd, step)}`
}
