import { effect, signal } from '@preact/signals'

/** Light or dark, or as the system has it. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'noregret-theme'

/** What the reader chose. */
export const theme = signal<Theme>(remembered())
/** Counts changes of the colors, for charts that draw on a canvas: read it in an effect that draws. */
export const colors = signal(0)

function remembered(): Theme {
  try {
    const known = localStorage.getItem(KEY)
    return known === 'light' || known === 'dark' ? known : 'system'
  } catch {
    return 'system' // a file opened from disk may have no storage
  }
}

/** Keeps the page's colors as chosen. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value
    colors.value = colors.peek() + 1
    try {
      localStorage.setItem(KEY, theme.value)
    } catch {
      // It is for this visit, then.
    }
  })
  startPrinting()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    colors.value += 1
  })
}

/** Paper is white: what is printed has the light colors, charts included. */
function startPrinting(): void {
  const paint = (theme: Theme) => () => {
    document.documentElement.dataset.theme = theme
    colors.value += 1
  }
  window.addEventListener('beforeprint', paint('light'))
  window.addEventListener('afterprint', () => paint(theme.peek())())
}

/** Takes the next of the three. */
export function nextTheme(): void {
  theme.value = theme.value === 'system' ? 'light' : theme.value === 'light' ? 'dark' : 'system'
}

/** The value of a CSS variable such as `--accent`, for what draws on a canvas. */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888'
}
