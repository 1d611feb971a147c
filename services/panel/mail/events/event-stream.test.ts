/** Reconnecting of event streams, with fake streams and a manual clock. */
import { expect, test } from 'vitest'
import { EVENT_TYPES, followEvents, type Stream } from './event-stream.ts'

const CONNECTING = 0
const CLOSED = 2

interface FakeStream extends Stream {
  readyState: number
  closed: boolean
  emit: (type: string) => void
}

function followFake() {
  const streams: FakeStream[] = []
  const waiting: { ms: number; task: () => void }[] = []
  const log: string[] = []
  const open = (): Stream => {
    const listeners = new Map<string, () => void>()
    const stream: FakeStream = {
      readyState: CONNECTING,
      closed: false,
      addEventListener: (type, listener) => listeners.set(type, listener),
      emit: type => listeners.get(type)?.(),
      close() {
        stream.closed = true
      },
    }
    streams.push(stream)
    return stream
  }
  const stop = followEvents({
    open,
    schedule(ms, task) {
      const entry = { ms, task }
      waiting.push(entry)
      return () => {
        if (waiting.includes(entry)) waiting.splice(waiting.indexOf(entry), 1)
      }
    },
    onEvent: () => log.push('event'),
    onStateChange: isOpen => log.push(isOpen ? 'open' : 'closed'),
  })
  return {
    stop,
    log,
    waiting,
    streams,
    last: () => streams.at(-1) as FakeStream,
    /** Ends the current pause. */
    pass() {
      waiting.shift()?.task()
    },
    /** The browser closes the stream. */
    refuse() {
      const stream = streams.at(-1) as FakeStream
      stream.readyState = CLOSED
      stream.emit('error')
    },
  }
}

test('opening a stream is reported and counts as an event', () => {
  const { last, log } = followFake()
  expect(log).toEqual([])
  last().emit('open')
  expect(log).toEqual(['open', 'event'])
})

test.each(EVENT_TYPES)('%s triggers a refresh', type => {
  const { last, log } = followFake()
  last().emit(type)
  expect(log).toEqual(['event'])
})

test('a broken stream is reconnected by the browser, and missed events are fetched', () => {
  const { streams, last, log, waiting } = followFake()
  last().emit('open')
  last().emit('error')
  last().emit('open')
  expect(log).toEqual(['open', 'event', 'closed', 'open', 'event'])
  expect(streams).toHaveLength(1)
  expect(waiting).toEqual([])
})

test('a rejected stream is opened again with pauses that grow up to a minute', () => {
  const { streams, waiting, refuse, pass } = followFake()
  const pauses: (number | undefined)[] = []
  for (let tries = 0; tries < 8; tries++) {
    refuse()
    expect(waiting).toHaveLength(1)
    pauses.push(waiting[0]?.ms)
    pass()
    expect(streams).toHaveLength(tries + 2)
  }
  expect(pauses).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

test('a successful connection resets the pauses', () => {
  const { waiting, last, refuse, pass } = followFake()
  refuse()
  pass()
  refuse()
  pass()
  last().emit('open')
  refuse()
  expect(waiting.map(({ ms }) => ms)).toEqual([2000])
})

test('stopping closes the current stream', () => {
  const { streams, refuse, pass, stop } = followFake()
  refuse()
  pass()
  stop()
  expect(streams.map(({ closed }) => closed)).toEqual([false, true])
})

test('stopping during a pause cancels the reconnect', () => {
  const { streams, waiting, refuse, stop } = followFake()
  refuse()
  stop()
  expect(waiting).toEqual([])
  expect(streams).toHaveLength(1)
})
