// Studies to look at, and what was told about them.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const NETWORK = (name, trials, seed, algorithm) => `
[study]
name = "${name}"
direction = "minimize"
trials = ${trials}
batch = 3
seed = ${seed}
algorithm = "${algorithm}"

[objective]
command = ["true"]

[parameters]
lr = { type = "float", low = 1e-5, high = 1e-1, log = true }
layers = { type = "int", low = 1, high = 8 }
momentum = { type = "float", low = 0.0, high = 0.99 }
optimizer = { type = "categorical", choices = ["adam", "sgd", "lion"] }
nesterov = { type = "bool" }

[constraints]
"no deep sgd" = "optimizer != 'sgd' or layers <= 6"
`

const ALLOYS = `
[study]
name = "alloys"
direction = "maximize"
trials = 20
batch = 4
seed = 1

[objective]
command = ["true"]

[pool]
file = "alloys.csv"
id = "name"
`

/** The loss of a made-up network: momentum makes steps longer, and each optimizer wants its own; deep networks want small ones. */
export function loss({ lr, layers, momentum, optimizer, nesterov }) {
  const step =
    Math.log10(lr / (1 - momentum)) + { adam: 2.1, lion: 2.8, sgd: 1 }[optimizer] + 0.08 * (layers - 4)
  const kind = { adam: 0, lion: 0.03, sgd: 0.11 }[optimizer]
  return (
    0.18 +
    0.3 * (1 - Math.exp(-0.8 * step ** 2)) +
    0.012 * (layers - 5) ** 2 +
    kind -
    (nesterov ? 0.02 * momentum : 0)
  )
}

export const hardness = ({ copper, nickel, silicon }) =>
  180 + 2 * nickel - 0.05 * (nickel - 8) ** 2 + 20 * silicon - 0.1 * (copper - 84) ** 2

/** Numbers between 0 and 1 that are the same every time. */
export function* chance(seed) {
  for (let state = seed; ; ) {
    state = (state * 48271) % 2147483647
    yield state / 2147483647
  }
}

/** Writes a study file into a folder; returns its path. */
export async function studyFile(folder, name, trials = 60, seed = 1, algorithm = 'auto') {
  const path = join(folder, `${name}.toml`)
  await writeFile(path, NETWORK(name, trials, seed, algorithm))
  return path
}

/** The same for a pool of alloys. */
export async function poolFile(folder) {
  const random = chance(7)
  const next = () => random.next().value
  const rows = Array.from({ length: 60 }, (_, i) => {
    const [copper, nickel, silicon] = [75 + 15 * next(), 12 * next(), 3 * next()]
    return `alloy-${String(i).padStart(2, '0')},${copper.toFixed(1)},${nickel.toFixed(1)},${silicon.toFixed(2)}`
  })
  await writeFile(join(folder, 'alloys.csv'), `name,copper,nickel,silicon\n${rows.join('\n')}\n`)
  const path = join(folder, 'alloys.toml')
  await writeFile(path, ALLOYS)
  return path
}

/** Points of the space that fit the constraint. */
export function points(n, seed) {
  const random = chance(seed)
  const next = () => random.next().value
  return Array.from({ length: n }, () => {
    const layers = 1 + Math.floor(8 * next())
    const optimizer = (layers <= 6 ? ['adam', 'sgd', 'lion'] : ['adam', 'lion'])[
      Math.floor(next() * (layers <= 6 ? 3 : 2))
    ]
    return {
      lr: Number((10 ** (-5 + 4 * next())).toPrecision(4)),
      layers,
      momentum: Number((0.99 * next()).toFixed(3)),
      optimizer,
      nesterov: next() < 0.5,
    }
  })
}

/** Results from elsewhere: as many as are wanted, at once. */
export function external(n, seed) {
  return points(n, seed).map((params) => ({ params, value: loss(params) }))
}

const WORKERS = ['gpu-a:101', 'gpu-b:102', 'gpu-c:103']

/**
 * Evaluates trials as three workers would. Every fifth fails, with a reason and what it wrote to stderr; the others have attributes.
 * Returns the trials that were told.
 */
export async function evaluate(api, study, n, { failing = true, of = loss } = {}) {
  const done = []
  while (done.length < n) {
    for (const worker of WORKERS) {
      const trials = await api.ask(study, Math.min(2, Math.max(1, n - done.length)), worker)
      for (const { number, params } of trials) {
        const seconds = 20 + 3 * (number % 7)
        if (failing && number % 5 === 3) {
          await api.fail(study, number, {
            reason: number % 2 ? 'out of memory' : 'the loss is not a number',
            stderr: `epoch 1\nepoch 2\nRuntimeError: allocation ${number} of 2 GiB failed\n`,
            seconds,
            worker,
          })
        } else {
          await api.tell(study, number, {
            value: of(params),
            attrs: { epochs: 10 + number, host: worker.split(':')[0] },
            seconds,
            worker,
          })
        }
        done.push(number)
      }
      if (done.length >= n) break
    }
  }
  return done
}
