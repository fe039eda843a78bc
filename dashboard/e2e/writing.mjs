// What people with the role work do from the page.

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { until } from './harness/page.mjs'
import { visit } from './harness/visit.mjs'

export function writingTests(stage) {
  const trialOf = (number) => stage.now.api.get(`/studies/network/trials/${number}`)

  describe('writing', () => {
    visit('tell, correct and note a result', stage, { role: 'work' }, async (visitor, page) => {
      const [trial] = await stage.now.api.ask('network', 1, 'gpu-c:103')
      await visitor.open(`#/study/network/trial/${trial.number}`)
      await page.getByRole('button', { name: 'Tell its value' }).click()
      await page.getByRole('dialog').getByLabel('Value', { exact: true }).fill('0.75')
      await page.getByRole('dialog').getByRole('button', { name: 'Tell' }).click()
      await page.getByRole('button', { name: 'Correct the result' }).click()
      assert.equal((await trialOf(trial.number)).value, 0.75)
      await page.getByRole('dialog').getByLabel('Value', { exact: true }).fill('0.5')
      await page.getByRole('dialog').getByRole('button', { name: 'Correct' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal((await trialOf(trial.number)).value, 0.5)
      await page.getByRole('button', { name: /^Note/ }).click()
      await page.getByRole('dialog').getByLabel('Note').fill('checked by hand')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.locator('main').getByText('checked by hand').first().waitFor()
      assert.equal((await trialOf(trial.number)).note, 'checked by hand')
    })

    visit('a trial failed, or is given back', stage, { role: 'work' }, async (visitor, page) => {
      const [failed, back] = await stage.now.api.ask('network', 2, 'gpu-c:103')
      await visitor.open(`#/study/network/trial/${failed.number}`)
      await page.getByRole('button', { name: 'It failed' }).click()
      await page.getByRole('dialog').getByLabel('Why').fill('the cable was loose')
      await page.getByRole('dialog').getByRole('button', { name: 'It failed' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByText('the cable was loose').first().waitFor()
      assert.equal((await trialOf(failed.number)).state, 'failed')
      await visitor.open(`#/study/network/trial/${back.number}`)
      await page.getByRole('button', { name: 'Give back' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Give back' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal((await trialOf(back.number)).state, 'waiting')
    })

    visit('pause and go on; tags and a note of the study', stage, { role: 'work' }, async (visitor, page) => {
      const study = () => stage.now.api.get('/studies/empty')
      await visitor.open('#/study/empty')
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('button', { name: 'Go on' }).waitFor()
      assert.equal((await study()).paused, true)
      assert.deepEqual(await stage.now.api.ask('empty', 1, 'gpu-a:101'), [])
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByRole('button', { name: 'Pause' }).waitFor()
      assert.equal((await study()).paused, false)
      await page.getByRole('button', { name: 'Tags and note' }).click()
      await page.getByRole('dialog').getByLabel(/^Tags/).fill('night, spare')
      await page.getByRole('dialog').getByLabel('Note').fill('only at night')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.locator('header').getByText('only at night').waitFor()
      assert.deepEqual((await study()).tags, ['night', 'spare'])
    })

    visit(
      'archive and take out; the search finds by tag',
      stage,
      { role: 'admin' },
      async (visitor, page) => {
        await visitor.open('#/')
        await page.getByRole('searchbox').fill('seeds')
        const cards = page.locator('li.card')
        await until(async () => (await cards.count()) === 2, 'two studies with the tag')
        await page.getByRole('button', { name: 'Archive seed-2' }).click()
        await until(async () => (await cards.count()) === 1, 'one study is put away')
        await page.getByLabel(/^Archived/).check()
        await page.getByRole('button', { name: 'Take out seed-2' }).click()
        await page.getByRole('button', { name: 'Archive seed-2' }).waitFor()
        assert.equal((await stage.now.api.get('/studies/seed-2')).archived, false)
      },
    )
  })
}
