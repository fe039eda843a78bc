import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const css = readFileSync(new URL('../src/style/colors.css', import.meta.url), 'utf8')

/** The variables after a selector. */
function variables(selector: string): Map<string, string> {
  const start = css.indexOf('{', css.indexOf(selector))
  const block = css.slice(start + 1, css.indexOf('}', start))
  return new Map(
    [...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

/** How bright a color is to the eye, by WCAG 2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

describe('colors', () => {
  const light = variables(':root {')
  const dark = variables(':root[data-theme="dark"]')

  test('dark is the same by choice and by system', () => {
    const system = variables(':root:not([data-theme="light"])')
    for (const [name, value] of dark) expect([name, system.get(name)]).toEqual([name, value])
    expect(system.size).toBe(dark.size)
    expect([...dark.keys()].sort()).toEqual([...light.keys()].sort())
  })

  // 4.5 is what WCAG 2 wants of text (AA), 3 of marks that mean something.
  test.each([
    ['--ink', '--ground', 7],
    ['--ink-soft', '--ground', 4.5],
    ['--ink-faint', '--ground', 4.5],
    ['--ink-soft', '--sunken', 4.5],
    ['--accent', '--ground', 4.5],
    ['--accent', '--accent-soft', 4.5],
    ['--on-accent', '--accent', 4.5],
    ['--bad', '--ground', 4.5],
    ['--bad', '--bad-soft', 4.5],
    ['--warn', '--warn-soft', 4.5],
    ['--good', '--ground', 4.5],
    ['--complete', '--ground', 3],
    ['--failed', '--ground', 3],
  ])('%s on %s is read easily', (ink, ground, least) => {
    for (const scheme of [light, dark]) {
      expect(contrast(scheme.get(ink) ?? '', scheme.get(ground) ?? '')).toBeGreaterThanOrEqual(least)
    }
  })
})
