import { describe, expect, test } from 'vitest'
import { PROBE_MS, RELAY_PROBE_MS, type SiteLimits } from '../rules/site-control.ts'
import { type SiteState, Sites } from './sites.ts'

/** Everything that follows immediately has happened. */
const settled = () => new Promise(resolve => setImmediate(resolve))

/** Sites on a test clock, with work that ends on request. */
function scene(options: { relay?: boolean; owned?: number; parts?: number } = {}) {
  const share = { owned: options.owned ?? 1, parts: options.parts ?? 1 }
  let now = 1_000_000
  let timers: { at: number; call: () => void }[] = []
  const running: { site: string; end: () => void; limits: SiteLimits }[] = []
  const putBack: string[] = []
  const room: string[] = []
  const changes: SiteState[] = []
  const places = new Map<string, number>()
  const sites = new Sites({
    shareOf: () => share,
    relay: options.relay ?? false,
    now: () => now,
    schedule: (ms, call) => void timers.push({ at: now + ms, call }),
    messagesAt: site => places.get(site) ?? 0,
    onRoom: site => room.push(site),
    onChange: state => changes.push(state),
  })
  /** Asks for places; resolves when those that are free are taken. */
  const submit = async (site: string, count = 1) => {
    for (let n = 0; n < count; n++) {
      places.set(site, (places.get(site) ?? 0) + 1)
      const leave = () => places.set(site, (places.get(site) ?? 1) - 1)
      void sites.enter(site).then(place => {
        if (!place) {
          leave()
          putBack.push(site)
          return
        }
        const end = () => {
          leave()
          place.leave()
        }
        running.push({ site, limits: place.limits, end })
      })
    }
    await settled()
  }
  return {
    ...{ sites, running, putBack, room, changes, submit, share },
    /** Moves the clock and calls what is due. */
    async advance(ms: number) {
      now += ms
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { call } of due) call()
      await settled()
    },
    /** Ends the oldest transactions and lets the sites go on. */
    async end(count = 1, report: 'delivered' | 'nothing' = 'delivered') {
      for (const { site, end } of running.splice(0, count)) {
        if (report === 'delivered') sites.succeeded(site)
        end()
      }
      await settled()
    },
  }
}

describe('a site', () => {
  test('starts with three transactions and opens with each delivery, up to its limit', async () => {
    const { submit, running, end } = scene()
    await submit('example.com', 60)
    const open = [running.length]
    for (let n = 0; n < 4; n++) {
      await end(running.length)
      open.push(running.length)
    }
    expect(open).toEqual([3, 6, 10, 10, 10])
  })

  test.each([
    { owned: 1, parts: 1, limit: 10 },
    { owned: 1, parts: 4, limit: 2 },
    { owned: 3, parts: 4, limit: 7 },
    { owned: 1, parts: 64, limit: 1 },
  ])('of which $owned of $parts slots are ours has $limit transactions', async ({ owned, parts, limit }) => {
    const { submit, running, end } = scene({ owned, parts })
    await submit('example.com', 60)
    for (let n = 0; n < 4; n++) await end(running.length)
    expect(running).toHaveLength(limit)
  })

  test('has room for its transactions and a few in advance, and reports when it has room again', async () => {
    const { sites, submit, room, end, running } = scene()
    expect(sites.roomAt('example.com')).toBe(5)
    await submit('example.com', 5)
    expect(sites.roomAt('example.com')).toBe(0)
    expect(room).toEqual([])
    await end()
    expect(room).toEqual(['example.com'])
    expect(sites.roomAt('example.com')).toBe(2)
    expect(running).toHaveLength(4)
  })

  test('that is fast is given a quarter of a second ahead', async () => {
    const { sites, submit, end, running, advance } = scene()
    for (let n = 0; n < 400; n++) {
      await submit('example.com', Math.max(0, 10 - running.length))
      await end(1)
      if (n % 4 === 0) await advance(10)
    }
    // 400 in a second: a hundred ahead.
    expect(sites.roomAt('example.com') + running.length).toBeGreaterThan(60)
    expect(sites.roomAt('example.com') + running.length).toBeLessThan(130)
  })

  test('does not block others', async () => {
    const { submit, running } = scene()
    await submit('slow.example', 100)
    await submit('other.example')
    expect(running.filter(({ site }) => site === 'other.example')).toHaveLength(1)
  })
})

