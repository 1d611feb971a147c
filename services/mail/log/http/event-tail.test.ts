import { describe, expect, test } from 'vitest'
import type { EventDoc } from '../../store/documents.ts'
import { tail } from './event-tail.ts'

const START = new Date('2026-11-21T10:00:00Z')
const at = (ms: number) => new Date(START.getTime() + ms)
const event = (ms: number, id: string) => ({ _id: id, at: at(ms) }) as EventDoc

/** A log to which a test adds events, and the ids that a tail gave out after `rounds` reads. */
function logOf(...stored: EventDoc[]) {
  const reads: Date[] = []
  const read = (since: Date, limit: number) => {
    reads.push(since)
    return Promise.resolve(
      stored
        .filter(e => e.at >= since)
        .toSorted((a, b) => a.at.getTime() - b.at.getTime())
        .slice(0, limit),
    )
  }
  return { stored, read, reads }
}

async function follow(
  log: ReturnType<typeof logOf>,
  position: Parameters<typeof tail>[0],
  rounds: readonly (() => void)[],
): Promise<string[]> {
  const stop = new AbortController()
  const given: string[] = []
  const steps = rounds.values()
  for await (const events of tail(position, { read: log.read, signal: stop.signal, pollMs: 0 })) {
    given.push(...events.map(({ _id }) => _id))
    const step = steps.next()
    if (step.done) stop.abort()
    else step.value()
  }
  return given
}

describe('a tail', () => {
  test('gives what comes after its start, once', async () => {
    const log = logOf(event(-1, 'before'), event(0, 'a'))
    const add = (ms: number, id: string) => () => void log.stored.push(event(ms, id))
    expect(await follow(log, { at: START }, [add(10, 'b'), add(5_000, 'c'), () => undefined])).toEqual(['a', 'b', 'c'])
  })

  test('gives events that were stored late', async () => {
    const log = logOf(event(2_000, 'a'))
    const late = () => void log.stored.push(event(500, 'late'))
    expect(await follow(log, { at: START }, [late, () => undefined])).toEqual(['a', 'late'])
  })

  test('continues after the last event of a reader, and repeats at most some seconds', async () => {
    const log = logOf(event(-10_000, 'long ago'), event(-1_000, 'just before'), event(0, 'has'), event(1, 'next'))
    expect(await follow(log, { at: START, id: 'has' }, [])).toEqual(['just before', 'next'])
  })

  test('reads more than one read takes, without reading the same again for ever', async () => {
    const log = logOf(...Array.from({ length: 12_000 }, (_, n) => event(Math.floor(n / 4_000), `e${n}`)))
    const given = await follow(log, { at: START }, [() => undefined, () => undefined, () => undefined, () => undefined])
    expect(new Set(given).size).toBe(given.length)
    expect(given).toHaveLength(12_000)
  })

  test('steps over more events of one moment than one read takes', async () => {
    const log = logOf(...Array.from({ length: 6_000 }, (_, n) => event(0, `e${n}`)), event(1, 'behind'))
    expect(await follow(log, { at: START }, [() => undefined, () => undefined])).toContain('behind')
  })

  test('ends with its signal', async () => {
    const stop = new AbortController()
    stop.abort()
    const log = logOf(event(0, 'a'))
    for await (const events of tail({ at: START }, { read: log.read, signal: stop.signal, pollMs: 0 }))
      throw new Error(`${events.length} events after the end`)
    expect(log.reads).toEqual([])
  })
})
