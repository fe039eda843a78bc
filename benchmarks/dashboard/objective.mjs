// A made-up objective of eight parameters, with results as a study would have them: first anywhere, then closer and closer to the best.

/** The section of the study file. */
export const STUDY = (name, trials) => `
[study]
name = "${name}"
direction = "minimize"
trials = ${trials}
seed = 1

[objective]
command = ["true"]

[parameters]
lr = { type = "float", low = 1e-5, high = 1e-1, log = true }
weight_decay = { type = "float", low = 1e-6, high = 1e-2, log = true }
dropout = { type = "float", low = 0.0, high = 0.7 }
momentum = { type = "float", low = 0.5, high = 0.999 }
layers = { type = "int", low = 1, high = 12 }
width = { type = "int", low = 16, high = 1024, log = true }
activation = { type = "categorical", choices = ["relu", "gelu", "tanh"] }
optimizer = { type = "categorical", choices = ["adam", "sgd", "lion"] }
`

const ACTIVATIONS = ['relu', 'gelu', 'tanh']
const OPTIMIZERS = ['adam', 'sgd', 'lion']
/** Where it is best, in the unit cube. */
const BEST = [0.6, 0.3, 0.25, 0.8, 0.5, 0.7, 0.5, 0.1]

/** Numbers between 0 and 1 that are the same every time (Lehmer's generator). */
function chance(seed) {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

/** Rounding may lead out of a range by its last digit. */
const inside = (x, low, high) => Math.min(high, Math.max(low, x))

/** `n` results: parameters, value (null for one in forty, which failed), and seconds. */
export function* results(n, seed = 1) {
  const next = chance(seed)
  for (let i = 0; i < n; i += 1) {
    const spread = Math.max(0.08, Math.exp((-3 * i) / n))
    const u = BEST.map((best) => {
      const wide = next()
      return Math.min(1, Math.max(0, best + spread * (wide - best) * (0.5 + next())))
    })
    const params = {
      lr: inside(10 ** (-5 + 4 * u[0]), 1e-5, 1e-1),
      weight_decay: inside(10 ** (-6 + 4 * u[1]), 1e-6, 1e-2),
      dropout: 0.7 * u[2],
      momentum: 0.5 + 0.499 * u[3],
      layers: 1 + Math.round(11 * u[4]),
      width: Math.round(16 * 64 ** u[5]),
      activation: ACTIVATIONS[Math.min(2, Math.floor(3 * u[6]))],
      optimizer: OPTIMIZERS[Math.min(2, Math.floor(3 * u[7]))],
    }
    const weights = [3, 0.2, 1, 0.8, 0.9, 0.5, 0.1, 0.4]
    const bowl = u.reduce((sum, x, k) => sum + weights[k] * (x - BEST[k]) ** 2, 0)
    const value = 0.1 + bowl + 0.4 * (u[0] - 0.6) * (u[3] - 0.8) + 0.01 * (next() - 0.5)
    yield { params, value: next() < 1 / 40 ? null : value, seconds: 30 + 60 * next() }
  }
}
