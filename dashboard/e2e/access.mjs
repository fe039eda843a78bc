// Who may look, and who may change something.

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { visit } from './harness/visit.mjs'

/** Buttons that change something. */
const WRITING =
  /Enqueue|Pause|Go on|Tags and note|Tell its value|It failed|Give back|Correct|Note|Archive|Take out/

export function accessTests(stage) {
  describe('access', () => {
    visit(
      'a wrong token is refused in words, a right one logs in, and Log out ends it',
      stage,
      { role: null, expected: [401] },
      async (visitor, page) => {
        await page.goto(`${visitor.base}/#/study/network`)
        const field = page.getByLabel('Token')
        await field.fill('nr_0123456789_wrong')
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByText(/does not know this token/).waitFor()
        await field.fill(stage.now.tokens.read)
        await page.getByRole('button', { name: 'Log in' }).click()
        // One arrives where one wanted to go.
        await visitor.settled('#/study/network')
        const [cookie] = await visitor.context.cookies()
        assert.match(cookie.name, /^noregret_session/)
        assert.ok(cookie.httpOnly)
        assert.equal(cookie.sameSite, 'Strict')
        assert.equal(await page.evaluate(() => document.cookie), '', 'scripts cannot read it')
        await page.getByRole('button', { name: 'Log out' }).click()
        await field.waitFor()
        await page.reload()
        await field.waitFor()
        assert.equal((await visitor.context.request.get(`${visitor.base}/api/v1/session`)).status(), 401)
      },
    )

    visit(
      'a link with a token logs in, and the token does not stay in the address',
      stage,
      { role: null },
      async (visitor, page) => {
        await page.goto(`${visitor.base}/#/login?token=${stage.now.tokens.read}`)
        await visitor.settled('#/')
        assert.ok(!page.url().includes('token'), page.url())
        await page.getByRole('link', { name: 'network', exact: true }).waitFor()
      },
    )

    visit('who may read sees nothing that writes', stage, { role: 'read' }, async (visitor, page) => {
      for (const hash of [
        '#/',
        '#/study/network',
        '#/study/network/trial/3',
        `#/study/network/trial/${stage.now.running[0].number}`,
        '#/study/network/map',
        '#/study/alloys/pool',
      ]) {
        await visitor.open(hash)
        const writing = await page.getByRole('button', { name: WRITING }).allInnerTexts()
        assert.deepEqual(writing, [], hash)
      }
    })

    visit(
      'the server refuses writes of a reader, and writes of other sites',
      stage,
      { role: 'read', expected: [403] },
      async (visitor, page) => {
        await visitor.open('#/study/network')
        const before = await stage.now.api.get('/studies/network')
        const write = (headers) =>
          page.evaluate(async (headers) => {
            const answers = []
            for (const [path, body] of [
              ['trials:enqueue', { points: [] }],
              ['trials:ask', { n: 1, worker: 'w', lease: 60 }],
              ['trials/0:annotate', { note: 'x' }],
              ['trials/0:replace', { value: 1 }],
            ]) {
              const answer = await fetch(`api/v1/studies/network/${path}`, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json', ...headers },
                body: JSON.stringify(body),
              })
              answers.push([path, answer.status])
            }
            for (const word of ['pause', 'annotate', 'archive', 'plan']) {
              const answer = await fetch(`api/v1/studies/network:${word}`, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json', ...headers },
                body: '{}',
              })
              answers.push([word, answer.status])
            }
            return answers.filter(([, status]) => status !== 403)
          }, headers)
        assert.deepEqual(await write({ 'X-Noregret': 'page' }), [])
        assert.equal((await stage.now.api.get('/studies/network')).position, before.position)
      },
    )

    visit(
      'a write by cookie without the header of the page is refused',
      stage,
      { role: 'admin', expected: [403] },
      async (visitor, page) => {
        await visitor.open('#/study/network')
        const status = (headers) =>
          page.evaluate(async (headers) => {
            const answer = await fetch('api/v1/studies/empty:annotate', {
              method: 'POST',
              headers: { 'Content-Type': 'application/json', ...headers },
              body: JSON.stringify({ note: 'by a script' }),
            })
            return answer.status
          }, headers)
        assert.equal(await status({}), 403)
        assert.notEqual((await stage.now.api.get('/studies/empty')).note, 'by a script')
        assert.equal(await status({ 'X-Noregret': 'page' }), 200)
      },
    )

    visit(
      'the page comes with a strict policy, and assets that never change',
      stage,
      { role: null, expected: [401] },
      async (visitor, page) => {
        const index = await page.goto(`${visitor.base}/`)
        const policy = index.headers()['content-security-policy']
        assert.match(policy, /default-src 'none'/)
        assert.match(policy, /frame-ancestors 'none'/)
        assert.doesNotMatch(policy, /unsafe|\*/)
        if (process.env.NOREGRET_PAGE) return
        assert.equal(index.headers()['x-content-type-options'], 'nosniff')
        assert.equal(index.headers()['referrer-policy'], 'no-referrer')
        assert.equal(index.headers()['cache-control'], 'no-cache')
        const script = await page.locator('script[src]').getAttribute('src')
        const asset = await visitor.context.request.get(`${visitor.base}/${script}`)
        assert.match(asset.headers()['cache-control'], /immutable/)
        assert.equal(asset.headers()['content-encoding'], 'gzip')
      },
    )
  })
}
