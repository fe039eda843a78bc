// What one takes along: files of tables and charts, and a sheet for the next plate.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe } from 'node:test'
import { visit } from './harness/visit.mjs'

export function fileTests(stage) {
  describe('files', () => {
    visit('all trials as CSV', stage, { role: 'read' }, async (visitor, page) => {
      const { counts } = await stage.now.api.get('/studies/network')
      await visitor.open('#/study/network/trials')
      const lines = (await saved(page, 'Save CSV')).toString().trim().split(/\r?\n/)
      assert.match(lines[0], /^number,state,value,lr,/)
      const all = counts.waiting + counts.running + counts.complete + counts.failed
      assert.equal(lines.length, all + 1)
    })

    visit('a map as SVG, PNG, CSV and table', stage, { role: 'read' }, async (visitor, page) => {
      await visitor.open('#/study/network/map?x=lr&y=momentum')
      await page.locator('svg[aria-roledescription=map]').nth(1).waitFor()
      const svg = (await saved(page, 'Save SVG')).toString()
      assert.match(svg, /^(<\?xml[^>]*>\s*)?<svg[^>]* xmlns="http:\/\/www.w3.org\/2000\/svg"/)
      assert.match(svg, /momentum/)
      const fine = await page.evaluate((text) => {
        const read = new DOMParser().parseFromString(text, 'image/svg+xml')
        return read.querySelector('parsererror') === null
      }, svg)
      assert.ok(fine, 'the SVG can be read')
      const png = await saved(page, 'Save PNG')
      assert.equal(png.toString('latin1', 1, 4), 'PNG')
      const lines = (await saved(page, 'Save CSV')).toString().trim().split(/\r?\n/)
      assert.match(lines[0], /^lr,momentum,mean,deviation/)
      assert.ok(lines.length > 1000, `${lines.length} lines`)
      await page.getByRole('button', { name: 'Table' }).click()
      await page.getByRole('region', { name: 'Table of the chart' }).getByRole('row').nth(10).waitFor()
    })

    visit(
      'the next plate, with the names of its candidates',
      stage,
      { role: 'work' },
      async (visitor, page) => {
        await visitor.open('#/study/alloys/pool')
        await page.getByRole('spinbutton', { name: 'Candidates' }).fill('4')
        await page.getByRole('button', { name: 'Suggest' }).click()
        await page.getByRole('heading', { name: '4 candidates for the next plate' }).waitFor()
        const rows = page.getByRole('table').last().locator('tbody tr')
        assert.equal(await rows.count(), 4)
        for (const row of await rows.allInnerTexts()) assert.match(row, /alloy-\d\d/)
      },
    )

    visit(
      'studies that share a tag are compared as a group',
      stage,
      { role: 'read' },
      async (visitor, page) => {
        await visitor.open('#/compare?studies=seed-1,seed-2')
        await page.getByText(/seeds is the median of 2 studies/).waitFor()
      },
    )
  })
}

/** What the menu of the view, or of its first chart, saves. */
async function saved(page, what) {
  await page.getByRole('button', { name: 'Export' }).first().click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: what }).click(),
  ])
  return readFile(await download.path())
}
