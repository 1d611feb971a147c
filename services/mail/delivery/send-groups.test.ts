/** What an attempt says about its site. The attempt is given; sites and database are real where they matter. */
import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { collectionOf } from '../../platform/database/mongo.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { type Claimed, DELIVERIES, DeliveryQueue } from '../store/deliveries.ts'
import type { DeliveryDoc } from '../store/documents.ts'
import { reserveProbe } from '../store/sites.ts'
import type { Attempted, Group } from './attempt.ts'
import { Hand } from './claiming/in-flight.ts'
import type { Result } from './result.ts'
import { createTransactions } from './send-groups.ts'
import { createSites, type SiteNews } from './sites/sites.ts'

const START = 1_000_000

/** Submits transactions of which each comes to what the test says, and waits for their end. */
async function scene({ relay = false }: { relay?: boolean } = {}) {
  const mongo = await databaseForThisTest()
  let now = START
  const changes: SiteNews[] = []
  const outcomes: Attempted[] = []
  let attempts = 0
  const sites = createSites({
    ...{ relay, now: () => now, shareOf: () => ({ owned: 1, parts: 1 }), placesAt: () => 0 },
    after: () => undefined,
    onRoom: () => undefined,
    onChange: news => changes.push(news),
  })
  const submit = createTransactions({
    ...{ mongo, log: silentLog, relay, sites, queue: new DeliveryQueue(mongo), hand: new Hand() },
    clock: { now: () => new Date(now) },
    signal: new AbortController().signal,
    settle: async () => undefined,
    async attempt() {
      attempts++
      return outcomes.shift() ?? { results: [], untouched: [] }
    },
  })
  return {
    ...{ mongo, sites, changes },
    attempts: () => attempts,
    advance: (ms: number) => (now += ms),
    /** Runs one transaction at the site. */
    async attempt(site: string, attempted: Attempted) {
      outcomes.push(attempted)
      const before = attempts
      submit({ site, deliveries: [] } as unknown as Group)
      // A probe asks the database first.
      await expect.poll(() => attempts > before || sites.isPaused(site)).toBe(true)
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

const result = (text: string, slowDown = false): Result =>
  ({
    delivery: { _id: 'em_1.0' },
    judged: { outcome: 'deferred', ...(slowDown && { slowDown: true }) },
    event: { text },
    next: { kind: 'retry', due: new Date() },
  }) as Result
const refusedGreeting: Attempted = {
  results: [result('421 go away', true)],
  untouched: [],
  unreachable: { reason: '421 go away' },
}

describe('a transaction', () => {
  test.each([
    ['waits in its flow', {}, { flow: 'f', due: new Date(START) }],
    [
      'waits until its hosts may be asked again',
      { unreachable: { reason: 'dead', until: START + 9_000 } },
      { due: new Date(START + 9_000) },
    ],
    [
      'is ready when they may be asked by now',
      { unreachable: { reason: 'dead', until: START - 1 } },
      { flow: 'f', due: new Date(START) },
    ],
  ])('that sent nothing: its mail %s', async (_, attempted, expected) => {
    const { mongo, attempt } = await scene()
    const _id = 'em_1.0'
    const deliveries = collectionOf(mongo.db, DELIVERIES)
    await deliveries.insertOne({ _id, tok: 'ours', due: new Date(START + 120_000) } as DeliveryDoc)
    await attempt('x.example', { results: [], untouched: [{ _id, tok: 'ours', flow: 'f' } as Claimed], ...attempted })
    await expect.poll(() => deliveries.findOne({ _id })).toEqual({ _id, ...expected })
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

  test('of two workers at a site that is down is made by one, and the other one says nothing of it', async () => {
    const { mongo, sites, attempt, advance, changes, attempts } = await scene()
    sites.unreachable('down.example', 'ECONNREFUSED')
    advance(60_000)
    expect(await reserveProbe(mongo, 'down.example', new Date(START + 60_000), 60_000)).toBe(true)
    await attempt('down.example', { results: [], untouched: [] })
    expect([attempts(), changes.length, sites.isPaused('down.example')]).toEqual([0, 1, true])
  })
})
