import { describe, expect, it } from 'vitest'
import { stepped, uncertain } from '../src/charts/digits.ts'

describe('stepped', () => {
  it('gives all marks of an axis the same decimals', () => {
    expect([0, 0.25, 0.5, 1].map((x) => stepped(x, 0.05))).toEqual(['0', '0.25', '0.50', '1.00'])
    expect(stepped(1.00002e-5, 1e-9)).toBe('1e-5')
    expect(stepped(20_000, 5000)).toBe('20000')
    expect(stepped(-2_500_000, 500_000)).toBe('−2.5e6')
  })
})

it('an estimate has the digits that its deviation allows', () => {
  expect(uncertain(3.1412, 0.0213)).toBe('3.141 ± 0.021')
  expect(uncertain(1234.5, 100)).toBe('1235 ± 100')
  expect(uncertain(2, 0)).toBe('2')
})
