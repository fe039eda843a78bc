// Uses the views of the model as a person would, on the fake server: node scripts/try_charts.mjs [FOLDER for pictures and files]
//
// Pointer, keys and touch; fails with the first thing that is not as it should be.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const here = dirname(fileURLToPath(import.meta.url))
const folder = process.argv[2] ?? ''
const port = 8112
const base = `http://127.0.0.1:${port}`
if (folder) await mkdir(folder, { recursive: true })

const server = spawn(
  process.execPath,
  [join(here, '../fixtures/serve.mjs'), '--port', String(port), '--still'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
for (let tries = 0; ; tries += 1) {
  try {
    await fetch(`${base}/api/v1/session`)
    break
  } catch (error) {
    if (tries > 50) throw error
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
})

/** A chart by its kind. */
let page
const chart = (kind) => page.locator(`svg[aria-roledescription="${kind}"]`).first()
const said = () => page.locator('figure [role=status]').first().textContent()
const picture = (name) => folder && page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
async function go(hash, ready) {
  await page.goto('about:blank')
  await page.goto(base + hash)
  await page.locator(ready).first().waitFor()
}
const at = async (kind, x, y) => {
  const box = await chart(kind).boundingBox()
  return [box.x + box.width * x, box.y + box.height * y]
}
async function query(text) {
  await page.waitForFunction((part) => decodeURIComponent(location.hash).includes(part), text)
}

async function map() {
  await go('/#/study/conv-net/map', 'svg[aria-roledescription=map]')
  const [x, y] = await at('map', 0.3, 0.3)
  await page.mouse.move(x, y)
  assert.match(await page.locator('.readout').first().textContent(), /expected|value/)
  await page.mouse.click(x, y)
  await page.locator('dialog[open]').waitFor()
  const lr = Number(await page.locator('dialog input').first().inputValue())
  assert.ok(lr > 5e-5 && lr < 5e-4, `the form begins with the place that was clicked, not with ${lr}`)
  await picture('enqueue')
  await page.keyboard.press('Escape')
  await chart('map').focus()
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp']) await page.keyboard.press(key)
  assert.match(await said(), /^lr .*, layers .*, expected .* ± /)
  await page.keyboard.press('Enter')
  await page.locator('dialog[open]').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.map-fix input[type=range]').first().focus()
  await page.keyboard.press('ArrowRight')
  await query('at.weight_decay=')
  await page.getByRole('button', { name: /^Reset/ }).click()
  await page.waitForFunction(() => !location.hash.includes('at.'))
  await page.getByLabel('x axis').selectOption('dropout')
  await query('x=dropout')
  await page.getByLabel('Panels').selectOption('activation')
  await page.locator('h3', { hasText: 'activation gelu' }).first().waitFor()
  await page.getByLabel('y axis').selectOption('')
  await chart('curve').waitFor()
}

async function exports() {
  await go('/#/study/conv-net/map', 'svg[aria-roledescription=map]')
  await page.waitForTimeout(300)
  for (const [what, ending, least, most] of [
    ['Save SVG', 'svg', 20_000, 1_000_000],
    ['Save PNG', 'png', 20_000, 4_000_000],
    ['Save CSV', 'csv', 1000, 400_000],
  ]) {
    await page.getByRole('button', { name: 'Export' }).first().click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: what }).click(),
    ])
    const file = await download.path()
    const bytes = await readFile(file)
    assert.equal(download.suggestedFilename(), `conv-net-map-lr-layers.${ending}`)
    assert.ok(bytes.length > least && bytes.length < most, `${what}: ${bytes.length} bytes`)
    if (folder) await download.saveAs(join(folder, download.suggestedFilename()))
    if (ending === 'csv') assert.match(bytes.toString(), /^lr,layers,mean,deviation,feasible\r\n/)
    if (ending === 'svg') assert.match(bytes.toString(), /<image [^>]*data:image\/png/)
  }
  await page.getByRole('button', { name: 'Table' }).click()
  assert.ok((await page.locator('.chart-table tbody tr').count()) > 100)
}

