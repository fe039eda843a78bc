// What all tests share: one server with studies, one browser.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Api } from './api.mjs'
import { launch, Visitor } from './page.mjs'
import { Running, run } from './program.mjs'
import { inFrontOf } from './proxy.mjs'
import { evaluate, external, hardness, poolFile, studyFile } from './studies.mjs'

/**
 * The stage: `network` runs (some trials failed, three wait for their results), `alloys` chooses of a pool, `empty` has begun, `seed-1` and
 * `seed-2` share a tag. Tokens are in a file, so that they last beyond the server.
 */
export class Stage {
  static async set() {
    const stage = new Stage()
    stage.folder = await mkdtemp(join(tmpdir(), 'noregret-e2e-'))
    stage.storage = `sqlite:///${stage.folder}/noregret.db`
    stage.tokens = {}
    for (const role of ['read', 'work', 'admin']) {
      const made = JSON.parse(
        await run('token', 'create', '--role', role, '--name', role, '--storage', stage.storage, '--json'),
      )
      stage.tokens[role] = made.token
    }
    stage.files = {
      network: await studyFile(stage.folder, 'network'),
      empty: await studyFile(stage.folder, 'empty'),
      alloys: await poolFile(stage.folder),
      'seed-1': await studyFile(stage.folder, 'seed-1', 40, 1),
      'seed-2': await studyFile(stage.folder, 'seed-2', 40, 2),
    }
    await stage.begin()
    stage.browser = await launch()
    await stage.fill()
    return stage
  }

  /** Starts the server: at the port where it was, if it was there before. */
  async begin() {
    const files = Object.values(this.files)
    const port = this.port ?? 0
    this.server = await Running.start(
      'serve',
      ...files,
      '--storage',
      this.storage,
      '--bind',
      `127.0.0.1:${port}`,
    )
    this.port = Number(new URL(this.server.address).port)
    this.api = new Api(this.server.address, this.tokens.admin)
    if (process.env.NOREGRET_PAGE && !this.proxy)
      this.proxy = await inFrontOf(() => `http://127.0.0.1:${this.port}`)
    /** Where the page is. */
    this.base = this.proxy?.address ?? this.server.address
  }

  async fill() {
    const { api } = this
    await evaluate(api, 'network', 12)
    await api.add('network', external(30, 3))
    await evaluate(api, 'network', 3)
    this.running = await api.ask('network', 3, 'gpu-a:101')
    await evaluate(api, 'alloys', 10, { failing: false, of: hardness })
    for (const [i, name] of ['seed-1', 'seed-2'].entries()) {
      await evaluate(api, name, 6)
      await api.add(name, external(12, 11 + i))
      await api.post(`/studies/${name}:annotate`, { tags: ['seeds'] })
    }
  }

  /** Somebody who has shown a token, unless it is none. */
  async visitor(role = 'admin', options = {}) {
    const visitor = await Visitor.make(this.browser, this.base, options)
    if (role) await visitor.logIn(this.tokens[role])
    return visitor
  }

  async strike() {
    await this.browser?.close()
    this.proxy?.close()
    await this.server?.stop()
    await rm(this.folder, { recursive: true, force: true })
  }
}
