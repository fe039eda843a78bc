import type { ComponentProps } from 'preact'

interface DrawingProps extends Omit<ComponentProps<'svg'>, 'label'> {
  /** The kind of chart, for screen readers. */
  kind: string
  /** What it shows, and which keys there are. */
  label: string
  width: number
  height: number
}

/** The surface of a chart: it can be focused, and takes the keys that read it out. */
export function Drawing({ kind, label, width, height, children, ...rest }: DrawingProps) {
  // In lower case: a name with a capital would stay one on an element of SVG, and mean nothing.
  const reading = { tabindex: 0, role: 'application' as const, 'aria-roledescription': kind }
  return (
    <svg data-chart width={width} height={height} {...reading} aria-label={label} {...rest}>
      {children}
    </svg>
  )
}