describe('a site that cannot be reached', () => {
  test('gets nothing for a minute, then one probe; what waited goes back untouched', async () => {
    const { sites, submit, running, putBack, end, advance, room, changes } = scene()
    await submit('down.example', 5)
    sites.unreachable('down.example', 'ECONNREFUSED')
    await end(3, 'nothing')
    expect(putBack).toHaveLength(2)
    expect(sites.roomAt('down.example')).toBe(0)
    expect(sites.isPaused('down.example')).toBe(true)
    await submit('down.example')
    expect(putBack).toHaveLength(3)
    expect(changes).toMatchObject([{ status: 'down', reason: 'ECONNREFUSED' }])

    await advance(PROBE_MS)
    expect(room).toEqual(['down.example'])
    expect(sites.isPaused('down.example')).toBe(false)
    expect(sites.isDown('down.example')).toBe(true)
    expect(sites.roomAt('down.example')).toBe(1)
    await submit('down.example')
    expect(running).toHaveLength(1)
    expect(sites.roomAt('down.example')).toBe(0)

    await end()
    expect(sites.isDown('down.example')).toBe(false)
    expect(sites.roomAt('down.example')).toBe(5)
    expect(changes.at(-1)).toMatchObject({ site: 'down.example', status: 'up' })
    expect(sites.troubled()).toEqual([])
  })

  test('is probed when its addresses may be tried again, and the relay soon', async () => {
    const named = scene()
    named.sites.unreachable('down.example', 'all failed lately', 1_000_000 + 7_000)
    await named.advance(6_999)
    expect(named.room).toEqual([])
    await named.advance(1)
    expect(named.room).toEqual(['down.example'])
    const relay = scene({ relay: true })
    relay.sites.unreachable('relay', 'ECONNREFUSED')
    await relay.advance(RELAY_PROBE_MS)
    expect(relay.room).toEqual(['relay'])
  })
})

describe('a receiver that asks for less', () => {
  test('is given what it took, paced', async () => {
    const { sites, submit, running, end, advance, changes } = scene()
    for (let n = 0; n < 20; n++) {
      await submit('busy.example')
      await end()
      await advance(100)
    }
    sites.throttled('busy.example', '451 4.7.1 slow down')
    expect(changes).toMatchObject([{ status: 'throttled', reason: '451 4.7.1 slow down' }])
    const rate = changes[0]?.rate ?? 0
    expect(rate).toBeGreaterThan(7)
    expect(rate).toBeLessThan(10)
    await submit('busy.example', 60)
    let began = running.length
    for (let n = 0; n < 30; n++) {
      await end(running.length, 'nothing')
      await advance(100)
      began += running.length
    }
    // Up to three seconds of it, less what the steps of the clock cost, and the burst at the start.
    expect(began).toBeGreaterThan(1.5 * rate)
    expect(began).toBeLessThan(3 * rate + 5)
  })

  test('is heard as the relay, too, with pauses of half a minute at most; broken connections are not', async () => {
    const { sites, changes, advance } = scene({ relay: true })
    sites.broke('relay')
    expect(changes).toEqual([])
    expect(sites.roomAt('relay')).toBe(60)
    for (let n = 0; n < 8; n++) {
      sites.throttled('relay', '454 4.7.0 Throttling failure')
      expect(sites.roomAt('relay')).toBe(0)
      await advance(31_000)
      expect(sites.roomAt('relay')).toBeGreaterThan(0)
    }
    expect(changes.at(-1)).toMatchObject({ site: 'relay', status: 'throttled' })
  })
})

