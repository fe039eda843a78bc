// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { follow } from '../src/api/follow.ts'

class Source extends EventTarget {
  static CLOSED = 2
  static all: Source[] = []
  readyState = 1
  onopen: (() => void) | null = null
  onerror: (() => void) | null = null
  onmessage: ((event: MessageEvent) => void) | null = null
  readonly url: string
  constructor(url: string) {
    super()
    this.url = url
    Source.all.push(this)
  }
  close() {
    this.readyState = 2
  }
  say(kind: string, position: number) {
    const data = JSON.stringify({ position, time: '2026-11-18T06:00:00Z', event: { [kind]: {} } })
    this.dispatchEvent(new MessageEvent(kind, { data }))
  }
}

describe('follow', () => {
  const follower = { event: vi.fn(), connection: vi.fn(), refused: vi.fn() }
  let stop: () => void
  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('EventSource', Source)
    Source.all = []
    for (const heard of Object.values(follower)) heard.mockReset()
    stop = follow('a b', 5, follower)
  })
  afterEach(() => {
    stop()
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  const last = () => Source.all.at(-1) as Source

  test('begins after what is known, and skips what comes twice', () => {
    expect(last().url).toBe('api/v1/studies/a%20b/events?after=5')
    last().onopen?.()
    expect(follower.connection).toHaveBeenLastCalledWith('live')
    last().say('told', 6)
    last().say('told', 6)
    last().say('asked', 5)
    last().say('failed', 7)
    expect(follower.event.mock.calls.map(([event]) => event.position)).toEqual([6, 7])
  })

  test('a connection that the browser gives up is made again, where it was', () => {
    last().say('told', 9)
    last().readyState = 2
    last().onerror?.()
    expect(follower.connection).toHaveBeenLastCalledWith('lost')
    expect(follower.refused).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(1100)
    expect(Source.all).toHaveLength(2)
    expect(last().url).toContain('after=9')
  })

  test('a short break is left to the browser', () => {
    last().readyState = 0
    last().onerror?.()
    vi.advanceTimersByTime(60_000)
    expect(Source.all).toHaveLength(1)
    expect(follower.refused).not.toHaveBeenCalled()
  })

  test('tries again more and more slowly, and not after it was stopped', () => {
    for (let i = 0; i < 12; i += 1) {
      last().readyState = 2
      last().onerror?.()
      vi.advanceTimersByTime(20_000)
    }
    expect(Source.all).toHaveLength(13)
    stop()
    last().onerror?.()
    vi.advanceTimersByTime(60_000)
    expect(Source.all).toHaveLength(13)
  })

  test('what is no event is not heard', () => {
    last().dispatchEvent(new MessageEvent('told', { data: 'half a' }))
    expect(follower.event).not.toHaveBeenCalled()
  })
})
