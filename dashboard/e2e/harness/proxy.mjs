// Something between the page and its server: a network that breaks; or, for work on the page, a bundle of a folder in place of the one
// that is built into the program.

import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { extname, join, normalize } from 'node:path'

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

/**
 * Starts a server that takes the page from a folder, if there is one, and all else from the server at `target()`. It sends the policy that
 * the real one sends with its page. While it is cut off, or the server is away, it closes all connections.
 */
export async function inFrontOf(target, folder = process.env.NOREGRET_PAGE) {
  const headers = (await fetch(`${target()}/`)).headers
  const policy = headers.get('content-security-policy')
  let isCut = false
  const server = createServer(async (incoming, outgoing) => {
    const path = new URL(incoming.url, 'http://here').pathname
    if (isCut) {
      outgoing.destroy()
      return
    }
    if (folder && !/^\/(api|login|logout)\b/.test(path)) {
      try {
        const name = normalize(path === '/' ? 'index.html' : path.slice(1))
        const bytes = await readFile(join(folder, name))
        outgoing.writeHead(200, {
          'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
          ...(policy ? { 'Content-Security-Policy': policy } : {}),
        })
        outgoing.end(bytes)
      } catch {
        outgoing.writeHead(404).end()
      }
      return
    }
    const passed = request(`${target()}${incoming.url}`, {
      method: incoming.method,
      headers: { ...incoming.headers, host: new URL(target()).host },
    })
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    cut: () => {
      isCut = true
      server.closeAllConnections()
    },
    mend: () => {
      isCut = false
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
