// `noregret dashboard`: it only looks, and whoever works on the study notices nothing.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Visitor } from './harness/page.mjs'
import { Running, run } from './harness/program.mjs'
import { inFrontOf } from './harness/proxy.mjs'
import { studyFile } from './harness/studies.mjs'

export function dashboardTests(stage) {
  describe('noregret dashboard', () => {
    test('shows a study that others work on, refuses writes, and takes no lock', {
      timeout: 60_000,
    }, async () => {
      const file = await studyFile(stage.now.folder, 'local', 20)
      const storage = `sqlite:///${join(stage.now.folder, 'local.db')}`
      const place = [file, '--storage', storage]
      // An object a line.
      const ask = async (n) =>
        (await run('ask', ...place, '-n', String(n), '--json'))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      const asked = await ask(4)
      const numbers = asked.map(({ number }) => number)
      await run('tell', ...place, String(numbers[0]), '0.81')
      const dashboard = await Running.start('dashboard', ...place, '--no-open')
      const proxy = process.env.NOREGRET_PAGE ? await inFrontOf(() => dashboard.address) : null
      const base = proxy?.address ?? dashboard.address
      const visitor = await Visitor.make(stage.now.browser, base, { expected: [403] })
      try {
        const { page } = visitor
        await page.goto(`${base}/${new URL(dashboard.said.address).hash}`)
        await visitor.settled('#/')
        await visitor.open('#/study/local')
        await page.locator('main .lead').filter({ hasText: '0.81' }).waitFor()
        assert.deepEqual(
          await page.getByRole('button', { name: /Enqueue|Pause|Tags and note|Archive/ }).allInnerTexts(),
          [],
        )

        // From the command line, while the dashboard looks.
        await run('tell', ...place, String(numbers[1]), '0.42')
        await page.locator('main .lead').filter({ hasText: '0.42' }).waitFor()
        const more = await ask(1)
        assert.equal(more.length, 1)

        const refused = await page.evaluate(async () => {
          const headers = { 'Content-Type': 'application/json', 'X-Noregret': 'page' }
          const answer = await fetch('api/v1/studies/local:annotate', {
            method: 'POST',
            headers,
            body: '{"note":"x"}',
          })
          return { status: answer.status, body: await answer.json() }
        })
        assert.equal(refused.status, 403)
        assert.ok(refused.body.detail.length > 20, 'the refusal says why')
        visitor.check()
      } finally {
        await visitor.close()
        proxy?.close()
        await dashboard.stop()
      }
    })
  })
}
