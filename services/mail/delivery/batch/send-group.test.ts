/** Evidence of an attempt about its site. The attempt is given; sites and database are real where they matter. */
import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../../test/support/database/test-database.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import { reserveProbe } from '../../store/sites.ts'
import { InFlight } from '../claiming/in-flight.ts'
import { type SiteState, Sites } from '../sites/sites.ts'
import type { Attempted } from './attempt.ts'
import type { Result } from './attempt-result.ts'
import type { Group } from './group-by-route.ts'
import { createSend } from './send-group.ts'

const START = 1_000_000

/** Sends groups with given outcomes. */
async function scene({ relay = false }: { relay?: boolean } = {}) {
  const mongo = await databaseForThisTest()
  let now = START
  const changes: SiteState[] = []
  const outcomes: Attempted[] = []
  let attempts = 0
  const rooms: string[] = []
  const inFlight = new InFlight()
  const sites = new Sites({
    ...{
      relay,
      now: () => now,
      shareOf: () => ({ owned: 1, parts: 1 }),
      messagesAt: site => inFlight.messagesAt(site),
    },
    schedule: () => undefined,
    onRoom: site => rooms.push(site),
    onChange: state => changes.push(state),
  })
  const send = createSend({
    ...{ mongo, log: silentLog, relay, sites, inFlight },
    clock: { now: () => new Date(now) },
    async attempt() {
      attempts++
      return outcomes.shift() ?? { results: [], untouched: [] }
    },
  })
  return {
    ...{ mongo, sites, changes, inFlight, rooms },
    attempts: () => attempts,
    advance: (ms: number) => (now += ms),
    /** Runs one transaction at the site. */
    attempt(site: string, attempted: Attempted, deliveries: readonly ClaimedDelivery[] = [], route: object = {}) {
      outcomes.push(attempted)
      return send({ site, deliveries, route } as unknown as Group)
    },
  }
}

const result = (text: string, slowDown = false): Result =>
  ({
    delivery: { id: 'em_1.0' },
    classification: { outcome: 'deferred', ...(slowDown && { slowDown: true }) },
    event: { text },
    next: { kind: 'retry', due: new Date() },
  }) as Result
const refusedGreeting: Attempted = {
  results: [result('421 go away', true)],
  untouched: [],
  unreachable: { reason: '421 go away' },
}

