// How fast the page is: node measure.mjs --noregret PROGRAM [--sizes 2000,100000] [--dist FOLDER] [--optuna PYTHON] [--runs 5] [--out FILE.json]
//
// README.md says what is measured, and how.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inFrontOf } from './in_front.mjs'
import { launch, median, memoryOf, untilChanged, untilDrawn, visit } from './looking.mjs'
import { results } from './objective.mjs'
import { Noregret, processorSeconds } from './program.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const option = (name, otherwise) => {
  const place = process.argv.indexOf(`--${name}`)
  return place < 0 ? otherwise : process.argv[place + 1]
}
const program = option('noregret')
if (!program) throw new Error('--noregret must name the program')
const sizes = option('sizes', '2000,100000').split(',').map(Number)
const runs = Number(option('runs', 5))
const dist = option('dist')
const python = option('optuna')
const measured = []

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))
function note(of, what, value, unit, target) {
  measured.push({ of, what, value, unit, target })
  const shown = value >= 100 ? value.toFixed(0) : value.toPrecision(3)
  console.log(`${of.padEnd(28)} ${what.padEnd(44)} ${shown} ${unit}${target ? ` (wanted: ${target})` : ''}`)
}

/** The first view several times, each in a window with an empty cache. */
async function firstView(browser, of, address, cookies, selector, targets) {
  const times = []
  let seen
  for (let i = 0; i < runs; i += 1) {
    const window = await visit(browser, cookies)
    times.push(await untilDrawn(window.page, address, selector))
    seen = { ...window.seen }
    await window.context.close()
  }
  note(of, 'first view, to the first drawn history', median(times) / 1000, 's', targets?.[0])
  note(of, 'first view, bytes over the wire', seen.bytes / 1000, 'kB', targets?.[1])
  note(of, 'first view, requests', seen.requests, '')
}

async function noregret(browser, folder, n) {
  const of = `noregret, ${n} trials`
  const large = n > 10_000
  let server = await Noregret.start(program, folder, `net${n}`, n)
  const start = performance.now()
  await server.fill(n)
  note(of, 'adding the results (not part of the page)', (performance.now() - start) / 1000, 's')
  // Again, as after a night: nothing is known of models.
  await server.stop()
  server = await Noregret.start(program, folder, `net${n}`, n)
  const front = dist ? await inFrontOf(server.address, dist) : { address: server.address, close() {} }
  const study = `${front.address}/#/study/net${n}`

  const login = await visit(browser)
  await login.page.goto(`${front.address}/#/login?token=${server.token}`)
  await login.page.waitForFunction(
    () => !location.hash.includes('token') && document.querySelector('main h1'),
  )
  const cookies = await login.context.cookies()
  await login.context.close()

  await firstView(
    browser,
    of,
    study,
    cookies,
    '.uplot canvas',
    large ? ['under 2', 'under 2000'] : ['under 0.5', 'under 300'],
  )

  const window = await visit(browser, cookies)
  await untilDrawn(window.page, study, '.uplot canvas')
  note(
    of,
    'importance, the first time',
    (await untilChanged(window.page, `#/study/net${n}/importance`, '.bar-first')) / 1000,
    's',
    large ? '' : 'under 1',
  )
  await untilChanged(window.page, `#/study/net${n}`, '.uplot canvas')
  note(
    of,
    'importance, again',
    (await untilChanged(window.page, `#/study/net${n}/importance`, '.bar-first')) / 1000,
    's',
  )
  note(
    of,
    'map of two parameters',
    (await untilChanged(window.page, `#/study/net${n}/map?x=lr&y=momentum`, 'svg.pickable')) / 1000,
    's',
  )
  await untilChanged(window.page, `#/study/net${n}/trials`, '#filter')
  await window.page.waitForFunction(() =>
    [...document.querySelectorAll('main [role=status]')].some((one) => /trials/.test(one.textContent)),
  )
  const filters = []
  for (let i = 0; i < runs; i += 1) {
    filters.push(
      await filtered(window.page, `lr < ${(1e-3 * (1 + i / 10)).toPrecision(3)} and state == 'complete'`),
    )
    filters.push(await filtered(window.page, `value < ${0.2 + i / 100} or optimizer == 'sgd'`))
  }
  note(of, 'filter of the table, from Enter', median(filters), 'ms', 'under 100')

  await untilChanged(window.page, `#/study/net${n}`, '.uplot canvas')
  const news = []
  for (let i = 0; i < runs; i += 1) {
    await pause(1)
    news.push(await newResult(window.page, server, 1000 + i))
  }
  note(of, 'a new result is seen after', median(news) / 1000, 's', 'under 1')
  const memory = await memoryOf(window)
  note(of, 'memory of the tab', memory.tab, 'MB', 'under 300')
  note(of, 'of it, by the script', memory.script, 'MB')
  await window.context.close()
  await viewers(of, server)
  front.close()
  await server.stop()
}

/** From Enter in the field until the table says how many trials fit. */
function filtered(page, text) {
  return page.evaluate(async (filter) => {
    const field = document.querySelector('#filter')
    const says = () =>
      [...document.querySelectorAll('main [role=status]')].map((one) => one.textContent).join(' ')
    const before = says()
    field.value = filter
    field.dispatchEvent(new Event('input', { bubbles: true }))
    // The page hears of what is typed with its next frame.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const start = performance.now()
    field.form.requestSubmit()
    while (says() === before || !/\d of \d/.test(says())) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    return performance.now() - start
  }, text)
}

