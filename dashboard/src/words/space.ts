import type { Param, Value } from '../api/types.ts'

/** The values of a parameter that has a few; undefined if it is a range. */
export function choicesOf(param: Param): Value[] | undefined {
  if (param.type === 'ordinal') return param.values
  if (param.type === 'categorical') return param.choices
  return param.type === 'bool' ? [false, true] : undefined
}

/** Where a value is in the range of its parameter, from 0 to 1; null where there is no order. */
export function placeOf(param: Param, value: Value | undefined): number | null {
  if (param.type === 'categorical' || param.type === 'bool') return null
  if (param.type === 'ordinal') {
    const place = value === undefined ? -1 : param.values.indexOf(value)
    return place < 0 ? null : (place + 0.5) / param.values.length
  }
  if (typeof value !== 'number' || !(param.high > param.low)) return null
  const share = param.log
    ? Math.log(value / param.low) / Math.log(param.high / param.low)
    : (value - param.low) / (param.high - param.low)
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : null
}
