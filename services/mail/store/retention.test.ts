import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { setMachineClock } from '../../../test/support/time/machine-clock.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { BODIES, readBody, toBodyDocs } from './bodies.ts'
import type { MessageDoc } from './documents.ts'
import { MESSAGES } from './messages.ts'
import { sweepFinalBodies, sweepOrphanBodies } from './retention.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const now = new Date('2026-11-21T12:00:00Z')
const days = { bodyDays: 7, logDays: 30 }

let mongo: Mongo
beforeEach(async () => {
  await mongo?.stop()
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, BODIES])
})
afterAll(() => mongo?.stop())

/** A message with a body of one or two parts; `finalAt`: when its last recipient became final. */
async function give(
  finalAt: Date | undefined,
  size = 100,
  id = newId('em', now.getTime() - 40 * DAY),
): Promise<string> {
  const bodies = toBodyDocs(id, Buffer.alloc(size, 'x'), new Date(now.getTime() + 99 * DAY))
  await collectionOf(mongo.db, BODIES).insertMany(bodies)
  const message = {
    _id: id,
    user_id: 'usr_1',
    parts: bodies.length,
    left: finalAt ? 0 : 1,
    exp: new Date((finalAt ?? now).getTime() + 30 * DAY),
  }
  await collectionOf(mongo.db, MESSAGES).insertOne(message as MessageDoc)
  return id
}

const hasBody = async (id: string, parts = 1) => (await readBody(mongo, id, parts)) !== undefined

describe('bodies of final messages', () => {
  test('go after their days, all parts, and no others', async () => {
    const old = await give(new Date(now.getTime() - 7 * DAY), 1_500_000)
    const young = await give(new Date(now.getTime() - 7 * DAY + MINUTE))
    const open = await give(undefined)
    expect(await sweepFinalBodies(mongo, days, now)).toBe(1)
    expect(await Promise.all([hasBody(old, 2), hasBody(young), hasBody(open)])).toEqual([false, true, true])
    expect(await collectionOf(mongo.db, BODIES).countDocuments({ m: old })).toBe(0)
  })

  test('a sweep goes on where the last one ended, and a repetition finds nothing', async () => {
    const first = await give(new Date(now.getTime() - 7 * DAY))
    const second = await give(new Date(now.getTime() - 7 * DAY + 2 * MINUTE))
    expect(await sweepFinalBodies(mongo, days, now)).toBe(1)
    expect(await sweepFinalBodies(mongo, days, now)).toBe(0)
    expect(await sweepFinalBodies(mongo, days, new Date(now.getTime() + 2 * MINUTE))).toBe(1)
    expect(await Promise.all([hasBody(first), hasBody(second)])).toEqual([false, false])
  })

  test('more than one batch', async () => {
    const finalAt = new Date(now.getTime() - 7 * DAY - MINUTE)
    for (let n = 0; n < 1_005; n++) await give(finalAt, 10)
    expect(await sweepFinalBodies(mongo, days, now)).toBe(1_005)
    expect(await collectionOf(mongo.db, BODIES).countDocuments()).toBe(0)
  })
})

describe('bodies without a message', () => {
  /** A body whose acceptance began so long ago, by the clock of the process that accepted it. */
  async function begun(agoMs: number): Promise<string> {
    const id = newId('em', Date.now() - agoMs)
    await collectionOf(mongo.db, BODIES).insertMany(toBodyDocs(id, Buffer.from('x'), new Date(Date.now() + DAY)))
    return id
  }
  /** Lets time pass for what the sweeps have noted. */
  const later = (ms: number) =>
    mongo.db.collection('orphan_bodies').updateMany({}, [{ $set: { seen_at: { $subtract: ['$seen_at', ms] } } }])
  const kept = (ids: readonly string[]) => Promise.all(ids.map(id => hasBody(id)))

  test('go when two sweeps six hours apart found none, longer than a message may take to come in; those of accepted messages and of acceptances under way stay', async () => {
    const old = await begun(361 * MINUTE)
    const young = await begun(359 * MINUTE)
    const accepted = await give(undefined, 10, newId('em', Date.now() - 361 * MINUTE))
    expect(await sweepOrphanBodies(mongo, new Date())).toBe(0)
    await later(359 * MINUTE)
    expect(await sweepOrphanBodies(mongo, new Date())).toBe(0)
    await later(2 * MINUTE)
    expect(await sweepOrphanBodies(mongo, new Date())).toBe(1)
    expect(await kept([old, young, accepted])).toEqual([false, true, true])
    expect(await mongo.db.collection('orphan_bodies').countDocuments()).toBe(0)
  })

  test.each([
    ['the sweep', DAY, 0],
    ['the sweep, behind', -DAY, 0],
    ['the acceptance', 0, DAY],
    ['the acceptance, ahead', 0, -DAY],
  ])('no clock that is a day wrong removes what is being accepted: %s', async (_, ahead, ago) => {
    const before = await Promise.all(Array.from({ length: 20 }, () => begun(ago)))
    const setBack = setMachineClock(ahead)
    try {
      for (let sweeps = 0; sweeps < 3; sweeps++) expect(await sweepOrphanBodies(mongo, new Date())).toBe(0)
    } finally {
      setBack()
    }
    expect(await kept(before)).toEqual(before.map(() => true))
  })

  test('one whose message came after all stays', async () => {
    const id = await begun(361 * MINUTE)
    await sweepOrphanBodies(mongo, new Date())
    await collectionOf(mongo.db, MESSAGES).insertOne({ _id: id, user_id: 'usr_1', parts: 1 } as MessageDoc)
    await later(361 * MINUTE)
    expect(await sweepOrphanBodies(mongo, new Date())).toBe(0)
    expect(await hasBody(id)).toBe(true)
    expect(await mongo.db.collection('orphan_bodies').countDocuments()).toBe(0)
  })

  test('more than one batch', async () => {
    for (let n = 0; n < 1_005; n++) await begun(361 * MINUTE)
    await sweepOrphanBodies(mongo, new Date())
    await later(361 * MINUTE)
    expect(await sweepOrphanBodies(mongo, new Date())).toBe(1_005)
    expect(await collectionOf(mongo.db, BODIES).countDocuments()).toBe(0)
  })
})
