// Makes dist/: the page with its assets, named by their content and compressed, and the report in one file.
//
//   node build.mjs            once
//   node build.mjs --watch    again with every change
//   node build.mjs --out FOLDER --most BYTES    elsewhere, with another limit: for tests

import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { context } from 'esbuild'

const option = (name, otherwise) => {
  const place = process.argv.indexOf(name)
  return place < 0 ? otherwise : (process.argv[place + 1] ?? otherwise)
}

/** All that a browser loads for the page, compressed: more than this is a mistake. */
const MOST = Number(option('--most', 150_000))
/** What the server of a report puts its data in place of. */
const MARKER = '__NOREGRET_DATA__'

const here = dirname(fileURLToPath(import.meta.url))
const dist = resolve(option('--out', join(here, 'dist')))
const packed = (bytes) => gzipSync(bytes, { level: 9 })

async function write(result) {
  const found = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending))
  const [script, style] = [found('.js'), found('.css')]
  if (!script || !style) throw new Error('the bundle has no script or no style')
  const html = await readFile(join(here, 'src/index.html'), 'utf8')

  // Only what this writes is taken away: the folder is the caller's.
  await rm(join(dist, 'assets'), { recursive: true, force: true })
  await mkdir(join(dist, 'assets'), { recursive: true })
  let size = 0
  const asset = async (ending, bytes) => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 10)
    const name = `assets/app-${hash}.${ending}`
    const small = packed(bytes)
    size += small.length
    await writeFile(join(dist, name), bytes)
    await writeFile(join(dist, `${name}.gz`), small)
    return name
  }
  const css = await asset('css', style.contents)
  const js = await asset('js', script.contents)
  const index = page(
    html,
    `<link rel="stylesheet" href="${css}">\n<link rel="icon" href="data:,">`,
    `<script type="module" src="${js}"></script>`,
  )
  size += packed(index).length
  await writeFile(join(dist, 'index.html'), index)
  await writeFile(join(dist, 'index.html.gz'), packed(index))
  const whole = report(html, script.text, style.text)
  await writeFile(join(dist, 'report.html'), whole)
  await writeFile(join(dist, 'report.html.gz'), packed(whole))

  if (size > MOST) throw new Error(`the page has ${size} bytes compressed, more than ${MOST}`)
  console.log(`dist: ${(size / 1000).toFixed(1)} kB compressed, of ${MOST / 1000}`)
}

/** The frame with what belongs at its head and its end. */
function page(html, head, end) {
  return html.replace('<!-- head -->', () => head).replace('<!-- end -->', () => end)
}

/** One file, which needs no other. */
function report(html, script, style) {
  // Neither may hold the end of its own element, and the marker must be there once.
  const js = script.replace(/<\/script/gi, '<\\/script')
  if (/<\/style/i.test(style)) throw new Error('the style ends itself')
  const made = page(
    html,
    `<link rel="icon" href="data:,">\n<style>${style}</style>`,
    `<script type="application/json" id="noregret-data">${MARKER}</script>\n<script type="module">${js}</script>`,
  )
  if (made.split(MARKER).length !== 2) throw new Error('the marker of the data must be there once')
  return made
}

const watch = process.argv.includes('--watch')
const builder = await context({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx' },
  outdir: 'dist',
  bundle: true,
  write: false,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: !watch,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
  plugins: [
    {
      name: 'write',
      setup: (build) => build.onEnd((result) => (result.errors.length ? undefined : write(result))),
    },
  ],
})
if (watch) {
  await builder.watch()
} else {
  try {
    await builder.rebuild()
  } catch (error) {
    console.error(`build: ${error.message}`)
    process.exitCode = 1
  }
  await builder.dispose()
}
