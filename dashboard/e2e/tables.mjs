// Asking for some of the trials: filters, orders, ranges on axes.

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { visit } from './harness/visit.mjs'

export function tableTests(stage) {
  describe('trials', () => {
    visit('filters keep what they say', stage, { role: 'read' }, async (visitor, page) => {
      const trials = await all(stage)
      await visitor.open('#/study/network/trials')
      const failed = trials.filter((trial) => trial.state === 'failed')
      await filter(page, 'state = failed', failed.length, trials.length)
      for (const row of await rows(page)) assert.match(row, /failed/)
      const small = trials.filter(({ params, value }) => params.lr < 1e-3 && value !== null && value < 2)
      await filter(page, 'lr < 1e-3 and value < 2', small.length, trials.length)
      const numbers = (await rows(page)).map((row) => Number.parseInt(row, 10))
      assert.deepEqual(
        numbers.sort((a, b) => a - b),
        small.map(({ number }) => number).slice(-numbers.length),
      )
      const late = trials.filter(({ attrs }) => attrs.epochs > 20)
      await filter(page, 'epochs > 20', late.length, trials.length)
      // The filter has a link.
      assert.match(page.url(), /filter=epochs/)
    })

    visit(
      'a wrong filter shows where it is wrong',
      stage,
      { role: 'read', expected: [400, 422] },
      async (visitor, page) => {
        await visitor.open('#/study/network/trials')
        const box = page.getByRole('searchbox', { name: 'Filter' })
        await box.fill('value < 2 and lrr < 1e-3')
        const alert = page.getByRole('alert')
        await alert.filter({ hasText: 'column 15' }).waitFor()
        assert.equal(await alert.locator('mark').textContent(), 'lrr')
        assert.match(await alert.innerText(), /`?lr`?\b/, 'what would be right')
        await box.fill('value <')
        await alert.filter({ hasText: /column \d/i }).waitFor()
        await box.fill('value < 0.5')
        await alert.waitFor({ state: 'detached' })
        await page
          .getByRole('status')
          .filter({ hasText: /^\d+ of \d+ trials/ })
          .waitFor()
      },
    )

    visit(
      'a click on a column sorts by it, a second the other way',
      stage,
      { role: 'read' },
      async (visitor, page) => {
        await visitor.open('#/study/network/trials?filter=value%20%3C%201e6')
        const header = page
          .getByRole('columnheader')
          .filter({ has: page.getByRole('button', { name: 'value' }) })
        const column = await page
          .getByRole('columnheader')
          .evaluateAll((heads) => heads.findIndex((head) => head.textContent.startsWith('value')))
        for (const [direction, sign] of [
          ['ascending', 1],
          ['descending', -1],
        ]) {
          await header.getByRole('button').click()
          await page.waitForFunction(
            ([wanted]) =>
              document
                .querySelector(`[role=columnheader][aria-sort=${wanted}]`)
                ?.textContent.startsWith('value'),
            [direction],
          )
          await page.locator('[role=rowgroup] [role=row]:not(.waits)').first().waitFor()
          const values = (await cells(page, column)).map((text) => Number(text.replace('−', '-')))
          assert.ok(values.length > 5 && values.every(Number.isFinite), String(values))
          assert.deepEqual(
            values,
            [...values].sort((a, b) => sign * (a - b)),
            direction,
          )
        }
      },
    )

    visit(
      'ranges drawn in Parallel keep the trials that a table with their filter has',
      stage,
      { role: 'read' },
      async (visitor, page) => {
        await visitor.open('#/study/network/parallel')
        const drawing = page.locator('svg[aria-roledescription="parallel coordinates"]')
        await drawing.waitFor()
        const kept = page.locator('main .lead')
        await brush(page, drawing, 'lr', 0.35, 0.75)
        await kept.filter({ hasText: /^\d+ trials? of \d+ (is|are) in the range/ }).waitFor()
        const one = Number.parseInt(await kept.innerText(), 10)
        await brush(page, drawing, 'value', 0.4, 1)
        await kept.filter({ hasText: /in the ranges/ }).waitFor()
        const both = Number.parseInt(await kept.innerText(), 10)
        assert.ok(both > 0 && both < one, `${one} trials in one range, ${both} in two`)
        const link = page.url()
        await page.getByRole('link', { name: 'Show them as a table' }).click()
        await visitor.settled('#/study/network/trials')
        await page
          .getByRole('status')
          .filter({ hasText: new RegExp(`^${both} of `) })
          .waitFor()
        // The ranges have a link.
        await page.goto('about:blank')
        await page.goto(link)
        await kept.filter({ hasText: new RegExp(`^${both} trials? of `) }).waitFor()
        await page.getByRole('button', { name: 'Clear ranges' }).click()
        await kept.filter({ hasText: /draw a range/ }).waitFor()
      },
    )
  })
}

/** All trials, as programs see them. */
async function all(stage) {
  const { trials } = await stage.now.api.get('/studies/network/trials?limit=1000')
  return trials
}

async function filter(page, text, matching, total) {
  await page.getByRole('searchbox', { name: 'Filter' }).fill(text)
  await page
    .getByRole('status')
    .filter({ hasText: `${matching} of ${total} trials` })
    .waitFor()
}

/** Texts of the rows that are drawn. */
const rows = (page) => page.locator('[role=rowgroup] [role=row]:not(.waits)').allInnerTexts()

const cells = (page, column) =>
  page
    .locator('[role=rowgroup] [role=row]:not(.waits)')
    .evaluateAll(
      (all, column) =>
        all
          .toSorted(
            (a, b) => Number(a.getAttribute('aria-rowindex')) - Number(b.getAttribute('aria-rowindex')),
          )
          .map((row) => row.children[column].textContent),
      column,
    )

/** Draws a range on an axis, from one share of its height to another, with the mouse. */
async function brush(page, drawing, name, from, to) {
  const axis = drawing
    .locator('g.parallel-axis')
    .filter({ has: page.locator(`text.axis-label:text-is("${name}")`) })
  const rule = await axis.locator('line.rule').evaluate((line) => {
    const { x, top, bottom } = line.getBoundingClientRect()
    return { x, top, bottom }
  })
  const at = (share) => rule.bottom + (rule.top - rule.bottom) * share
  await page.mouse.move(rule.x, at(from))
  await page.mouse.down()
  await page.mouse.move(rule.x, at((from + to) / 2))
  await page.mouse.move(rule.x, at(to))
  await page.mouse.up()
}
