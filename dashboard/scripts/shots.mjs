// Pictures of the page: node scripts/shots.mjs BASE FOLDER HASH... [--dark] [--width 400]
//
// Prints errors of the console and requests to other hosts; either makes it fail.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const words = process.argv.slice(2)
const flag = (name) => {
  const place = words.indexOf(name)
  return place >= 0 && words.splice(place, 1).length > 0
}
const option = (name, otherwise) => {
  const place = words.indexOf(name)
  return place < 0 ? otherwise : words.splice(place, 2)[1]
}
const dark = flag('--dark')
const width = Number(option('--width', 1280))
const wait = Number(option('--wait', 1500))
const [base, folder, ...hashes] = words

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
const context = await browser.newContext({
  viewport: { width, height: width < 700 ? 860 : 900 },
  colorScheme: dark ? 'dark' : 'light',
})
const page = await context.newPage()
let faults = 0
const fault = (text) => {
  faults += 1
  console.error(text)
}
page.on('console', (message) => message.type() === 'error' && fault(`console: ${message.text()}`))
page.on('pageerror', (error) => fault(`error: ${error.stack}`))
page.on('request', (request) => {
  const address = request.url()
  if (!address.startsWith(base) && !/^(data|blob|file):/.test(address)) fault(`another host: ${address}`)
})
await mkdir(folder, { recursive: true })
for (const hash of hashes) {
  await page.goto('about:blank')
  await page.goto(`${base}${hash}`)
  await page.waitForTimeout(wait)
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  if (over > 0) fault(`${hash}: ${over} pixels too wide at ${width}`)
  const name = `${hash.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '') || 'studies'}-${dark ? 'dark' : 'light'}-${width}.png`
  await page.screenshot({ path: join(folder, name), fullPage: true })
}
await browser.close()
process.exitCode = faults === 0 ? 0 : 1
