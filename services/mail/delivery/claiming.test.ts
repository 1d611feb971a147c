import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/mongo.ts'
import { type Claimed, DELIVERIES, DeliveryQueue } from '../store/deliveries.ts'
import type { DeliveryDoc } from '../store/documents.ts'
import { Outbox } from '../store/outgoing.ts'
import { createClaiming } from './claiming.ts'
import { Hand } from './hand.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [DELIVERIES])
})
afterAll(() => mongo.stop())

test('a round takes what is due; what turns up with an old time is found by the next whole look', async () => {
  const start = Date.parse('2026-11-21T12:00:00Z')
  const hand = new Hand()
  const taken: string[] = []
  const claim = createClaiming({
    queue: new DeliveryQueue(mongo),
    outbox: new Outbox(mongo, 30),
    hand,
    inHand: 100,
    claimable: () => new Map([[0, 1]]),
    world: () => ({ now: new Date(start) }),
    postpone: () => undefined,
    async sort(claimed: readonly Claimed[]) {
      taken.push(...claimed.map(({ _id }) => _id))
    },
  })
  const give = (name: string, due: number) =>
    collectionOf(mongo.db, DELIVERIES).insertOne({
      _id: name,
      slot: 0,
      lane: 'bulk',
      due: new Date(due),
    } as DeliveryDoc)

  await give('em_a.0', start - 60_000)
  expect(await claim()).toEqual({ taken: 1, full: false })
  await give('em_b.0', start - 500)
  expect(await claim()).toEqual({ taken: 1, full: false })
  await give('em_late.0', start - 60_000)
  while (!taken.includes('em_late.0')) await claim()
  expect(taken).toEqual(['em_a.0', 'em_b.0', 'em_late.0'])
})

test('without slots, and with the hand full, nothing is asked for', async () => {
  const hand = new Hand()
  let slots = new Map<number, number>()
  const claim = createClaiming({
    queue: new DeliveryQueue(mongo),
    outbox: new Outbox(mongo, 30),
    hand,
    inHand: 20,
    claimable: () => slots,
    world: () => ({ now: new Date() }),
    postpone: () => undefined,
    sort: async () => undefined,
  })
  expect(await claim()).toEqual({ taken: 0, full: false })
  slots = new Map([[0, 1]])
  hand.take(Array.from({ length: 19 }, (_, n) => ({ _id: `em_${n}.0`, slot: 0, tok: 't', epoch: 1 }) as Claimed))
  expect(await claim()).toEqual({ taken: 0, full: false })
})
