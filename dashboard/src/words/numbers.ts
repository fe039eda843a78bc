/** A number with as many digits as a reader can use: four, unless told; what is before the point stays. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined) return '–'
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (Number.isInteger(value) && size < 1e6) return minus(String(value))
  if (size >= 1e6 || size < 1e-4) return minus(scientific(value, digits))
  if (size >= 10 ** digits) return minus(String(Math.round(value)))
  return minus(String(Number(value.toPrecision(digits))))
}

function scientific(value: number, digits: number): string {
  const [mantissa = '0', exponent = '0'] = value.toExponential(digits - 1).split('e')
  return `${Number(mantissa)}e${exponent.replace('+', '')}`
}

const minus = (text: string): string => text.replace(/^-/, '−')

/** A count, with thin spaces between thousands from 10,000 on. */
export function count(value: number): string {
  return value < 10_000 ? String(value) : String(value).replace(/\B(?=(\d{3})+$)/g, ' ')
}

/** A count with its noun: `1 trial`, `2 trials`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** A share in percent, with a space that does not break. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–'
  const value = share * 100
  if (value !== 0 && Math.abs(value) < 1) return value > 0 ? '<1\u00a0%' : '>−1\u00a0%'
  return `${minus(String(Math.round(value)))}\u00a0%`
}

/** A value of a parameter. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return number(value)
  if (value === null || value === undefined) return '–'
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value)
}

/** Parameters in one line. */
export function paramsText(params: Record<string, unknown>): string {
  return Object.entries(params)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ')
}
