// Every view, for everybody: on large screens and phones, light and dark, by mouse and by keyboard.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { COLORS, findings } from './harness/axe.mjs'
import { until } from './harness/page.mjs'
import { EMPTY, PLACES } from './harness/places.mjs'
import { visit } from './harness/visit.mjs'

/** The width of a small phone, in pixels. */
const PHONE = 400
const LARGE = { width: 1200, height: 900 }
/** The longest that a test may take, in milliseconds. */
const LIMIT = 60_000

export function viewTests(stage) {
  describe('views', () => {
    // One visitor for all of them, who goes from view to view: opening a page anew takes longer than looking at it.
    let visitor
    before(async () => {
      visitor = await stage.now.visitor('admin')
    })
    after(() => visitor?.close())
    for (const { name, hash, asks, sees } of PLACES) {
      test(`${name}: shows what it should, to everybody`, { timeout: LIMIT }, async () => {
        const { page } = visitor
        await page.setViewportSize(LARGE)
        await page.emulateMedia({ colorScheme: 'light' })
        await visitor.open(hash)
        assert.match(await page.locator('h1').first().innerText(), asks)
        await page.locator(`main ${sees}`).first().waitFor()
        assert.equal(
          await page.locator('main .trouble').count(),
          name === 'trial' ? 1 : 0,
          'errors in the view',
        )
        assert.deepEqual(await findings(page), [], 'light')
        await page.emulateMedia({ colorScheme: 'dark' })
        assert.deepEqual(await findings(page, COLORS), [], 'dark')
        await page.setViewportSize({ width: PHONE, height: 800 })
        await page.waitForFunction((width) => window.innerWidth === width, PHONE)
        await fits(page)
        visitor.check()
      })
    }

    visit('a study without results says so in every view', stage, {}, async (visitor, page) => {
      await page.setViewportSize({ width: PHONE, height: 800 })
      for (const hash of EMPTY) {
        await visitor.open(hash)
        const text = await page.locator('main').innerText()
        assert.ok(text.length > 40, `${hash} says ${JSON.stringify(text)}`)
        assert.doesNotMatch(text, /\b(NaN|undefined|null|Infinity)\b/, hash)
        await fits(page)
      }
    })

    visit(
      'the login fits a phone, and everybody can use it',
      stage,
      { role: null, expected: [401], width: PHONE },
      async (visitor, page) => {
        await page.goto(`${visitor.base}/`)
        await page.getByLabel('Token').waitFor()
        assert.deepEqual(await findings(page), [], 'light')
        await page.emulateMedia({ colorScheme: 'dark' })
        assert.deepEqual(await findings(page, COLORS), [], 'dark')
        await fits(page)
      },
    )

    visit(
      'by keyboard: Tab reaches the navigation and the table, Enter opens a trial',
      stage,
      {},
      async (visitor, page) => {
        await visitor.open('#/study/network')
        await tabTo(page, (focused) => focused.tag === 'A' && focused.text === 'Trials')
        await page.keyboard.press('Enter')
        await visitor.settled('#/study/network/trials')
        await page.locator('[role=table] [role=cell] a').first().waitFor()
        await tabTo(page, (focused) => focused.role === 'table')
        const link = await tabTo(page, (focused) => focused.tag === 'A' && focused.inCell)
        await page.keyboard.press('Enter')
        await visitor.settled(`#/study/network/trial/${link.text}`)
        await page.getByRole('heading', { name: 'Why this point was chosen' }).waitFor()
      },
    )

    visit('colors: the switch goes to dark, and stays', stage, {}, async (visitor, page) => {
      await visitor.open('#/')
      const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
      const light = await ground()
      const button = page.getByRole('button', { name: /^Theme/ })
      while (!/dark/.test(await button.innerText())) await button.click()
      const dark = await ground()
      assert.notEqual(dark, light)
      await page.reload()
      await visitor.settled('#/')
      assert.equal(await ground(), dark)
    })
  })
}

/** Nothing is wider than the screen: tables and charts scroll within themselves. */
async function fits(page) {
  const over = () => document.documentElement.scrollWidth - document.documentElement.clientWidth
  try {
    // Charts take their new width in the next frame.
    await until(async () => (await page.evaluate(over)) <= 0, 'it fits', 2000)
  } catch {
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('body *')]
        .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
        .map((element) => `${element.tagName}.${element.getAttribute('class') ?? ''}`)
        .slice(0, 8),
    )
    throw new Error(`${page.url()} is ${await page.evaluate(over)} pixels too wide: ${wide.join(', ')}`)
  }
}

/** Presses Tab until something has the focus; what has it, or an error after a hundred steps. */
async function tabTo(page, wanted) {
  const seen = []
  for (let step = 0; step < 100; step += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement
      return {
        tag: element.tagName,
        role: element.getAttribute('role'),
        text: element.textContent.trim().slice(0, 40),
        inCell: element.closest('[role=cell]') !== null,
      }
    })
    if (wanted(focused)) return focused
    seen.push(`${focused.tag} ${focused.text.slice(0, 15)}`)
  }
  throw new Error(`Tab never came to it, but to: ${seen.join(', ')}`)
}
