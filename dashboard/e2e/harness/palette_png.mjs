// Pictures for documents: PNG with a palette of 256 colors, a third of what a browser writes.

import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Colors of a palette. */
const MOST = 256

/** The same picture with fewer colors: 256 at most. It must be as browsers write them: 8 bits a channel, not interlaced. */
export function withPalette(png, most = MOST) {
  const { width, height, channels, data } = decoded(png)
  const colors = new Uint32Array(width * height)
  const known = new Map()
  for (let i = 0; i < colors.length; i += 1) {
    const at = i * channels
    const color = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2]
    colors[i] = color
    known.set(color, (known.get(color) ?? 0) + 1)
  }
  const palette = paletteOf(known, most)
  const places = new Map([...known.keys()].map((color) => [color, nearest(palette, color)]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = places.get(colors[y * width + x])
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const entries = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', entries),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Median cut: the box with the most to lose is cut in two where half of its pixels are, until there are enough. */
function paletteOf(known, most) {
  let boxes = [[...known].map(([color, n]) => ({ n, rgb: [color >> 16, (color >> 8) & 255, color & 255] }))]
  while (boxes.length < most) {
    const widest = boxes
      .map((box, i) => ({ i, ...spread(box) }))
      .filter(({ length }) => length > 0)
      .sort((a, b) => b.length * b.weight - a.length * a.weight)[0]
    if (!widest) break
    const box = boxes[widest.i].sort((a, b) => a.rgb[widest.channel] - b.rgb[widest.channel])
    const half = box.reduce((sum, { n }) => sum + n, 0) / 2
    let [cut, sum] = [0, 0]
    while (cut < box.length - 1 && (cut === 0 || sum + box[cut].n <= half)) sum += box[cut++].n
    boxes = [...boxes.filter((_, i) => i !== widest.i), box.slice(0, cut), box.slice(cut)]
  }
  return boxes.map((box) => {
    const total = box.reduce((sum, { n }) => sum + n, 0)
    const mean = [0, 1, 2].map((c) =>
      Math.round(box.reduce((sum, { n, rgb }) => sum + n * rgb[c], 0) / total),
    )
    return (mean[0] << 16) | (mean[1] << 8) | mean[2]
  })
}

/** The channel in which a box is widest, how wide, and how much it matters: large areas more, but not in proportion. */
function spread(box) {
  let [length, channel] = [0, 0]
  for (let c = 0; c < 3; c += 1) {
    let [low, high] = [255, 0]
    for (const { rgb } of box) {
      if (rgb[c] < low) low = rgb[c]
      if (rgb[c] > high) high = rgb[c]
    }
    if (high - low > length) [length, channel] = [high - low, c]
  }
  return { length, channel, weight: Math.sqrt(box.reduce((sum, { n }) => sum + n, 0)) }
}

function nearest(palette, color) {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  palette.forEach((other, i) => {
    const far =
      ((other >> 16) - (color >> 16)) ** 2 +
      (((other >> 8) & 255) - ((color >> 8) & 255)) ** 2 +
      ((other & 255) - (color & 255)) ** 2
    if (far < least) [best, least] = [i, far]
  })
  return best
}

/** The pixels of a PNG of a browser. */
function decoded(png) {
  const parts = []
  let header
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const kind = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (kind === 'IHDR') header = body
    if (kind === 'IDAT') parts.push(body)
    at += 12 + length
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const channels = { 2: 3, 6: 4 }[header[9]]
  if (header[8] !== 8 || channels === undefined || header[12] !== 0)
    throw new Error('not a PNG as browsers write them')
  const raw = inflateSync(Buffer.concat(parts))
  const stride = width * channels
  const data = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)]
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x
      const left = x >= channels ? data[at - channels] : 0
      const up = y > 0 ? data[at - stride] : 0
      const corner = x >= channels && y > 0 ? data[at - stride - channels] : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]
      data[at] = raw[y * (stride + 1) + 1 + x] + guess
    }
  }
  return { width, height, channels, data }
}

function paeth(left, up, corner) {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

function chunk(kind, body) {
  const made = Buffer.alloc(12 + body.length)
  made.writeUInt32BE(body.length, 0)
  made.write(kind, 4, 'latin1')
  body.copy(made, 8)
  made.writeUInt32BE(crc32(made.subarray(4, 8 + body.length)), 8 + body.length)
  return made
}
