// What programs ask of a server, with a token.

export class Api {
  constructor(address, token) {
    this.address = address
    this.token = token
  }

  /** The answer to a request, whatever it is. */
  send(method, path, body, headers = {}) {
    return fetch(`${this.address}/api/v1${path}`, {
      method,
      headers: {
        ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  async get(path) {
    return answered(await this.send('GET', path), path)
  }

  async post(path, body) {
    return answered(await this.send('POST', path, body), path)
  }

  /** Makes a study of the text of a study file. */
  async make(text) {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/toml' }
    const made = await fetch(`${this.address}/api/v1/studies`, { method: 'POST', headers, body: text })
    return answered(made, '/studies')
  }

  /** Takes trials to evaluate. */
  async ask(study, n, worker) {
    return (await this.post(`/studies/${study}/trials:ask`, { n, worker, lease: 600, beyond: true })).trials
  }

  tell(study, number, body) {
    return this.post(`/studies/${study}/trials/${number}:tell`, body)
  }

  fail(study, number, body) {
    return this.post(`/studies/${study}/trials/${number}:fail`, body)
  }

  add(study, results) {
    return this.post(`/studies/${study}/trials:add`, { results })
  }
}

async function answered(response, path) {
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.status === 204 ? undefined : response.json()
}
