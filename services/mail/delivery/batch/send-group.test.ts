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
  const sites = new Sites({
    ...{ relay, now: () => now, shareOf: () => ({ owned: 1, parts: 1 }), messagesAt: () => 0 },
    schedule: () => undefined,
    onRoom: () => undefined,
    onChange: state => changes.push(state),
  })
  const inFlight = new InFlight()
  const send = createSend({
    ...{ mongo, log: silentLog, relay, sites, inFlight },
    clock: { now: () => new Date(now) },
    async attempt() {
      attempts++
      return outcomes.shift() ?? { results: [], untouched: [] }
    },
  })
  return {
    ...{ mongo, sites, changes, inFlight },
    attempts: () => attempts,
    advance: (ms: number) => (now += ms),
    /** Runs one transaction at the site. */
    attempt(site: string, attempted: Attempted, deliveries: readonly ClaimedDelivery[] = []) {
      outcomes.push(attempted)
      return send({ site, deliveries } as unknown as Group)
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
