// What happens while the page is open is seen without a reload; also after a break.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until, Visitor } from './harness/page.mjs'
import { inFrontOf } from './harness/proxy.mjs'
import { visit } from './harness/visit.mjs'

/** How soon a result must be seen, in milliseconds: the promise of the page. */
const SOON = 1000
/** The longest that a test may take, in milliseconds. */
const LIMIT = 60_000

export function liveTests(stage) {
  describe('live', () => {
    visit('a result is seen in History within a second', stage, { role: 'read' }, async (visitor, page) => {
      const { api } = stage.now
      await visitor.open('#/study/network')
      await marked(page)
      const [trial] = await api.ask('network', 1, 'gpu-b:102')
      await api.tell('network', trial.number, { value: 0.1234, seconds: 4, worker: 'gpu-b:102' })
      const took = await until(
        () => page.evaluate(() => /0\.1234/.test(document.querySelector('main .lead')?.textContent ?? '')),
        'the new best value in the summary',
      )
      const head = await page.locator('header.bar').innerText()
      assert.match(head, /0\.1234/, 'the best value at the head')
      assert.ok(took < SOON, `it took ${Math.round(took)} ms`)
      await stillThere(page)
    })

    visit('a result is seen in Trials within a second', stage, { role: 'read' }, async (visitor, page) => {
      const { api } = stage.now
      const [trial] = await api.ask('network', 1, 'gpu-b:102')
      await visitor.open('#/study/network/trials')
      const row = page
        .getByRole('row')
        .filter({ has: page.getByRole('link', { name: `${trial.number}`, exact: true }) })
      await row.filter({ hasText: 'running' }).waitFor()
      await marked(page)
      await api.tell('network', trial.number, { value: 0.4567, seconds: 4, worker: 'gpu-b:102' })
      const took = await until(() => row.filter({ hasText: '0.4567' }).count(), 'the value in the table')
      assert.match(await row.innerText(), /complete/)
      assert.ok(took < SOON, `it took ${Math.round(took)} ms`)
      await stillThere(page)
    })

    visit(
      'a failure is seen with its reason, and counted',
      stage,
      { role: 'read' },
      async (visitor, page) => {
        const { api } = stage.now
        const [trial] = await api.ask('network', 1, 'gpu-b:102')
        await visitor.open(`#/study/network/trial/${trial.number}`)
        await marked(page)
        const before = (await api.get('/studies/network')).counts.failed
        await api.fail('network', trial.number, {
          reason: 'the disk is full',
          stderr: 'no space left',
          worker: 'gpu-b:102',
        })
        await page.getByText('the disk is full').first().waitFor()
        await page.getByText('no space left').waitFor()
        await page
          .locator('.facts')
          .getByRole('link', { name: String(before + 1), exact: true })
          .waitFor()
        await stillThere(page)
      },
    )

    test('after a break of the network the page goes on where it was', { timeout: LIMIT }, async () => {
      const { now } = stage
      const network = await inFrontOf(() => now.server.address)
      const visitor = await Visitor.make(now.browser, network.address)
      try {
        const { page } = visitor
        await visitor.logIn(now.tokens.read)
        await visitor.open('#/study/network')
        const [first, second] = await now.api.ask('network', 2, 'gpu-b:102')
        await marked(page)
        visitor.away = true
        network.cut()
        await page.getByText(/connection is lost/i).waitFor()
        await now.api.tell('network', first.number, { value: 0.0987, worker: 'gpu-b:102' })
        network.mend()
        await page.locator('main .lead').filter({ hasText: '0.0987' }).waitFor()
        await page.getByText(/connection is lost/i).waitFor({ state: 'detached' })
        visitor.away = false
        // And it follows again.
        await now.api.tell('network', second.number, { value: 0.0765, worker: 'gpu-b:102' })
        await page.locator('main .lead').filter({ hasText: '0.0765' }).waitFor()
        await stillThere(page)
        visitor.check()
      } finally {
        await visitor.close()
        network.close()
      }
    })

    visit(
      'after the server has started again the page goes on, and nobody logs in again',
      stage,
      {},
      async (visitor, page) => {
        const { now } = stage
        await visitor.open('#/study/network')
        const [first, second] = await now.api.ask('network', 2, 'gpu-b:102')
        await marked(page)
        visitor.away = true
        await now.server.stop()
        await page.getByText(/connection is lost/i).waitFor()
        await now.begin()
        await now.api.tell('network', first.number, { value: 0.0654, worker: 'gpu-b:102' })
        await page.locator('main .lead').filter({ hasText: '0.0654' }).waitFor()
        visitor.away = false
        await now.api.tell('network', second.number, { value: 0.0543, worker: 'gpu-b:102' })
        await page.locator('main .lead').filter({ hasText: '0.0543' }).waitFor()
        await stillThere(page)
      },
    )
  })
}

/** Leaves a mark that a reload would take away. */
const marked = (page) => page.evaluate(() => Object.assign(window, { mark: true }))

async function stillThere(page) {
  assert.ok(await page.evaluate(() => window.mark), 'the page was loaded again')
}
