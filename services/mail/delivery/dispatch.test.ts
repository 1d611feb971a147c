import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SiteLimits } from '../rules/shaping.ts'
import { createDispatcher } from './dispatch.ts'

/** A dispatcher on a clock that stands still, with work that ends when told. */
function scene(options: { relay?: boolean; parts?: number } = {}) {
  let now = 1_000_000
  const running: { site: string; end: () => void; limits: SiteLimits }[] = []
  const postponed: number[] = []
  const dispatcher = createDispatcher({
    partsOf: () => options.parts ?? 1,
    relay: options.relay ?? false,
    now: () => now,
  })
  return {
    dispatcher,
    running,
    postponed,
    advance: (ms: number) => {
      now += ms
    },
    now: () => now,
    submit(site: string, count = 1) {
      for (let i = 0; i < count; i++)
        dispatcher.submit({
          site,
          run: limits =>
            new Promise(resolve => {
              running.push({ site, limits, end: resolve })
            }),
          postpone: until => postponed.push(until),
        })
    },
    /** Ends the oldest work and lets the dispatcher go on. */
    async endOne() {
      running.shift()?.end()
      await Promise.resolve()
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

describe('a site', () => {
  test('gets as much at once as it has connections, then one for one', async () => {
    const { submit, running, endOne } = scene()
    submit('example.com', 15)
    expect(running).toHaveLength(10)
    await endOne()
    expect(running).toHaveLength(10)
  })

  test.each([
    [1, 10],
    [4, 2],
    [64, 1],
  ])('in %i parts has %i connections for each', (parts, connections) => {
    const { submit, running } = scene({ parts })
    submit('example.com', 15)
    expect(running).toHaveLength(connections)
  })

  test('does not stand in the way of others', () => {
    const { submit, running } = scene()
    submit('slow.example', 100)
    submit('other.example')
    expect(running.filter(({ site }) => site === 'other.example')).toHaveLength(1)
  })

  test('keeps only so much waiting; the rest returns to the queue in order, spread over time', () => {
    const { submit, postponed, now } = scene()
    submit('example.com', 100)
    expect(postponed).toHaveLength(50)
    expect(postponed[0]).toBeGreaterThan(now())
    expect(postponed).toEqual(postponed.toSorted((a, b) => a - b))
    expect((postponed.at(-1) ?? 0) - (postponed[0] ?? 0)).toBeGreaterThan(10_000)
  })

  test('a relay is given everything', () => {
    const { submit, postponed, running } = scene({ relay: true })
    submit('relay', 600)
    expect(running).toHaveLength(20)
    expect(postponed).toHaveLength(0)
  })
})

describe('a pause', () => {
  test('sends waiting work back until its end, and halves what runs afterwards', async () => {
    const { submit, dispatcher, running, postponed, endOne, advance, now } = scene()
    submit('example.com', 12)
    expect(dispatcher.slowDown('example.com')).toMatchObject({ limit: 5 })
    expect(dispatcher.slowDown('example.com')).toBeUndefined()
    await endOne()
    expect(postponed).toEqual([now() + 90_000, now() + 90_000])
    while (running.length > 0) await endOne()
    submit('example.com')
    expect(postponed).toHaveLength(3)
    advance(90_001)
    submit('example.com', 8)
    expect(running).toHaveLength(5)
  })

  test('is not shortened by what was under way when it began', async () => {
    const { submit, dispatcher, endOne, advance, now } = scene()
    submit('example.com', 3)
    dispatcher.slowDown('example.com')
    dispatcher.succeeded('example.com')
    await endOne()
    advance(90_001)
    expect(dispatcher.slowDown('example.com')).toMatchObject({ limit: 2, suspendedUntil: now() + 180_000 })
    advance(180_001)
    dispatcher.succeeded('example.com')
    expect(dispatcher.slowDown('example.com')).toMatchObject({ suspendedUntil: now() + 90_000 })
  })

  test('seen by another worker holds here too', () => {
    const { submit, dispatcher, running, postponed, now } = scene()
    dispatcher.suspendUntil('example.com', now() + 60_000)
    submit('example.com')
    expect(running).toHaveLength(0)
    expect(postponed).toEqual([now() + 60_000])
  })
})

test('at the end everything that was not begun goes back at once', () => {
  const { submit, dispatcher, postponed, now } = scene()
  submit('example.com', 13)
  dispatcher.postponeAll()
  expect(postponed).toEqual([now(), now(), now()])
})

test('what comes after the end, from a claim that the database answered late, is not begun either', async () => {
  const { submit, dispatcher, running, postponed, endOne, now } = scene()
  submit('example.com')
  dispatcher.postponeAll()
  submit('example.com')
  submit('example.net')
  await endOne()
  expect(running).toHaveLength(0)
  expect(postponed).toEqual([now(), now()])
})

/** Work at two sites, and what became of each piece. */
function ledger() {
  let now = 1_000_000
  let submitted = 0
  const outcome = new Map<number, 'run' | 'back'>()
  const running: { site: string; end: () => void }[] = []
  const dispatcher = createDispatcher({ partsOf: () => 1, relay: false, now: () => now })
  const note = (id: number, what: 'run' | 'back') => {
    expect(outcome.get(id)).toBeUndefined()
    outcome.set(id, what)
  }
  const submitOne = (site: string): void => {
    const id = submitted++
    dispatcher.submit({
      site,
      run(limits) {
        note(id, 'run')
        return new Promise(resolve => {
          running.push({ site, end: resolve })
          expect(running.filter(one => one.site === site).length).toBeLessThanOrEqual(limits.connections)
        })
      },
      postpone(until) {
        note(id, 'back')
        expect(until).toBeGreaterThanOrEqual(now)
        expect(until - now).toBeLessThanOrEqual(30 * 60_000)
      },
    })
  }
  const act = {
    submit(site: string, n: number) {
      for (let i = 0; i < n; i++) submitOne(site)
    },
    async end(_: string, n: number) {
      for (const one of running.splice(0, n)) one.end()
      await new Promise(resolve => setImmediate(resolve))
    },
    slowDown: (site: string) => void dispatcher.slowDown(site),
    succeeded: (site: string) => dispatcher.succeeded(site),
    suspend: (site: string, n: number) => dispatcher.suspendUntil(site, now + n * 3_000),
    advance(_: string, n: number) {
      now += n * 2_000
    },
  }
  return { act, running, outcome, submitted: () => submitted }
}

test('whatever happens, every piece of work runs once or goes back once, within the limits', async () => {
  const kinds = ['submit', 'end', 'slowDown', 'succeeded', 'suspend', 'advance'] as const
  const step = fc.record({
    kind: fc.constantFrom(...kinds),
    site: fc.constantFrom('a', 'b'),
    n: fc.integer({ min: 1, max: 60 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const { act, running, outcome, submitted } = ledger()
      for (const { kind, site, n } of steps) await act[kind](site, n)
      // Nothing is forgotten: as connections become free, the rest runs or goes back.
      while (running.length > 0) await act.end('', running.length)
      expect(outcome.size).toBe(submitted())
    }),
    { numRuns: 100 },
  )
})
