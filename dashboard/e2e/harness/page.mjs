// Chromium, and pages whose every fault is noticed.

import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/** How long a page may take to show something, in milliseconds, where no speed is promised. */
export const PATIENCE = 20_000

/** Starts the browser: with a new folder for its data, which goes with it, and no way to other hosts. */
export function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(executablePath))
    throw new Error(
      `there is no ${executablePath}: on Debian, apt-get install chromium; CHROMIUM names another`,
    )
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  })
}

/** What a browser says by itself of an answer that is an error. */
const LOADING = /^Failed to load resource: .*status of (\d+)/

/** Somebody looks at pages of one server, in a window of their own. */
export class Visitor {
  /**
   * `expected` are statuses with which the server may answer, for tests of refusals; `away` allows that the server cannot be reached.
   */
  static async make(
    browser,
    base,
    { expected = [], dark = false, width = 1200, height = 900, ...rest } = {},
  ) {
    const visitor = new Visitor()
    visitor.base = base
    visitor.faults = []
    visitor.expected = new Set(expected)
    visitor.away = false
    /** Requests under way, but for those that never end: the events. */
    visitor.pending = new Set()
    visitor.context = await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
      ...rest,
    })
    visitor.context.setDefaultTimeout(PATIENCE)
    await visitor.context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`content security policy: ${event.violatedDirective} ${event.blockedURI}`)
      })
    })
    visitor.page = await visitor.context.newPage()
    visitor.watch(visitor.page)
    return visitor
  }

  watch(page) {
    page.on('pageerror', (error) => this.faults.push(`error: ${error.stack ?? error}`))
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return
      const status = LOADING.exec(message.text())?.[1]
      if (status !== undefined && this.expected.has(Number(status))) return
      if (
        this.away &&
        /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED/.test(
          message.text(),
        )
      )
        return
      this.faults.push(`console: ${message.text()} (${message.location().url})`)
    })
    for (const end of ['requestfinished', 'requestfailed'])
      page.on(end, (request) => this.pending.delete(request))
    page.on('request', (request) => {
      const address = request.url()
      if (request.resourceType() !== 'eventsource') this.pending.add(request)
      if (/^(data|blob):/.test(address) || address === this.base || address.startsWith(`${this.base}/`))
        return
      this.faults.push(`a request to another place: ${address}`)
    })
    page.on('response', (response) => {
      if (response.status() < 400 || this.expected.has(response.status())) return
      this.faults.push(`${response.status()} for ${response.request().method()} ${response.url()}`)
    })
  }

  /** Shows a token to the server; the cookie stays with this visitor. */
  async logIn(token) {
    const answer = await this.context.request.post(`${this.base}/login`, { data: { token } })
    if (answer.status() !== 204) throw new Error(`login: ${answer.status()} ${await answer.text()}`)
  }

  /** Opens a view by its link, and waits until it shows what it knows. */
  async open(hash) {
    if (this.page.url().startsWith(`${this.base}/`)) {
      await this.go(hash)
    } else {
      await this.page.goto(`${this.base}/${hash}`)
    }
    await this.settled(hash)
  }

  /** Follows a link, and lets the view before it go. */
  async go(hash) {
    await this.page.evaluate(async (to) => {
      location.hash = to
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
    }, hash)
  }

  /** Waits until the view at an address has loaded all that it asks for. */
  async settled(hash) {
    const is = () =>
      this.page.evaluate((wanted) => {
        if (wanted !== undefined && !location.hash.startsWith(wanted)) return false
        const view = document.querySelector('section.view')
        const busy = document.querySelector('[aria-busy="true"]')
        return view !== null && busy === null && !/Loading …/.test(document.querySelector('main').textContent)
      }, hash)
    await until(
      async () => this.pending.size === 0 && (await is()) && this.pending.size === 0,
      `${hash} is there`,
    )
  }

  /** Throws if anything went wrong that nobody expected. */
  check() {
    if (this.faults.length > 0) throw new Error(`the page has faults:\n${this.faults.join('\n')}`)
  }

  async close() {
    await this.context.close()
  }
}

/** Asks until the answer is true or the time is over; returns how long it took, in milliseconds. */
export async function until(question, what, patience = PATIENCE) {
  const begin = performance.now()
  for (;;) {
    if (await question()) return performance.now() - begin
    if (performance.now() - begin > patience) throw new Error(`${what}: not within ${patience} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