async function parallel() {
  await go('/#/study/conv-net/parallel', 'svg[aria-roledescription="parallel coordinates"]')
  const all = await page.locator('.lead').textContent()
  assert.match(all, /^2000 trials/)
  const kind = 'parallel coordinates'
  const [x, y] = await at(kind, 0.5 / 9, 0.35)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x, y + 50, { steps: 5 })
  await page.mouse.move(x, y + 100, { steps: 5 })
  await page.mouse.up()
  await query('in=0:')
  await page.mouse.click(...(await at(kind, 6.5 / 9, 0.75)))
  await query(',6:0:0.5')
  const lead = page.locator('.lead')
  const before = Number((await lead.textContent()).match(/^(\d+) trials of 2000 are in the ranges/)[1])
  await page.getByRole('slider', { name: 'dropout, upper end' }).focus()
  for (let i = 0; i < 10; i += 1) await page.keyboard.press('ArrowDown')
  await query('2:0:0.8')
  const after = Number((await lead.textContent()).match(/^(\d+) trial/)[1])
  assert.ok(after < before, `three ranges select fewer than two: ${after} and ${before}`)
  await picture('brushed')
  await page.getByText('Show them as a table').click()
  await page.locator('table, [role=grid], [role=table]').first().waitFor()
  assert.match(decodeURIComponent(page.url()), /filter=lr.*optimizer.*dropout/)
}

async function readings() {
  for (const [view, kind, text] of [
    ['trust', 'scatter plot', /^trial \d+, observed .*, expected .* ±/],
    ['importance', 'bar chart', /alone .* with interactions/],
    ['workers', 'timeline', /^trial \d+, .* began after/],
  ]) {
    await go(`/#/study/conv-net/${view}`, `svg[aria-roledescription="${kind}"]`)
    await chart(kind).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    assert.match(await said(), text)
    await picture(view)
  }
  await go('/#/compare', 'svg[aria-roledescription="line chart"]')
  await chart('line chart').focus()
  await page.keyboard.press('End')
  assert.match(await said(), /^after \d+ trials, .*: /)
  await picture('compare')
}

async function pool() {
  await go('/#/study/solvents/pool', 'svg[aria-roledescription="scatter plot"]')
  await page.getByRole('button', { name: 'Suggest' }).click()
  await page.locator('.plate table').waitFor()
  assert.equal(await page.locator('.plate input[type=checkbox]').count(), 8)
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.locator('header.bar').isVisible(), false)
  await picture('plate')
  await page.emulateMedia({ media: 'screen' })
}

async function nothing() {
  for (const view of ['map', 'parallel', 'importance', 'trust', 'workers', 'pool']) {
    await go(`/#/study/empty/${view}`, 'main h1')
    await page.waitForFunction(() => !/Loading/.test(document.querySelector('main').textContent))
    const text = await page.locator('main').textContent()
    assert.ok(text.length > 70, `${view} of an empty study says why: ${text}`)
  }
}

async function touch() {
  await go('/#/study/conv-net/parallel', 'svg[aria-roledescription="parallel coordinates"]')
  // A tap on the axis of a choice takes the choice.
  await page.evaluate(() => {
    const chart = document.querySelector('.chart-scroll')
    chart.scrollIntoView({ block: 'center' })
    chart.scrollLeft = 250
  })
  const box = await chart('parallel coordinates').boundingBox()
  await page.touchscreen.tap(box.x + (4.5 / 9) * box.width, box.y + 0.8 * box.height)
  await query('in=4:0:0.25')
  await go('/#/study/conv-net/map', 'svg[aria-roledescription=map]')
  await page.touchscreen.tap(...(await at('map', 0.5, 0.5)))
  assert.match(await said(), /expected|value/)
}

let faults = 0
for (const [names, options] of [
  [[map, exports, parallel, readings, pool, nothing], { viewport: { width: 1280, height: 900 } }],
  [[touch], { viewport: { width: 400, height: 860 }, hasTouch: true, isMobile: true }],
]) {
  const context = await browser.newContext({ acceptDownloads: true, ...options })
  page = await context.newPage()
  page.setDefaultTimeout(8000)
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(message.text())
    faults += message.type() === 'error' ? 1 : 0
  })
  page.on('pageerror', (error) => {
    console.error(error.stack)
    faults += 1
  })
  for (const step of names) {
    try {
      await step()
      console.log(`ok  ${step.name}`)
    } catch (error) {
      faults += 1
      await picture(`fault-${step.name}`)
      console.error(`FAILED ${step.name}: ${error.message}`)
    }
  }
  await context.close()
}
await browser.close()
server.kill()
process.exitCode = faults === 0 ? 0 : 1
