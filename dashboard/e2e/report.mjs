// `noregret report`: one file, which needs neither a server nor a network.

import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { findings } from './harness/axe.mjs'
import { Visitor } from './harness/page.mjs'
import { run } from './harness/program.mjs'
import { external, studyFile } from './harness/studies.mjs'

/** The most that a report of a thousand trials may have, in bytes. */
const MOST = 1_000_000

export function reportTests(stage) {
  describe('noregret report', () => {
    let file
    let visitor
    before(async () => {
      file = join(stage.now.folder, 'report.html')
      const studies = [stage.now.files.network, stage.now.files.alloys]
      await run('report', ...studies, '--storage', stage.now.storage, '-o', file)
      visitor = await Visitor.make(stage.now.browser, pathToFileURL(file).href)
      await visitor.context.setOffline(true)
      await visitor.page.goto(visitor.base)
      await visitor.settled()
    })
    after(() => visitor?.close())

    const look = (name, hash, body) =>
      test(name, { timeout: 60_000 }, async () => {
        await visitor.go(hash)
        await visitor.settled(hash)
        await body(visitor.page)
        assert.deepEqual(
          await visitor.page
            .getByRole('button', { name: /Enqueue|Pause|Tags|Archive|Log out/ })
            .allInnerTexts(),
          [],
        )
        visitor.check()
      })

    look('lists its studies', '#/', async (page) => {
      await page.getByRole('link', { name: 'network', exact: true }).waitFor()
      await page.getByRole('link', { name: 'alloys', exact: true }).waitFor()
      assert.deepEqual(await findings(page), [])
    })
    look('shows history', '#/study/network', async (page) => {
      await page.locator('main canvas').first().waitFor()
      const { best_observed } = await stage.now.api.get('/studies/network')
      await page
        .locator('main .lead')
        .filter({ hasText: String(best_observed.value.toPrecision(4)).replace(/0+$/, '') })
        .waitFor()
    })
    look('filters and sorts its trials', '#/study/network/trials', async (page) => {
      const { trials } = await stage.now.api.get('/studies/network/trials?limit=1000')
      const failed = trials.filter(({ state }) => state === 'failed').length
      await page.getByRole('searchbox', { name: 'Filter' }).fill('state = failed')
      await page
        .getByRole('status')
        .filter({ hasText: `${failed} of ${trials.length} trials` })
        .waitFor()
      await page.getByRole('searchbox', { name: 'Filter' }).fill('lrr < 1')
      await page.getByRole('alert').filter({ hasText: 'column 1' }).waitFor()
      await page.getByRole('searchbox', { name: 'Filter' }).fill('')
    })
    look('shows a trial', '#/study/network/trial/3', async (page) => {
      await page.getByRole('heading', { name: 'Parameters' }).waitFor()
    })
    look('shows what matters', '#/study/network/importance', (page) =>
      page.locator('main svg[data-chart]').first().waitFor(),
    )
    look('shows maps', '#/study/network/map', async (page) => {
      const choice = page.getByRole('combobox')
      const pair = choice.locator('option').filter({ hasText: ' and ' }).first()
      await choice.selectOption(await pair.getAttribute('value'))
      await page.locator('svg[aria-roledescription=map]').nth(1).waitFor()
    })
    look('shows all parameters side by side', '#/study/network/parallel', (page) =>
      page.locator('svg[aria-roledescription="parallel coordinates"]').waitFor(),
    )
    look('shows whether to trust the model', '#/study/network/trust', (page) =>
      page.locator('main svg[data-chart]').first().waitFor(),
    )
    look('shows workers', '#/study/network/workers', (page) =>
      page.locator('main svg[data-chart]').first().waitFor(),
    )
    look('shows the pool', '#/study/alloys/pool', (page) =>
      page.locator('main svg[data-chart]').first().waitFor(),
    )
    look('compares', '#/compare', (page) => page.getByRole('heading', { level: 1 }).waitFor())

    test('of a thousand trials it is smaller than a megabyte', { timeout: 60_000 }, async () => {
      const { now } = stage
      const study = await studyFile(now.folder, 'thousand', 2000)
      const storage = `sqlite:///${join(now.folder, 'thousand.db')}`
      const known = join(now.folder, 'known.csv')
      const rows = external(1000, 5).map(({ params, value }) => [...Object.values(params), value].join(','))
      await writeFile(known, `lr,layers,momentum,optimizer,nesterov,value\n${rows.join('\n')}\n`)
      await run('tell', study, '--storage', storage, '--from', known)
      const large = join(now.folder, 'thousand.html')
      await run('report', study, '--storage', storage, '-o', large)
      const { size } = await stat(large)
      assert.ok(size < MOST, `${size} bytes`)
    })
  })
}
