import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { DeliveryDoc } from '../../store/documents.ts'
import { heldFlow } from '../../store/rules/flow.ts'
import { WORKERS } from '../../store/slots.ts'
import { oldestDueOf, viewQueue } from './queue-view.ts'

const now = new Date('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000)

async function queue(deliveries: readonly Partial<DeliveryDoc>[]): Promise<Mongo> {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [DELIVERIES, WORKERS])
  const docs = deliveries.map((change, n) => ({
    ...{ _id: `em_${n}.0`, m: `em_${n}`, site: 'example.net', slot: 0, lane: 'transactional', due: now, att: 0 },
    ...change,
  }))
  if (docs.length > 0) await collectionOf(mongo.db, DELIVERIES).insertMany(docs as DeliveryDoc[])
  return mongo
}

describe('the queue', () => {
  test('that is empty has no oldest delivery and no destination', async () => {
    const mongo = await queue([])
    expect(await viewQueue(mongo, now)).toEqual({ depth: 0, oldestDue: null, sites: [], sampled: false })
  })

  test('is shown by destination, the longest first: what waits, what is due by now', async () => {
    const far = new Date('9999-01-01T00:00:00Z')
    const mongo = await queue([
      { site: 'a.example', due: at(-5) },
      { site: 'b.example', due: now },
      { site: 'b.example', due: at(1), att: 2 },
      { site: 'b.example', due: far },
      { site: 'a0.example', due: at(60), att: 1, tok: 'held by a worker' },
    ])
    expect(await viewQueue(mongo, now)).toEqual({
      depth: 5,
      oldestDue: at(-5),
      sampled: false,
      sites: [
        { site: 'b.example', waiting: 3, due: 1, deferred: 1, oldest: now },
        { site: 'a.example', waiting: 1, due: 1, deferred: 0, oldest: at(-5) },
        { site: 'a0.example', waiting: 1, due: 0, deferred: 0, oldest: at(60) },
      ],
    })
  })

  test.each<[string, Partial<DeliveryDoc>, number]>([
    ['was tried and waits', { att: 1, due: at(60) }, 1],
    ['was never tried, and is scheduled', { due: at(60) }, 0],
    ['is held after an attempt', { att: 1, flow: heldFlow('hold_1') }, 0],
    ['is due in the flow of an account', { att: 1, flow: 'a usr_1' }, 0],
    ['was tried and is due', { att: 1, due: at(-60) }, 0],
  ])('counts what %s as deferred or not', async (_, delivery, deferred) => {
    const { sites } = await viewQueue(await queue([delivery]), now)
    expect(sites).toMatchObject([{ site: 'example.net', waiting: 1, deferred }])
  })

  test('names fifty destinations, and counts all of it', async () => {
    const name = (n: number) => `s${String(n).padStart(2, '0')}.example`
    const mongo = await queue([
      ...Array.from({ length: 60 }, (_, n) => ({ site: name(n) })),
      { site: name(59), _id: 'em_more.0' },
    ])
    const { depth, sites } = await viewQueue(mongo, now)
    expect(depth).toBe(61)
    expect(sites.map(({ site }) => site)).toEqual([name(59), ...Array.from({ length: 49 }, (_, n) => name(n))])
  })

  test.each<[string, Partial<DeliveryDoc>[], Date | null]>([
    ['of any lane', [{ due: at(-1) }, { lane: 'bulk', due: at(-9) }, { lane: 'system', due: at(-3) }], at(-9)],
    [
      'of any slot',
      [
        { slot: 63, due: at(-7) },
        { slot: 0, due: at(-1) },
        { slot: 31, due: at(-6) },
      ],
      at(-7),
    ],
    ['ahead, when nothing is due', [{ due: at(90) }, { slot: 5, lane: 'bulk', due: at(30) }], at(30)],
  ])('has its oldest delivery %s', async (_, deliveries, oldest) => {
    expect(await oldestDueOf(await queue(deliveries))).toEqual(oldest)
  })
})
