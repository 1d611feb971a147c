/** A stream that breaks, is refused, comes back and is left; the stream is a plain object, time passes when it is told to. */
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
    /** The longest pause is over. */
    pass() {
      waiting.shift()?.task()
    },
    /** The browser gives the stream up. */
    refuse() {
      const stream = streams.at(-1) as FakeStream
      stream.readyState = CLOSED
      stream.emit('error')
    },
  }
}

test('an open stream is told, and asks for what came before it', () => {
  const { last, log } = followFake()
  expect(log).toEqual([])
  last().emit('open')
  expect(log).toEqual(['open', 'event'])
})

test.each(EVENT_TYPES)('%s is news', type => {
  const { last, log } = followFake()
  last().emit(type)
  expect(log).toEqual(['event'])
})

test('a stream that breaks is left to the browser, and what was missed is asked for', () => {
  const { streams, last, log, waiting } = followFake()
  last().emit('open')
  last().emit('error')
  last().emit('open')
  expect(log).toEqual(['open', 'event', 'closed', 'open', 'event'])
  expect(streams).toHaveLength(1)
  expect(waiting).toEqual([])
})

test('a stream that was refused is opened anew, after pauses that grow to a minute', () => {
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

test('after a stream that opened the pauses begin anew', () => {
  const { waiting, last, refuse, pass } = followFake()
  refuse()
  pass()
  refuse()
  pass()
  last().emit('open')
  refuse()
  expect(waiting.map(({ ms }) => ms)).toEqual([2000])
})

test('leaving closes the stream that is open now', () => {
  const { streams, refuse, pass, stop } = followFake()
  refuse()
  pass()
  stop()
  expect(streams.map(({ closed }) => closed)).toEqual([false, true])
})

test('leaving while it waits opens nothing any more', () => {
  const { streams, waiting, refuse, stop } = followFake()
  refuse()
  stop()
  expect(waiting).toEqual([])
  expect(streams).toHaveLength(1)
})
