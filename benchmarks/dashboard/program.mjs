// Programs that are measured: they start in a folder of their own, and what they cost is read from the system (Linux).

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { results, STUDY } from './objective.mjs'

/** Clock ticks a second, in /proc (USER_HZ, 100 on all common systems). */
const HERTZ = 100
/** Results of one request. */
const PAGE = 20_000

/** The server of noregret with one study. */
export class Noregret {
  static async start(program, folder, name, trials) {
    const file = join(folder, `${name}.toml`)
    await writeFile(file, STUDY(name, 2 * trials))
    const server = new Noregret()
    server.name = name
    server.child = spawn(
      program,
      [
        'serve',
        file,
        '--storage',
        `sqlite:///${join(folder, `${name}.db`)}`,
        '--bind',
        '127.0.0.1:0',
        '--json',
      ],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    process.once('exit', () => server.child.kill())
    const ended = once(server.child, 'close').then(() => {
      throw new Error('noregret serve ended: it says why above')
    })
    ended.catch(() => undefined)
    const [line] = await Promise.race([once(createInterface(server.child.stdout), 'line'), ended])
    const said = JSON.parse(line)
    server.address = new URL(said.address).origin
    server.token = said.token ?? /token=([\w]+)/.exec(line)?.[1]
    return server
  }

  async ask(method, path, body) {
    const response = await fetch(`${this.address}/api/v1/studies/${this.name}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  async fill(n) {
    const all = [...results(n)]
    for (let i = 0; i < n; i += PAGE) {
      await this.ask('POST', '/trials:add', {
        results: all.slice(i, i + PAGE).map(({ params, value }) => ({ params, value })),
      })
    }
  }

  /** Reports one more result. */
  async tell(seed) {
    const [{ params, value }] = results(1, seed)
    await this.ask('POST', '/trials:add', { results: [{ params, value: value ?? 1 }] })
  }

  async stop() {
    this.child.kill('SIGINT')
    await once(this.child, 'close')
  }
}

/** Seconds of processor that a process has used, with all its threads. */
export async function processorSeconds(pid) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / HERTZ
}

/** Megabytes of memory of a process: its own, and its share of what it has in common with others. */
export async function megabytes(pid) {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024
}
