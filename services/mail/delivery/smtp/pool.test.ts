import { describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/time/until.ts'
import { createPool } from './pool.ts'

/** What the pool sees of a session. */
function session(used = 1) {
  const wire = {
    usable: true,
    quits: 0,
    quit: () => {
      wire.quits++
      wire.usable = false
    },
  }
  return { used, wire }
}

type Fake = ReturnType<typeof session>

function pool(idleMs?: number, idleMost?: number) {
  const counts: number[] = []
  const made = createPool<Fake>({
    onConnections: count => counts.push(count),
    ...(idleMs ? { idleMs } : {}),
    ...(idleMost ? { idleMost } : {}),
  })
  const open = (used?: number) => {
    made.opened()
    return session(used)
  }
  return { pool: made, open, connections: () => counts.at(-1) }
}

describe('a kept session', () => {
  test('is taken again, the last one first, and only for its route', () => {
    const { pool: p, open } = pool()
    const [one, two] = [open(), open()]
    p.put('a', one, 10)
    p.put('a', two, 10)
    expect([p.take('b'), p.take('a'), p.take('a'), p.take('a')]).toEqual([undefined, two, one, undefined])
    p.stop()
  })

  test.each([
    ['used up', 10, true],
    ['broken', 1, false],
  ])('that is %s is closed', (_, used, usable) => {
    const { pool: p, open, connections } = pool()
    const given = open(used)
    given.wire.usable = usable
    p.put('a', given, 10)
    expect([given.wire.quits, connections(), p.take('a')]).toEqual([1, 0, undefined])
  })

  test('that broke while it was kept is closed, and the one below it is taken', () => {
    const { pool: p, open, connections } = pool()
    const [good, broken] = [open(), open()]
    p.put('a', good, 10)
    p.put('a', broken, 10)
    broken.wire.usable = false
    expect(p.take('a')).toBe(good)
    expect([broken.wire.quits, good.wire.quits, connections(), p.routes]).toEqual([1, 0, 1, 0])
  })

  test('is closed once it has been idle for its time, one that is in use is not', async () => {
    const { pool: p, open, connections } = pool(20)
    const [busy, idle, other] = [open(), open(), open()]
    p.put('a', busy, 10)
    expect(p.take('a')).toBe(busy)
    // These timers begin after the busy one's would have.
    p.put('a', idle, 10)
    p.put('b', other, 10)
    await until(async () => other.wire.quits === 1)
    expect([busy.wire.quits, idle.wire.quits, connections(), p.routes]).toEqual([0, 1, 1, 0])
    p.gone(busy)
    expect(connections()).toBe(0)
  })

  test('is closed when everything stops, and nothing is kept from then on', () => {
    const { pool: p, open, connections } = pool()
    const [kept, late] = [open(), open()]
    p.put('a', kept, 10)
    p.stop()
    p.put('a', late, 10)
    expect([kept.wire.quits, late.wire.quits, connections(), p.routes]).toEqual([1, 1, 0, 0])
  })
})

test.each([
  ['its last session was used up', 10],
  ['its last session is in use', 9],
])('a route is forgotten when %s', (_, used) => {
  const { pool: p, open } = pool()
  for (let route = 0; route < 100; route++) {
    const given = open()
    p.put(`route ${route}`, given, 10)
    expect(p.routes).toBe(1)
    expect(p.take(`route ${route}`)).toBe(given)
    given.used = used
    if (used === 10) p.put(`route ${route}`, given, 10)
    expect(p.routes).toBe(0)
  }
})

test('more sessions than a process should keep: the one that has been idle longest closes, whatever its route', () => {
  const { pool: p, open, connections } = pool(undefined, 3)
  const sessions = ['a', 'b', 'c', 'a', 'd'].map(route => ({ route, session: open() }))
  for (const { route, session: one } of sessions) p.put(route, one, 10)
  expect(sessions.map(({ session: { wire } }) => wire.quits)).toEqual([1, 1, 0, 0, 0])
  expect([connections(), p.routes, p.take('b'), p.take('a')]).toEqual([3, 3, undefined, sessions[3]?.session])
  p.stop()
})
