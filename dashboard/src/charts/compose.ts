// A chart of several drawings and canvases as one drawing.

import { svgText } from '../export/picture.ts'

const NS = 'http://www.w3.org/2000/svg'

/** Everything that is drawn inside an element, where it is, as the text of an SVG file; canvases become images. */
export function composed(body: HTMLElement): string {
  const frame = body.getBoundingClientRect()
  const [width, height] = [Math.ceil(frame.width), Math.ceil(frame.height)]
  const out = element('svg', { xmlns: NS, width, height, viewBox: `0 0 ${width} ${height}` })
  const paper = getComputedStyle(document.documentElement).getPropertyValue('--ground').trim() || '#fff'
  out.append(element('rect', { width, height, fill: paper }))
  for (const part of body.querySelectorAll<HTMLElement | SVGSVGElement>('canvas, svg[data-chart], h3')) {
    const box = part.getBoundingClientRect()
    const [x, y] = [Math.round(box.left - frame.left), Math.round(box.top - frame.top)]
    if (part instanceof HTMLCanvasElement) {
      out.append(element('image', { x, y, width: box.width, height: box.height, href: part.toDataURL() }))
    } else if (part instanceof SVGSVGElement) {
      const copy = new DOMParser().parseFromString(svgText(part), 'image/svg+xml').documentElement
      for (const cursor of copy.querySelectorAll('[data-cursor]')) cursor.remove()
      for (const name of copy.getAttributeNames()) {
        if (/^(aria-|role$|tabindex$|data-)/.test(name)) copy.removeAttribute(name)
      }
      copy.setAttribute('x', String(x))
      copy.setAttribute('y', String(y))
      out.append(copy)
    } else {
      const style = getComputedStyle(part)
      const text = element('text', {
        x,
        y: y + box.height * 0.75,
        fill: style.color,
        'font-size': style.fontSize,
        'font-weight': style.fontWeight,
        'font-family': style.fontFamily,
      })
      text.textContent = part.textContent
      out.append(text)
    }
  }
  return new XMLSerializer().serializeToString(out)
}

function element(name: string, attributes: Record<string, string | number>): Element {
  const made = document.createElementNS(NS, name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key !== 'xmlns') made.setAttribute(key, String(value))
  }
  return made
}
