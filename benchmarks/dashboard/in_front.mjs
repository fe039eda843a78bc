// For programs that were built without the page: the page from a folder, all else from the server behind.

import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { extname, join, normalize } from 'node:path'

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

/** Starts it on a free port; returns its address. Files are sent compressed, as the program does. */
export async function inFrontOf(target, folder) {
  const server = createServer(async (incoming, outgoing) => {
    const path = new URL(incoming.url, 'http://here').pathname
    if (/^\/(api|login|logout)\b/.test(path)) {
      const passed = request(`${target}${incoming.url}`, {
        method: incoming.method,
        headers: { ...incoming.headers, host: new URL(target).host },
      })
      passed.on('response', (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers)
        answer.pipe(outgoing)
      })
      passed.on('error', () => outgoing.destroy())
      outgoing.on('close', () => passed.destroy())
      incoming.pipe(passed)
      return
    }
    const name = normalize(path === '/' ? 'index.html' : path.slice(1))
    try {
      const bytes = await readFile(join(folder, `${name}.gz`))
      outgoing.writeHead(200, {
        'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
        'Content-Encoding': 'gzip',
      })
      outgoing.end(bytes)
    } catch {
      outgoing.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
