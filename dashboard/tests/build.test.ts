import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'page-'))
const build = (...more: string[]) => run('node', ['build.mjs', '--out', folder, ...more])
const text = (name: string) => readFileSync(join(folder, name), 'utf8')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the build', { timeout: 30_000 }, () => {
  test('a page that its content security policy lets in', async () => {
    await build()
    const index = text('index.html')
    const assets = readdirSync(join(folder, 'assets'))
    for (const ending of ['js', 'css']) {
      const name = assets.find((asset) => asset.endsWith(`.${ending}`)) ?? ''
      expect(name).toMatch(/^app-[0-9a-f]{10}\./)
      expect(index).toContain(`"assets/${name}"`)
      expect(
        gunzipSync(readFileSync(join(folder, 'assets', `${name}.gz`))).equals(
          readFileSync(join(folder, 'assets', name)),
        ),
      ).toBe(true)
    }
    // Nothing inline, nothing from the root of the server or from another one.
    expect(index).not.toMatch(/<style|style="|<script(?![^>]* src=)| on\w+=/)
    expect(index).not.toMatch(/(src|href)="(\/|https?:)/)
  })

  test('a report in one file, with one place for its data', async () => {
    await build()
    const report = text('report.html')
    expect(report.split('__NOREGRET_DATA__')).toHaveLength(2)
    expect(report).toContain('<script type="application/json" id="noregret-data">__NOREGRET_DATA__</script>')
    expect(report).not.toMatch(/<(script|link|img)[^>]*(src|href)="(?!data:)/)
    // Two scripts, each of which ends where it should.
    expect(report.match(/<script/g)).toHaveLength(2)
    expect(report.match(/<\/script/g)).toHaveLength(2)
  })

  test('a bundle that is too large is a mistake', async () => {
    await expect(build('--most', '20000')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the page has \d+ bytes compressed, more than 20000/),
    })
  })
})
