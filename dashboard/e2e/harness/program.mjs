// The program under test: `noregret` itself, as a server, as a dashboard, and as a command.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** How long a server may take to begin or to end, in milliseconds: a machine that does much else is slow. */
const PATIENCE = 30_000

/** The program, in the folder that NOREGRET_BINARIES names. */
function program() {
  const folder = process.env.NOREGRET_BINARIES
  if (!folder) throw new Error('NOREGRET_BINARIES must name the folder of the built `noregret`')
  return join(folder, 'noregret')
}

/** The environment without settings of whoever runs the tests. */
function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('NOREGRET_')))
}

/** Runs a command to its end; returns what it printed, or throws what it said. */
export async function run(...words) {
  const child = spawn(program(), words, { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (piece) => (out += piece))
  child.stderr.on('data', (piece) => (err += piece))
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`noregret ${words.join(' ')} ended with status ${status}: ${err}${out}`)
  return out
}

/** A server that runs: `serve` or `dashboard`. */
export class Running {
  /** Starts it, and waits until it has said where it is. */
  static async start(...words) {
    const running = new Running()
    running.child = spawn(program(), [...words, '--json'], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let err = ''
    running.child.stderr.on('data', (piece) => (err += piece))
    running.ended = once(running.child, 'close')
    const line = once(createInterface(running.child.stdout), 'line')
    const timer = setTimeout(() => running.child.kill('SIGKILL'), PATIENCE)
    const first = await Promise.race([line, running.ended.then(() => null)])
    clearTimeout(timer)
    if (first === null) throw new Error(`noregret ${words.join(' ')} did not start: ${err}`)
    /** What it printed. */
    running.said = JSON.parse(first[0])
    return running
  }

  /** Where it listens. */
  get address() {
    return new URL(this.said.address).origin
  }

  /** Ends it as Ctrl-C does, and waits for its end. */
  async stop() {
    this.child.kill('SIGINT')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), PATIENCE)
    await this.ended
    clearTimeout(timer)
  }
}
