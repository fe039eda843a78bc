/** Properties that a copy of a drawing takes from the style sheet, since it leaves the sheet behind. */
const STYLED = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
  'visibility',
  'display',
]

/** Properties that children do not inherit, with what they are unless something is said. */
const OWN: Record<string, string> = { opacity: '1', display: 'inline' }

/** A drawing as a file of its own: colors and fonts are written into it, where they are not inherited. */
export function svgText(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement
  const from = [drawing, ...drawing.querySelectorAll<SVGElement>('*')]
  const to = [copy, ...copy.querySelectorAll<SVGElement>('*')]
  const looks = new Map<Element, CSSStyleDeclaration>()
  from.forEach((element, i) => {
    const style = getComputedStyle(element)
    looks.set(element, style)
    const target = to[i]
    if (!target) return
    const above = element.parentElement ? looks.get(element.parentElement) : undefined
    for (const name of STYLED) {
      const value = style.getPropertyValue(name)
      const otherwise = OWN[name] ?? above?.getPropertyValue(name)
      if (value !== '' && (value !== otherwise || target.hasAttribute(name))) target.setAttribute(name, value)
    }
    target.removeAttribute('class')
    target.removeAttribute('style')
  })
  const { width, height } = drawing.getBoundingClientRect()
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('width', String(Math.round(width)))
  copy.setAttribute('height', String(Math.round(height)))
  if (!copy.hasAttribute('viewBox')) copy.setAttribute('viewBox', `0 0 ${width} ${height}`)
  return new XMLSerializer().serializeToString(copy)
}

/** A drawing as a picture of points, on the page's ground. */
export async function pngOfSvg(text: string, scale = 2): Promise<Blob> {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = image.width * scale
  canvas.height = image.height * scale
  const context = canvas.getContext('2d')
  if (!context) throw new Error('This browser cannot draw pictures.')
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--ground') || '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return pngOfCanvas(canvas)
}

/** A canvas as a picture. */
export function pngOfCanvas(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob)
      else reject(new Error('This browser cannot make a picture of this size.'))
    }, 'image/png')
  })
}
