// The map of two parameters: it reads out, and takes a place as a point to evaluate.

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { visit } from './harness/visit.mjs'

const MAP = '#/study/network/map?x=lr&y=momentum'

export function mapTests(stage) {
  describe('map', () => {
    visit(
      'is drawn, reads out, and enqueues the place that is clicked',
      stage,
      { role: 'work' },
      async (visitor, page) => {
        await visitor.open(MAP)
        const drawings = page.locator('svg[aria-roledescription=map]')
        await drawings.nth(1).waitFor()
        assert.equal(await drawings.count(), 2, 'mean and deviation')
        assert.ok((await colors(page)) > 20, 'the map has many colors')
        assert.ok((await drawings.first().locator('circle').count()) > 20, 'evaluated points')

        const place = await freePlace(page, drawings.first())
        await page.mouse.click(...place)
        const dialog = page.getByRole('dialog', { name: 'Enqueue a point' })
        await dialog.waitFor()
        const point = {}
        for (const name of ['lr', 'momentum', 'layers', 'optimizer', 'nesterov'])
          point[name] = await dialog
            .locator('label', { hasText: new RegExp(`^${name}`) })
            .locator('input, select')
            .inputValue()
        // More than half to the right and upwards.
        assert.ok(point.lr > 1e-3 && point.lr < 1e-1, `lr is ${point.lr}`)
        assert.ok(point.momentum > 0.5 && point.momentum < 0.99, `momentum is ${point.momentum}`)

        const posted = page.waitForResponse((response) => response.url().endsWith('/trials:enqueue'))
        await dialog.getByRole('button', { name: 'Enqueue' }).click()
        assert.equal((await posted).status(), 200)
        await dialog.waitFor({ state: 'detached' })
        await page.waitForFunction(() => location.hash.includes('/trial/'))
        const number = Number(page.url().split('/').at(-1))
        const trial = await stage.now.api.get(`/studies/network/trials/${number}`)
        assert.equal(trial.state, 'waiting')
        close(trial.params.lr, Number(point.lr))
        close(trial.params.momentum, Number(point.momentum))
        assert.equal(trial.params.layers, Number(point.layers))
        assert.equal(trial.params.optimizer, point.optimizer)
        await page.getByText('A person chose this point').waitFor()

        await visitor.open('#/study/network/trials')
        await page
          .getByRole('row')
          .filter({ has: page.getByRole('link', { name: String(number), exact: true }) })
          .filter({ hasText: 'waiting' })
          .waitFor()
      },
    )

    visit(
      'by keyboard: arrows read it out, Enter takes the place',
      stage,
      { role: 'work' },
      async (visitor, page) => {
        await visitor.open(MAP)
        const drawing = page.locator('svg[aria-roledescription=map]').first()
        await drawing.focus()
        await page.keyboard.press('ArrowRight')
        await page.keyboard.press('ArrowUp')
        await page.getByRole('status').filter({ hasText: 'expected' }).first().waitFor({ state: 'attached' })
        await page.keyboard.press('Enter')
        await page.getByRole('dialog', { name: 'Enqueue a point' }).waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      },
    )

    visit(
      'other parameters are averaged, fixed, or made panels',
      stage,
      { role: 'read' },
      async (visitor, page) => {
        await visitor.open(MAP)
        await page.getByRole('button', { name: 'Others averaged' }).click()
        await page.getByText('over all values of the others').waitFor()
        await page.getByRole('button', { name: 'Others at the best' }).click()
        await page.getByLabel('Panels').selectOption('optimizer')
        for (const choice of ['adam', 'sgd', 'lion'])
          await page.getByRole('heading', { name: `Expected value, optimizer ${choice}` }).waitFor()
        await page.getByLabel('y axis').selectOption('')
        await page.locator('svg[data-chart]').first().waitFor()
        // Who may only read is not offered to enqueue.
        assert.equal(await page.locator('svg.pickable').count(), 0)
      },
    )
  })
}

/** Points are kept as places of the unit cube, in 32 bits: six digits stay. */
const close = (one, other) =>
  assert.ok(Math.abs(one - other) <= 1e-5 * Math.abs(other), `${one}, not ${other}`)

/** Moves the mouse to the upper right part of a map, to where no point is; where that is. */
async function freePlace(page, drawing) {
  await drawing.scrollIntoViewIfNeeded()
  const box = await drawing.boundingBox()
  const readout = page.locator('.readout')
  for (let share = 0.65; share < 0.9; share += 0.03) {
    const place = [box.x + share * box.width, box.y + 0.35 * box.height]
    await page.mouse.move(...place)
    await readout.waitFor()
    if (/expected/.test(await readout.innerText())) return place
  }
  throw new Error('no place of the map says what is expected there')
}

/** How many colors the first map has. */
const colors = (page) =>
  page
    .locator('canvas')
    .first()
    .evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      return new Set(new Uint32Array(data.buffer)).size
    })
