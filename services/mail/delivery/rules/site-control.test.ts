import { describe, expect, test } from 'vitest'
import {
  afterBreak,
  afterNews,
  afterSuccess,
  afterThrottle,
  afterUnreachable,
  freshRelay,
  freshSite,
  limitsOf,
  openWindow,
  PROBE_MS,
  type SiteControl,
  withLimits,
} from './site-control.ts'

const LIMITS = limitsOf('example.net', { owned: 1, parts: 1 }, false)
const START = 1_000_000

describe('limits', () => {
  test.each([
    { site: 'example.net', owned: 1, parts: 1, connections: 10, rate: undefined },
    { site: 'google', owned: 8, parts: 8, connections: 16, rate: undefined },
    { site: 'google', owned: 1, parts: 8, connections: 2, rate: undefined },
    { site: 'google', owned: 0, parts: 8, connections: 2, rate: undefined },
    { site: 'tencent', owned: 8, parts: 8, connections: 8, rate: 20 },
    { site: 'tencent', owned: 4, parts: 8, connections: 4, rate: 10 },
    { site: 'sina', owned: 1, parts: 64, connections: 1, rate: 10 / 64 },
  ])('of $site for $owned of $parts slots', ({ site, owned, parts, connections, rate }) => {
    const limits = limitsOf(site, { owned, parts }, false)
    expect(limits.connections).toBe(connections)
    expect(limits.rate).toBe(rate)
  })

  test('of the relay are its own, and open from the start', () => {
    const limits = limitsOf('google', { owned: 1, parts: 64 }, true)
    expect(openWindow(freshRelay(limits, START), START)).toBe(limits.connections)
  })
})

/** How a receiver of the simulation behaves. */
interface SimulatedReceiver {
  /** Milliseconds from the start of a transaction to its reply. */
  latency: number
  /** Messages a second and burst above which it answers 4.7.x. */
  rate?: number
  burst?: number
  /** Connections above which a further one is refused. */
  connections?: number
  /** Times at which no connection is possible: [from, to). */
  outage?: [number, number]
}

/** A receiver and the traffic to it, in steps of 10 ms of a clock that exists only here. */
function simulate(receiver: SimulatedReceiver, seconds: number) {
  const { rate, burst = 5, connections = Number.POSITIVE_INFINITY, outage: [from, to] = [1, 0] } = receiver
  let control: SiteControl = freshSite(LIMITS, 0)
  let tokens = burst
  let nextAt = 0
  let running: { endsAt: number; refused: boolean }[] = []
  const delivered: number[] = []
  const throttled: number[] = []
  const failed: number[] = []

  const end = (now: number, refused: boolean) => {
    if (refused) {
      failed.push(now)
      control = afterUnreachable(control, 'refused', now, PROBE_MS)
    } else if (rate && tokens < 1) {
      throttled.push(now)
      control = afterThrottle(control, '451 4.7.1 too fast', now)
    } else {
      tokens--
      delivered.push(now)
      control = afterSuccess(control, LIMITS, now)
    }
  }
  const begin = (now: number) => {
    nextAt = Math.max(nextAt, now - 50) + (control.rate === Number.POSITIVE_INFINITY ? 0 : 1_000 / control.rate)
    const refused = (now >= from && now < to) || running.length >= connections
    running.push({ endsAt: now + (refused ? 10 : receiver.latency), refused })
  }

  for (let now = 0; now < seconds * 1_000; now += 10) {
    if (rate) tokens = Math.min(burst, tokens + rate / 100)
    const ended = running.filter(({ endsAt }) => endsAt <= now)
    running = running.filter(({ endsAt }) => endsAt > now)
    for (const { refused } of ended) end(now, refused)
    while (running.length < openWindow(control, now) && nextAt <= now) begin(now)
  }
  const between = (times: readonly number[], start: number, stop: number) =>
    times.filter(at => at >= start * 1_000 && at < stop * 1_000).length / (stop - start)
  return { control, delivered, throttled, failed, between }
}

