// A browser, and what it takes to show something.

import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { megabytes } from './program.mjs'

const { chromium } = createRequire(new URL('../../dashboard/package.json', import.meta.url))(
  'playwright-core',
)

export const launch = () =>
  chromium.launch({
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

/** A page with an empty cache that counts what comes over the wire. */
export async function visit(browser, cookies = []) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  if (cookies.length > 0) await context.addCookies(cookies)
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  const wire = await context.newCDPSession(page)
  await wire.send('Network.enable')
  const seen = { bytes: 0, requests: 0 }
  wire.on('Network.loadingFinished', ({ encodedDataLength }) => {
    seen.bytes += encodedDataLength
    seen.requests += 1
  })
  return { context, page, seen, wire }
}

/** Milliseconds from the start of a navigation until an element is there and drawn (two frames later). */
export async function untilDrawn(page, address, selector) {
  await page.goto('about:blank')
  await page.goto(address, { waitUntil: 'commit' })
  return page.evaluate(drawn, selector)
}

/** The same from a change of the hash, within a page that is open. */
export function untilChanged(page, hash, selector) {
  return page.evaluate(
    async ([to, wanted]) => {
      const start = performance.now()
      location.hash = to
      while (!document.querySelector(wanted)) await new Promise(requestAnimationFrame)
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      return performance.now() - start
    },
    [hash, selector],
  )
}

async function drawn(selector) {
  while (!document.querySelector(selector)) await new Promise(requestAnimationFrame)
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  return performance.now()
}

/** Memory of the tab: of its process, and of its script after a collection, in megabytes. */
export async function memoryOf({ wire }) {
  await wire.send('HeapProfiler.collectGarbage')
  const { usedSize } = await wire.send('Runtime.getHeapUsage')
  const renderers = []
  for (const pid of await processes()) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.includes('--type=renderer') && (await descends(pid)))
      renderers.push(await megabytes(pid).catch(() => 0))
  }
  // Chromium keeps a spare process: the tab is the largest.
  return { tab: Math.max(0, ...renderers), script: usedSize / 1024 / 1024 }
}

const processes = async () => (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)

/** Whether a process was started by this program, over however many others. */
async function descends(pid) {
  for (let at = pid; at > 1; ) {
    if (at === process.pid) return true
    const text = await readFile(`/proc/${at}/stat`, 'utf8').catch(() => '')
    at = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
  }
  return false
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
