// The pictures of the documents: every view, light and dark, of studies that three workers work on.
//
//   NOREGRET_BINARIES=../target/debug npm run screenshots [-- FOLDER]

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Api } from './harness/api.mjs'
import { launch, Visitor } from './harness/page.mjs'
import { withPalette } from './harness/palette_png.mjs'
import { Running } from './harness/program.mjs'
import { inFrontOf } from './harness/proxy.mjs'
import { chance, hardness, loss, poolFile, studyFile } from './harness/studies.mjs'

const FOLDER = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../../docs/images/dashboard')
const WIDTH = 1200
/** How tall pictures are at least and at most: a view that is longer is cut. */
const HEIGHT = [700, 1000]
/** Trials that `network` has in the pictures, and that it is to have. */
const [SHOWN, PLANNED] = [66, 80]
/** A picture larger than this, in bytes, is too large for a document. */
const LARGE = 60_000

const VIEWS = [
  ['studies', '#/'],
  ['compare', '#/compare?studies=bayes-1,bayes-2,bayes-3,random-1,random-2,random-3'],
  ['history', '#/study/network'],
  ['trials', '#/study/network/trials'],
  ['trial', (best) => `#/study/network/trial/${best}`],
  ['map', '#/study/network/map?x=lr&y=momentum'],
  ['panels', '#/study/network/map?x=lr&y=layers&panel=optimizer'],
  [
    'parallel',
    '#/study/network/parallel',
    (page) => page.getByRole('button', { name: 'Best tenth' }).click(),
  ],
  ['importance', '#/study/network/importance'],
  ['trust', '#/study/network/trust'],
  ['workers', '#/study/network/workers'],
  ['pool', '#/study/alloys/pool'],
]

const rest = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds))

/** A worker, as it evaluates trials until there are enough. Evaluations take their time, so that there is something to see of it. */
async function work(api, worker, random) {
  const left = async () => {
    const { counts } = await api.get('/studies/network')
    return SHOWN - counts.complete - counts.failed - counts.running
  }
  while ((await left()) > 0) {
    const [trial] = await api.ask('network', 1, worker)
    if (!trial) return
    const { number, params } = trial
    await rest(0.15 + 0.09 * params.layers + 0.2 * random.next().value)
    if (params.layers > 6 && params.lr > 3e-3) {
      const stderr = `epoch 1: loss 2.31\nepoch 2: loss 8.94\nepoch 3: loss nan\n`
      await api.fail('network', number, { reason: 'the loss is not a number', stderr, worker })
    } else if (random.next().value < 0.05) {
      const stderr = 'torch.OutOfMemoryError: tried to allocate 2.00 GiB\n'
      await api.fail('network', number, { reason: 'out of memory', stderr, worker })
    } else {
      const value = loss(params) + 0.02 * (random.next().value - 0.5)
      const attrs = {
        epochs: 10 + Math.floor(20 * random.next().value),
        accuracy: Number((1 - value / 3).toFixed(4)),
      }
      await api.tell('network', number, { value, attrs, worker })
    }
  }
}

/** What `network` is compared with, at once. */
async function others(api) {
  for (let told = 0; told < 16; ) {
    for (const trial of await api.ask('alloys', 4, 'furnace')) {
      await api.tell('alloys', trial.number, { value: hardness(trial.params), worker: 'furnace' })
      told += 1
    }
  }
  for (const seed of [1, 2, 3]) {
    for (const name of ['bayes', 'random']) {
      for (let told = 0; told < 40; ) {
        for (const { number, params } of await api.ask(`${name}-${seed}`, 4, 'cluster@north')) {
          await api.tell(`${name}-${seed}`, number, { value: loss(params), worker: 'cluster@north' })
          told += 1
        }
      }
      await api.post(`/studies/${name}-${seed}:annotate`, { tags: [name] })
    }
  }
}

/** `network`, as long as it takes: its history begins now. */
async function network(api, file) {
  await api.make(await readFile(file, 'utf8'))
  await Promise.all(
    ['gpu-1@north/0', 'gpu-2@north/0', 'gpu-7@south/0'].map((worker, i) => work(api, worker, chance(20 + i))),
  )
  // Something runs and something waits while the pictures are taken.
  for (const worker of ['gpu-1@north/0', 'gpu-2@north/0']) await api.ask('network', 1, worker)
  const queued = { lr: 2e-3, layers: 5, momentum: 0.4, optimizer: 'lion', nesterov: true }
  await api.post('/studies/network/trials:enqueue', { points: [queued] })
  await api.post('/studies/network:annotate', {
    tags: ['baseline'],
    note: 'Small images, ten epochs at most',
  })
}

const folder = await mkdtemp(join(tmpdir(), 'noregret-pictures-'))
let [server, browser, proxy] = []
try {
  const files = [await poolFile(folder)]
  for (const seed of [1, 2, 3])
    for (const [name, algorithm] of [
      ['bayes', 'auto'],
      ['random', 'random'],
    ])
      files.push(await studyFile(folder, `${name}-${seed}`, 40, seed, algorithm))
  server = await Running.start(
    'serve',
    ...files,
    '--storage',
    `sqlite:///${folder}/noregret.db`,
    '--bind',
    '127.0.0.1:0',
  )
  const api = new Api(server.address, server.said.token)
  await others(api)
  await network(api, await studyFile(folder, 'network', PLANNED, 4))
  const best = (await api.get('/studies/network')).best_observed.number
  if (process.env.NOREGRET_PAGE) proxy = await inFrontOf(() => server.address)
  browser = await launch()
  await mkdir(FOLDER, { recursive: true })
  for (const dark of [false, true]) {
    const visitor = await Visitor.make(browser, proxy?.address ?? server.address, {
      dark,
      width: WIDTH,
      height: HEIGHT[0],
    })
    await visitor.logIn(server.said.token)
    for (const [name, hash, act] of VIEWS) {
      await visitor.page.setViewportSize({ width: WIDTH, height: HEIGHT[0] })
      await visitor.open(typeof hash === 'string' ? hash : hash(best))
      await act?.(visitor.page)
      const tall = await visitor.page.evaluate(() => document.documentElement.scrollHeight)
      const height = Math.min(Math.max(tall, HEIGHT[0]), HEIGHT[1])
      await visitor.page.setViewportSize({ width: WIDTH, height })
      await visitor.settled()
      await visitor.page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      )
      const taken = await visitor.page.screenshot()
      let picture = withPalette(taken)
      if (picture.length > LARGE) picture = withPalette(taken, 64)
      await writeFile(join(FOLDER, `${name}-${dark ? 'dark' : 'light'}.png`), picture)
      const size = `${(picture.length / 1000).toFixed(0)} kB`
      console.log(
        `${name}-${dark ? 'dark' : 'light'}.png: ${size}${picture.length > LARGE ? ', which is large' : ''}`,
      )
    }
    visitor.check()
    await visitor.close()
  }
} finally {
  await browser?.close()
  proxy?.close()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
}