describe('the speed that is found', () => {
  test.each([
    { latency: 20, capacity: 500 },
    { latency: 200, capacity: 50 },
    { latency: 1_000, capacity: 10 },
  ])('a receiver that answers in $latency ms is used to 90 % within 5 s', ({ latency, capacity }) => {
    const { between, throttled } = simulate({ latency }, 30)
    expect(between(throttled, 0, 30)).toBe(0)
    expect(between(simulate({ latency }, 30).delivered, 5, 30)).toBeGreaterThan(0.9 * capacity)
  })

  test.each([
    { rate: 50, burst: 50, part: 0.85 },
    { rate: 50, burst: 5, part: 0.85 },
    { rate: 200, burst: 20, part: 0.85 },
    { rate: 10, burst: 10, part: 0.85 },
    { rate: 2, burst: 5, part: 0.75 },
  ])('of $rate a second (burst $burst) that a receiver allows $part are used, and it complains rarely', scene => {
    const { rate, burst, part } = scene
    const { between, delivered, throttled } = simulate({ latency: 20, rate, burst }, 300)
    expect(between(delivered, 60, 300)).toBeGreaterThan(part * rate)
    // In the long run one message of thirty, or one complaint in some seconds for a slow receiver, is refused.
    expect(between(throttled, 60, 300)).toBeLessThan(Math.max(0.3, rate / 30))
  })

  test('a receiver of 50 a second reaches 90 % within 5 s although it complains', () => {
    const { between, delivered } = simulate({ latency: 20, rate: 50, burst: 50 }, 20)
    expect(between(delivered, 0, 5)).toBeGreaterThan(45)
    expect(between(delivered, 5, 20)).toBeGreaterThan(42)
  })

  test('a receiver with room for four connections is used with about four', () => {
    const { between, delivered, failed } = simulate({ latency: 100, connections: 4 }, 120)
    expect(between(delivered, 10, 120)).toBeGreaterThan(0.7 * 40)
    expect(between(failed, 10, 120)).toBeLessThan(1)
  })

  test('follows a receiver whose speed changes, in both directions', () => {
    const slow = simulate({ latency: 20, rate: 5, burst: 5 }, 120)
    expect(slow.control.rate).toBeLessThan(8)
    let control = slow.control
    let now = 120_000
    // The rate that is allowed is used to the full, without a complaint.
    for (; control.rate < 50; now += 1_000 / control.rate) control = afterSuccess(control, LIMITS, now)
    expect(now).toBeLessThan(180_000)
  })
})

describe('an outage', () => {
  test('costs one attempt a minute, is over within a minute, and ends with the full speed', () => {
    const { between, failed, delivered } = simulate({ latency: 100, outage: [10_000, 310_000] }, 400)
    // The window that was open when it began, then one probe a minute.
    expect(failed.length).toBeLessThanOrEqual(LIMITS.connections * 3 + 6)
    expect(failed.filter(at => at > 30_000).length).toBeLessThanOrEqual(6)
    expect(between(delivered, 10.2, 310)).toBe(0)
    expect(delivered.find(at => at >= 310_000)).toBeLessThan(310_000 + PROBE_MS + 1_000)
    expect(between(delivered, 375, 400)).toBeGreaterThan(90)
  })

  test('from the start opens no second connection before the first answer', () => {
    let control = freshSite(LIMITS, START)
    control = afterUnreachable(control, 'ECONNREFUSED', START, PROBE_MS)
    expect(control).toMatchObject({ status: 'down', since: START, reason: 'ECONNREFUSED' })
    expect(openWindow(control, START + PROBE_MS - 1)).toBe(0)
    expect(openWindow(control, START + PROBE_MS)).toBe(1)
    const again = afterUnreachable(control, 'ETIMEDOUT', START + PROBE_MS, PROBE_MS)
    expect(again).toMatchObject({ since: START, reason: 'ETIMEDOUT', resumeAt: START + 2 * PROBE_MS })
    expect(afterUnreachable(again, 'late', START + PROBE_MS + 5, PROBE_MS)).toBe(again)
  })

  test('is not assumed while other transactions get through', () => {
    const works = afterSuccess(freshSite(LIMITS, START), LIMITS, START)
    const control = afterUnreachable(works, 'ECONNRESET', START + 100, PROBE_MS)
    expect(control).toMatchObject({ status: 'up', window: 2 })
    expect(afterUnreachable(works, 'ECONNRESET', START + 6_000, PROBE_MS).status).toBe('down')
  })
})

describe('a receiver that takes nothing', () => {
  test('is left alone for longer each time, up to 5 minutes', () => {
    let control = freshSite(LIMITS, START)
    let now = START
    const pauses: number[] = []
    for (let n = 0; n < 12; n++) {
      control = afterThrottle(control, '421 4.7.0 later', now)
      pauses.push(control.resumeAt - now)
      expect(openWindow(control, control.resumeAt - 1)).toBe(0)
      expect(openWindow(control, control.resumeAt)).toBe(1)
      now = control.settledAt
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300].map(s => s * 1_000))
    expect(control.rate).toBeGreaterThan(0)
  })

  test('complaints about what was under way count once', () => {
    const once = afterThrottle(freshSite(LIMITS, START), '421', START)
    expect(afterThrottle(once, '421', START + 10)).toBe(once)
    expect(afterThrottle(once, '421', once.resumeAt + 500)).toBe(once)
    expect(afterBreak(once, START + 10)).toBe(once)
  })

  test('ten minutes without a complaint end it', () => {
    let control = afterThrottle(freshSite(LIMITS, START), '421', START)
    expect(control.status).toBe('throttled')
    control = afterSuccess(control, LIMITS, START + 9 * 60_000)
    expect(control.status).toBe('throttled')
    control = afterSuccess(control, LIMITS, START + 10 * 60_000)
    expect(control).toMatchObject({ status: 'up', rate: Number.POSITIVE_INFINITY, reason: undefined })
  })
})

