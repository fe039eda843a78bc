// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ask, Problem, segment, studyPath, Unreachable } from '../src/api/ask.ts'
import { canonical, normalizedKey, requestKey } from '../src/api/canonical.ts'
import { read } from '../src/api/embedded.ts'

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } })
const refusal = (status: number, word: string) => ({
  type: `urn:noregret:${word}`,
  title: word,
  status,
  detail: `it is ${word}`,
})

describe('ask', () => {
  const fetched = vi.fn<typeof fetch>()
  beforeEach(() => {
    vi.stubGlobal('fetch', fetched)
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
    fetched.mockReset()
  })

  test('addresses are relative, and writes say that the page sends them', async () => {
    fetched.mockImplementation(async () => json(200, { ok: true }))
    expect(await ask('POST', '/api/v1/studies/egg:pause', { paused: true })).toEqual({ ok: true })
    const [address, init] = fetched.mock.calls[0] ?? []
    expect(address).toBe('api/v1/studies/egg:pause')
    expect(init?.headers).toMatchObject({ 'X-Noregret': 'page', 'Content-Type': 'application/json' })
    expect(init?.body).toBe('{"paused":true}')
    await ask('GET', '/api/v1/session')
    expect(fetched.mock.calls[1]?.[1]?.headers).not.toHaveProperty('X-Noregret')
  })

  test('a server that has too much to do is asked again when it says', async () => {
    fetched.mockResolvedValueOnce(json(503, refusal(503, 'busy'), { 'Retry-After': '3' }))
    fetched.mockResolvedValueOnce(json(200, 7))
    const answer = ask<number>('GET', '/x')
    await vi.advanceTimersByTimeAsync(2900)
    expect(fetched).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(await answer).toBe(7)
  })

  test('but not for ever', async () => {
    fetched.mockImplementation(async () => json(503, refusal(503, 'busy')))
    const answer = expect(ask('GET', '/x')).rejects.toThrow('it is busy')
    await vi.advanceTimersByTimeAsync(120_000)
    await answer
    expect(fetched).toHaveBeenCalledTimes(4)
  })

  test('errors have the words of the server', async () => {
    fetched.mockResolvedValueOnce(json(404, refusal(404, 'no-such-study')))
    const error = await ask('GET', '/x').catch((problem: Error) => problem)
    expect(error).toBeInstanceOf(Problem)
    if (!(error instanceof Problem)) return
    expect([error.status, error.word, error.message]).toEqual([404, 'no-such-study', 'it is no-such-study'])
  })

  test('a proxy that answers, and nobody who answers, are told apart', async () => {
    fetched.mockResolvedValueOnce(new Response('<html>', { status: 502, statusText: 'Bad Gateway' }))
    await expect(ask('GET', '/x')).rejects.toThrow('status 502 (Bad Gateway)')
    fetched.mockRejectedValueOnce(new TypeError('failed to fetch'))
    await expect(ask('GET', '/x')).rejects.toBeInstanceOf(Unreachable)
    fetched.mockResolvedValueOnce(new Response('<html>', { status: 200 }))
    await expect(ask('GET', '/x')).rejects.toBeInstanceOf(Unreachable)
  })
})

describe('names of requests', () => {
  test('do not depend on the order of keys, or on what is undefined', () => {
    const key = requestKey('POST', '/s:map', { y: 'b', x: 'a', fixed: undefined })
    expect(key).toBe('POST /s:map {"x":"a","y":"b"}')
    expect(normalizedKey('POST /s:map {"y": "b", "x": "a"}')).toBe(key)
    expect(normalizedKey('GET /s')).toBe('GET /s')
    expect(canonical([1e21, null, 'a"b', { b: [true], a: 0.1 }])).toBe(
      '[1e+21,null,"a\\"b",{"a":0.1,"b":[true]}]',
    )
  })

  test('a page without data is no report', () => {
    expect(read('')).toBeNull()
    expect(read('__NOREGRET_DATA__')).toBeNull()
    expect(read('{"GET /x": null}')?.get('GET /x')).toBeNull()
  })

  test('studies with odd names', () => {
    expect(studyPath('a/b c:d?é')).toBe('/api/v1/studies/a%2Fb%20c%3Ad%3F%C3%A9')
    expect([segment('.'), segment('..'), segment("it's (1)!")]).toEqual(['%2E', '%2E%2E', "it's%20(1)!"])
  })
})
