/** Giving back to a real queue. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { collectionOf, type Mongo } from '../../../platform/database/mongo.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { DELIVERIES, DeliveryQueue } from '../../store/deliveries.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { DeliveryDoc } from '../../store/documents.ts'
import { createGiveBack } from './give-back.ts'
import { InFlight } from './in-flight.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const at = (ms: number) => new Date(NOW.getTime() + ms)

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
})
afterAll(() => mongo.stop())

/** A delivery that is claimed and marked, and the way to give it back. */
async function scene(id: string, change: Partial<ClaimedDelivery> = {}) {
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  await deliveries.insertOne({ _id: id, tok: 'ours', ph: 'dot', due: at(120_000) } as DeliveryDoc)
  const fields = { messageId: 'em_1', site: 'x.example', slot: 0, userId: 'usr_1' }
  const delivery = { id, claimToken: 'ours', flow: 'f', ...fields, ...change } as ClaimedDelivery
  const inFlight = new InFlight()
  inFlight.add([delivery])
  const queue = new DeliveryQueue(mongo)
  const giveBack = createGiveBack({
    ...{ queue, inFlight, log: silentLog, signal: new AbortController().signal },
    clock: { now: () => NOW },
  })
  return { delivery, inFlight, queue, giveBack, stored: () => deliveries.findOne({ _id: id }) }
}

test.each([
  ['in its flow', 'em_a.0', undefined, { flow: 'f', due: NOW }],
  ['until its hosts may be asked again', 'em_b.0', at(9_000).getTime(), { due: at(9_000) }],
  ['in its flow when they may be asked by now', 'em_c.0', at(-1).getTime(), { flow: 'f', due: NOW }],
])('what was withheld waits %s, without its mark', async (_, id, until, expected) => {
  const { delivery, inFlight, giveBack, stored } = await scene(id)
  await giveBack.putBack([delivery], until)
  expect(await stored()).toEqual({ _id: id, ...expected })
  expect(inFlight.size).toBe(0)
})

test('what was timed when it was claimed is timed and due', async () => {
  const { delivery, giveBack, stored } = await scene('em_d.0', { flow: undefined })
  await giveBack.putBack([delivery])
  expect(await stored()).toEqual({ _id: 'em_d.0', due: NOW })
})

test('what was not attempted keeps the mark of the attempt before, and takes no place until it is written', async () => {
  const { delivery, inFlight, giveBack, stored } = await scene('em_e.0')
  giveBack.postpone([delivery], at(5_001))
  expect([inFlight.messagesAt('x.example'), inFlight.size]).toEqual([0, 1])
  await inFlight.whenIdle()
  expect(await stored()).toEqual({ _id: 'em_e.0', ph: 'dot', due: at(5_100) })
})

test('is tried again until the database takes it', async () => {
  const { delivery, inFlight, queue, giveBack, stored } = await scene('em_f.0')
  const { release } = queue
  let failures = 2
  queue.release = async (...given) => {
    if (failures-- > 0) throw new Error('not primary')
    return release.apply(queue, given)
  }
  giveBack.postpone([delivery], NOW)
  await inFlight.whenIdle()
  expect(await stored()).toMatchObject({ due: NOW })
})