test('after an idle time the present speed counts, not the average', () => {
  let control = freshSite(LIMITS, START)
  for (let n = 0; n < 20; n++) control = afterSuccess(control, LIMITS, START + n)
  const later = START + 3_600_000
  for (let n = 0; n < 100; n++) control = afterSuccess(control, LIMITS, later + n * 10)
  control = afterThrottle(control, '421', later + 1_000)
  expect(control.rate).toBeGreaterThan(60)
  expect(control.resumeAt).toBe(later + 1_000)
})

describe('news of other workers', () => {
  const fresh = freshSite(LIMITS, START)
  const down = afterUnreachable(fresh, 'ECONNREFUSED', START, PROBE_MS)
  test.each([
    {
      name: 'an outage holds here',
      before: fresh,
      news: { status: 'down', since: START - 5, reason: 'x', resumeAt: START + 30_000 },
      after: { status: 'down', since: START - 5, reason: 'x', resumeAt: START + 30_000 },
    },
    {
      name: 'the end of an outage does, too',
      before: down,
      news: { status: 'up', since: START, resumeAt: 0 },
      after: { status: 'up', resumeAt: 0, window: 3 },
    },
    {
      name: 'a pause and a lower rate do, too',
      before: fresh,
      news: { status: 'throttled', since: START, reason: '421', resumeAt: START + 9_000, rate: 4 },
      after: { status: 'throttled', resumeAt: START + 9_000, rate: 4 },
    },
    {
      name: 'a higher rate does not',
      before: { ...fresh, rate: 2 },
      news: { status: 'throttled', since: START, resumeAt: 0, rate: 4 },
      after: { rate: 2 },
    },
    {
      name: 'a complaint elsewhere does not end an outage here',
      before: down,
      news: { status: 'throttled', since: START, resumeAt: 0, rate: 4 },
      after: { status: 'down', resumeAt: START + PROBE_MS },
    },
    {
      name: '"up" is no news for a site that is up',
      before: fresh,
      news: { status: 'up', since: START + 5, resumeAt: 0 },
      after: { since: START },
    },
    {
      name: 'a complaint elsewhere counts as one of ours: the next delivery does not end it',
      before: fresh,
      news: { status: 'throttled', since: START, resumeAt: 0, rate: 4 },
      after: { complainedAt: START },
    },
    {
      name: 'an outage elsewhere does not hold where a message was delivered since',
      before: { ...fresh, lastSuccess: START },
      news: { status: 'down', since: START, resumeAt: START + 9_000 },
      after: { status: 'up', resumeAt: 0 },
    },
  ] as const)('$name', ({ before, news, after }) => {
    expect(afterNews(before, { at: START, ...news }, LIMITS, START)).toMatchObject(after)
  })

  test('a rate that another worker found survives the first deliveries here', () => {
    const news = { status: 'throttled', since: START, resumeAt: 0, rate: 4, at: START } as const
    const control = afterSuccess(afterNews(fresh, news, LIMITS, START), LIMITS, START + 1_000)
    expect([control.status, control.rate < 5]).toEqual(['throttled', true])
  })
})

describe('limits that change', () => {
  const of = (owned: number) => limitsOf('tencent', { owned, parts: 8 }, false)

  test.each([
    { name: 'free, more slots', from: 2, to: 8, control: {}, rate: 20, window: 2 },
    { name: 'free, fewer slots', from: 8, to: 2, control: { window: 8 }, rate: 5, window: 2 },
    { name: 'throttled, more slots', from: 2, to: 8, control: { rate: 1 }, rate: 1, window: 2 },
    { name: 'throttled, fewer slots', from: 8, to: 2, control: { rate: 9 }, rate: 5, window: 2 },
  ])('$name', ({ from, to, control, rate, window }) => {
    const before = { ...freshSite(of(from), START), ...control }
    expect(withLimits(before, of(from), of(to))).toMatchObject({ rate, window })
  })
})