describe('a transaction', () => {
  test('frees the places of its deliveries, which stay in flight until they are settled or given back', async () => {
    const { attempt, inFlight } = await scene()
    const deliveries = ['em_1.0', 'em_1.1'].map(
      id => ({ id, messageId: 'em_1', site: 'x.example', slot: 0, userId: 'usr_1' }) as ClaimedDelivery,
    )
    inFlight.add(deliveries)
    await attempt('x.example', { results: [], untouched: deliveries }, deliveries)
    expect([inFlight.messagesAt('x.example'), inFlight.size]).toEqual([0, 2])
  })

  test.each([
    ['captured', { capture: 'domain' }, 'capture'],
    ['simulated', { simulated: true }, 'x.example'],
  ])('of %s mail needs no place at a site that pauses, and says nothing about it', async (_, route, at) => {
    const { sites, attempt, attempts, inFlight, changes } = await scene()
    await attempt('x.example', refusedGreeting)
    expect(sites.isPaused('x.example')).toBe(true)
    const before = changes.length
    const delivery = { id: 'em_1.0', messageId: 'em_1', site: 'x.example', slot: 0, userId: 'usr_1' } as ClaimedDelivery
    inFlight.add([delivery])
    const delivered = { ...result('250 taken'), next: { kind: 'delivered' } } as Result
    const { results } = await attempt(at, { results: [delivered], untouched: [] }, [delivery], route)
    expect([results.length, attempts(), changes.length]).toEqual([1, 2, before])
    expect([sites.isPaused('x.example'), inFlight.messagesAt('x.example')]).toEqual([true, 0])
  })

  test('of mail that was accepted for capture enlarges the window of its site', async () => {
    const { sites, attempt, inFlight } = await scene()
    const first = sites.roomAt('capture')
    for (let n = 0; n < 50; n++) {
      const delivery = {
        id: `em_${n}.0`,
        messageId: `em_${n}`,
        site: 'capture',
        slot: 0,
        userId: 'usr_1',
      } as ClaimedDelivery
      inFlight.add([delivery])
      const delivered = { ...result('250 captured'), delivery, next: { kind: 'delivered' } } as Result
      const attempted = { results: [delivered], untouched: [], reached: true }
      await attempt('capture', attempted, [delivery], { capture: 'domain' })
    }
    expect(sites.roomAt('capture')).toBeGreaterThan(2 * first)
  })

  test('of simulated mail makes room for the next one at its site', async () => {
    const { sites, attempt, inFlight, rooms } = await scene()
    const deliveries = Array.from({ length: 1_000 }, (_, n) => {
      const ids = { id: `em_${n}.0`, messageId: `em_${n}` }
      return { ...ids, site: 'simulator.invalid', slot: 0, userId: 'usr_1' } as ClaimedDelivery
    })
    inFlight.add(deliveries)
    expect([sites.roomAt('simulator.invalid'), rooms]).toEqual([0, []])
    await attempt('simulator.invalid', { results: [], untouched: [] }, deliveries, { simulated: true })
    expect(rooms).toEqual(['simulator.invalid'])
    expect(sites.roomAt('simulator.invalid')).toBeGreaterThan(0)
  })

  test('of simulated mail does not end the outage of the relay, and uses up no probe', async () => {
    const { mongo, sites, attempt, advance, changes } = await scene({ relay: true })
    sites.unreachable('relay', 'ECONNREFUSED')
    advance(3_600_000)
    const delivered = { ...result('250 simulated'), next: { kind: 'delivered' } } as Result
    await attempt('relay', { results: [delivered], untouched: [] }, [], { simulated: true })
    expect([sites.isDown('relay'), changes.length]).toEqual([true, 1])
    expect(await reserveProbe(mongo, 'relay', new Date(START + 3_600_000), 60_000)).toBe(true)
    advance(60_000)
    await attempt('relay', { results: [delivered], untouched: [], reached: true })
    expect(sites.isDown('relay')).toBe(false)
  })

  test('at a site that pauses is not attempted: all of it is untouched', async () => {
    const { sites, attempt, attempts } = await scene()
    sites.unreachable('down.example', 'ECONNREFUSED')
    const deliveries = [{ id: 'em_1.0' } as ClaimedDelivery]
    expect(await attempt('down.example', { results: [], untouched: [] }, deliveries)).toEqual({
      results: [],
      untouched: deliveries,
    })
    expect(attempts()).toBe(0)
  })

  test('whose recipient is refused ends the outage of its site: a session began', async () => {
    const { sites, attempt, advance } = await scene()
    sites.unreachable('back.example', 'ECONNREFUSED')
    advance(60_000)
    await attempt('back.example', { results: [result('550 no such user')], untouched: [], reached: true })
    expect(sites.troubled()).toEqual([])
  })

  test('that is greeted with 421 slows a receiver down, and stops the relay for a while', async () => {
    const direct = await scene()
    await direct.attempt('busy.example', refusedGreeting)
    expect(direct.changes).toMatchObject([{ status: 'throttled', reason: '421 go away' }])
    const relay = await scene({ relay: true })
    await relay.attempt('relay', refusedGreeting)
    expect(relay.changes).toMatchObject([{ status: 'down', reason: '421 go away' }])
    await relay.attempt('relay', refusedGreeting)
    expect(relay.attempts()).toBe(1)
  })

  test.each([
    ['google', []],
    ['own.example', [{ status: 'down' }]],
  ])('that the policy of its domain forbids, at %s', async (site, expected) => {
    const { attempt, changes } = await scene()
    const unreachable = { reason: 'the MTA-STS policy does not list mx.example', ofDomain: true }
    await attempt(site, { results: [result('no')], untouched: [], unreachable })
    expect(changes).toMatchObject(expected)
  })

  test('of two workers at a site that is down one makes it, and the other one reports nothing', async () => {
    const { mongo, sites, attempt, advance, changes, attempts } = await scene()
    sites.unreachable('down.example', 'ECONNREFUSED')
    advance(60_000)
    expect(await reserveProbe(mongo, 'down.example', new Date(START + 60_000), 60_000)).toBe(true)
    await attempt('down.example', { results: [], untouched: [] })
    expect([attempts(), changes.length, sites.isPaused('down.example')]).toEqual([0, 1, true])
  })
})