/** From the request of a worker until the page counts one more. */
async function newResult(page, server, seed) {
  const seen = page.evaluate(async () => {
    const says = () => document.querySelector('.facts')?.textContent ?? ''
    const before = says()
    while (says() === before) await new Promise(requestAnimationFrame)
    return Date.now()
  })
  await pause(0.2)
  const start = Date.now()
  await server.tell(seed)
  return (await seen) - start
}

/** What fifty people who look at the history cost the server, while there is a result every second. */
async function viewers(of, server) {
  const seconds = 20
  const quiet = await cost(server, seconds)
  const abort = new AbortController()
  const { position } = await server.ask('GET', '')
  const watching = Array.from({ length: 50 }, () => watch(server, position, abort.signal))
  await pause(2)
  const busy = await cost(server, seconds)
  abort.abort()
  await Promise.allSettled(watching)
  note(of, 'a result a second, nobody looks', quiet, 'cores')
  note(of, 'the same with 50 viewers, additionally', Math.max(0, busy - quiet), 'cores', 'under 0.1')
}

async function cost(server, seconds) {
  const before = await processorSeconds(server.child.pid)
  const start = performance.now()
  for (let i = 0; i < seconds; i += 1) {
    await server.tell(5000 + Math.floor(Math.random() * 1e6))
    await pause(Math.max(0, i + 1 - (performance.now() - start) / 1000))
  }
  return ((await processorSeconds(server.child.pid)) - before) / ((performance.now() - start) / 1000)
}

/** What the page does while the history is open: it follows the events, and asks for the remaining regret every four seconds at most. */
async function watch(server, position, signal) {
  const headers = { Authorization: `Bearer ${server.token}` }
  const base = `${server.address}/api/v1/studies/${server.name}`
  const response = await fetch(`${base}/events?after=${position}`, { headers, signal })
  let asked = Date.now() + 4000 * Math.random()
  for await (const _ of response.body) {
    if (Date.now() - asked < 4000) continue
    asked = Date.now()
    fetch(`${base}/views/regret`, { headers, signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined)
  }
}

async function optuna(browser, folder, n) {
  const version = await said(python, [
    '-c',
    'import optuna, optuna_dashboard; print(optuna_dashboard.__version__, optuna.__version__)',
  ])
  const of = `optuna-dashboard ${version.trim().split(' ')[0]}`
  const data = join(folder, 'results.json')
  await writeFile(data, JSON.stringify([...results(n)]))
  const storage = `sqlite:///${join(folder, 'optuna.db')}`
  await said(python, [join(here, 'optuna_study.py'), data, storage])
  const port = 18_080 + Math.floor(Math.random() * 1000)
  const child = spawn(
    join(dirname(python), 'optuna-dashboard'),
    [storage, '--port', String(port), '--host', '127.0.0.1'],
    { stdio: 'ignore' },
  )
  const base = `http://127.0.0.1:${port}`
  for (let i = 0; i < 100; i += 1) {
    if (
      await fetch(`${base}/api/studies`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      break
    await pause(0.3)
  }
  const {
    study_summaries: [{ study_id: id }],
  } = await (await fetch(`${base}/api/studies`)).json()
  const drawn = '.js-plotly-plot .trace, .js-plotly-plot .gl-canvas-focus'
  // Before any page asks: the server keeps what it has found.
  const start = performance.now()
  const answer = await fetch(`${base}/api/studies/${id}/param_importances`)
  const { param_importances: importances } = await answer.json()
  if (!importances?.[0]?.length) throw new Error('optuna-dashboard has no importances')
  note(of, 'importance, answer of its server', (performance.now() - start) / 1000, 's')
  await firstView(browser, of, `${base}/dashboard/studies/${id}`, [], drawn)
  const window = await visit(browser)
  await untilDrawn(window.page, `${base}/dashboard/studies/${id}`, drawn)
  await pause(3)
  const memory = await memoryOf(window)
  note(of, 'memory of the tab', memory.tab, 'MB')
  note(of, 'of it, by the script', memory.script, 'MB')
  const before = { ...window.seen }
  const used = await processorSeconds(child.pid)
  await pause(30)
  note(of, 'an idle page asks for, a minute', (2 * (window.seen.bytes - before.bytes)) / 1000, 'kB')
  note(of, 'processor for one viewer', ((await processorSeconds(child.pid)) - used) / 30, 'cores')
  await window.context.close()
  child.kill('SIGTERM')
  await once(child, 'close')
}

async function said(command, words) {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (piece) => (text += piece))
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`${command} ended with status ${status}`)
  return text
}

console.log(
  `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, Node ${process.version}${dist ? `, page from ${dist}` : ''}`,
)
const folder = await mkdtemp(join(tmpdir(), 'noregret-page-'))
const browser = await launch()
try {
  for (const n of sizes) await noregret(browser, folder, n)
  if (python) await optuna(browser, folder, 2000)
} finally {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
}
const out = option('out')
if (out) await writeFile(out, `${JSON.stringify(measured, null, 1)}\n`)
