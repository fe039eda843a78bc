import { afterEach, describe, expect, test, vi } from 'vitest'
import { csv } from '../src/export/csv.ts'
import { fileName } from '../src/export/save.ts'
import { count, counted, number, percent, valueText } from '../src/words/numbers.ts'
import { choicesOf, placeOf } from '../src/words/space.ts'
import { ago, duration, now } from '../src/words/times.ts'

afterEach(() => vi.useRealTimers())

describe('numbers', () => {
  test.each([
    [0, '0'],
    [null, '–'],
    [Number.NaN, 'NaN'],
    [-Infinity, '−∞'],
    [0.1 + 0.2, '0.3'],
    [123456, '123456'],
    [12345.678, '12346'],
    [1234567, '1.235e6'],
    [0.00012346, '0.0001235'],
    [0.000012346, '1.235e-5'],
    [-2.5, '−2.5'],
  ])('%s', (value, text) => {
    expect(number(value)).toBe(text)
  })

  test('shares', () => {
    expect([0, 0.004, 0.5, 1, null].map(percent)).toEqual([
      '0\u00a0%',
      '<1\u00a0%',
      '50\u00a0%',
      '100\u00a0%',
      '–',
    ])
  })

  test('counts and values', () => {
    expect([count(9999), count(100000), counted(1, 'trial'), counted(0, 'trial')]).toEqual([
      '9999',
      '100 000',
      '1 trial',
      '0 trials',
    ])
    expect([valueText(true), valueText('relu'), valueText({ a: 1 }), valueText(null)]).toEqual([
      'true',
      'relu',
      '{"a":1}',
      '–',
    ])
  })
})

describe('times', () => {
  test.each([
    [0, '0 s'],
    [0.0002, '<1 ms'],
    [0.25, '250 ms'],
    [1.25, '1.3 s'],
    [42, '42 s'],
    [59.7, '1 min'],
    [150, '2.5 min'],
    [5400, '1.5 h'],
    [200_000, '2.3 days'],
    [null, '–'],
  ])('%s seconds', (seconds, text) => {
    expect(duration(seconds)).toBe(text)
  })

  test('moments', () => {
    now.value = Date.parse('2026-11-18T12:00:00Z')
    expect(ago('2026-11-18T11:57:00Z')).toBe('3 min ago')
    expect(ago('2026-11-18T11:59:58Z')).toBe('just now')
    expect(ago('2026-11-18T13:00:00Z')).toBe('in 1 h')
    expect([ago(null), ago('nonsense')]).toEqual(['–', '–'])
  })
})

describe('parameters', () => {
  test('places in their ranges', () => {
    expect(placeOf({ type: 'float', low: 1e-4, high: 1, log: true }, 0.01)).toBeCloseTo(0.5, 12)
    expect(placeOf({ type: 'int', low: 0, high: 10 }, 3)).toBe(0.3)
    expect(placeOf({ type: 'ordinal', values: [1, 2] }, 2)).toBe(0.75)
    expect(placeOf({ type: 'bool' }, true)).toBeNull()
    expect(placeOf({ type: 'int', low: 2, high: 2 }, 2)).toBeNull()
    expect(choicesOf({ type: 'bool' })).toEqual([false, true])
  })
})

describe('files', () => {
  test('cells with commas, quotes and lines', () => {
    expect(
      csv(
        ['a', 'b'],
        [
          [1e-7, 'x,"y"\nz'],
          [null, true],
        ],
      ),
    ).toBe('a,b\r\n1e-7,"x,""y""\nz"\r\n,true\r\n')
  })

  test('names', () => {
    expect([fileName('a/b c:d'), fileName('///'), fileName('größe-1.2')]).toEqual([
      'a-b-c-d',
      'noregret',
      'größe-1.2',
    ])
  })
})