test('what another worker found out holds here', async () => {
  const { sites, submit, putBack, advance, room } = scene()
  await submit('shared.example', 5)
  const since = 1_000_000
  const news = { site: 'shared.example', since, reason: 'ECONNREFUSED', at: since }
  sites.learn({ ...news, status: 'down', resumeAt: since + 30_000 })
  await settled()
  expect(putBack).toHaveLength(2)
  expect(sites.roomAt('shared.example')).toBe(0)
  sites.learn({ ...news, status: 'up', resumeAt: 0 })
  expect(room).toEqual(['shared.example'])
  expect(sites.isPaused('shared.example')).toBe(false)
  await advance(30_000)
})

describe('a site that is down', () => {
  const down = () => {
    const it = scene()
    it.sites.unreachable('down.example', 'ECONNREFUSED')
    return it
  }

  test('is up as soon as a session begins, whatever became of the message', async () => {
    const { sites, advance, changes } = down()
    await advance(PROBE_MS)
    sites.reached('down.example')
    expect(changes.at(-1)).toMatchObject({ status: 'up' })
    expect(sites.roomAt('down.example')).toBe(5)
  })

  test('waits for another worker that requests it, and reports nothing to the others', async () => {
    const { sites, advance, changes, room } = down()
    await advance(PROBE_MS)
    sites.probedElsewhere('down.example')
    expect(sites.isPaused('down.example')).toBe(true)
    expect(changes).toHaveLength(1)
    sites.learn({ site: 'down.example', status: 'up', since: 0, resumeAt: 0, at: 2_000_000 })
    expect(sites.isPaused('down.example')).toBe(false)
    expect(room).toEqual(['down.example', 'down.example'])
  })

  test('is not believed to be when it took a message since', async () => {
    const { sites, submit, end } = scene()
    await submit('works.example')
    await end()
    const news = { site: 'works.example', since: 0, status: 'down', resumeAt: 9_000_000 } as const
    sites.learn({ ...news, at: 999_999 })
    expect(sites.isPaused('works.example')).toBe(false)
    sites.learn({ ...news, at: 1_000_001 })
    expect(sites.isPaused('works.example')).toBe(true)
  })
})

test('a site that works and has no free address pauses for a second, with its window', async () => {
  const { sites, submit, end, advance, changes } = scene()
  await submit('works.example', 3)
  await end(3)
  const room = sites.roomAt('works.example')
  for (let n = 0; n < 20; n++) sites.unreachable('works.example', 'all failed lately', 1_000_000 + 60_000)
  expect(sites.isPaused('works.example')).toBe(true)
  await advance(1_000)
  expect(sites.roomAt('works.example')).toBe(room)
  expect(changes).toEqual([])
})

test('the limits follow the slots that are ours', async () => {
  const { sites, share, advance } = scene({ owned: 0, parts: 8 })
  expect(sites.roomAt('tencent')).toBe(3)
  share.owned = 8
  await advance(5_000)
  for (let n = 0; n < 20; n++) sites.succeeded('tencent')
  expect(sites.roomAt('tencent')).toBe(8 + 2)
  share.owned = 4
  await advance(5_000)
  expect(sites.roomAt('tencent')).toBe(4 + 2)
})

test('20,000 sites are remembered: those that were not asked for lately are forgotten, whatever their state', async () => {
  const { sites, advance } = scene()
  sites.unreachable('kept.example', 'ECONNREFUSED', 9_000_000)
  for (let n = 0; n < 50_000; n++) {
    sites.unreachable(`${n}.example`, 'ECONNREFUSED', 9_000_000)
    if (n % 10_000 === 0) {
      await advance(5_000)
      sites.roomAt('kept.example')
    }
  }
  const known = new Set(sites.troubled().map(({ site }) => site))
  expect(known.size).toBe(20_000)
  expect([known.has('kept.example'), known.has('0.example'), known.has('49999.example')]).toEqual([true, false, true])
})

test('after the stop nothing begins, and what waits goes back', async () => {
  const { sites, submit, running, putBack } = scene()
  await submit('example.com', 5)
  sites.stop()
  await submit('example.com')
  expect(running).toHaveLength(3)
  expect(putBack).toHaveLength(3)
  expect(sites.roomAt('example.com')).toBe(0)
})
