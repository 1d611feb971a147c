import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { CAPTURED, CAPTURED_PIECES, findCaptured, INBOX_ORDER, saveCaptured } from './captured.ts'
import { INBOXES, inboxKey, noteArrivals, readArrivals, trimInbox } from './captured-inboxes.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [CAPTURED, CAPTURED_PIECES, INBOXES])
})
afterAll(() => mongo.stop())

const EXP = new Date(Date.UTC(2099, 0, 1))

/** An inbox with messages of these sizes, oldest first; answers their ids. */
async function inboxOf(sizes: readonly number[], userId = newId('usr')) {
  const place = { userId, domainId: newId('dom') }
  const mails = sizes.map((size, n) => {
    const m = newId('em')
    return {
      ...{ _id: `${m}.0`, m, user_id: userId, domain_id: place.domainId, subject: `${n}`, mail_from: 'a@example.com' },
      ...{ rcpts: ['B@example.net'], raw: Buffer.alloc(size, 'x'), at: new Date(Date.UTC(2026, 0, 1, 0, n)), exp: EXP },
    }
  })
  if (mails.length > 0) await saveCaptured(mongo, mails)
  const left = async () =>
    (
      await collectionOf(mongo.db, CAPTURED)
        .find({ user_id: userId, domain_id: place.domainId })
        .sort({ at: 1 })
        .toArray()
    ).map(({ subject }) => subject)
  return { place, ids: mails.map(({ _id }) => _id), left }
}

describe('an inbox within bounds', () => {
  test.each<[string, sizes: number[], messages: number, bytes: number, left: string[]]>([
    ['keeps all', [10, 10, 10], 3, 30, ['0', '1', '2']],
    ['loses its oldest beyond the number', [10, 10, 10, 10], 2, 1_000, ['2', '3']],
    ['loses its oldest beyond the bytes', [10, 10, 10], 10, 25, ['1', '2']],
    ['keeps its newest, however large', [10, 5_000], 10, 100, ['1']],
    ['keeps what is older than a large one only within the bytes', [10, 90, 50], 10, 100, ['2']],
    ['of nothing has nothing', [], 1, 1, []],
  ])('%s', async (_, sizes, messages, bytes, expected) => {
    const { place, left } = await inboxOf(sizes)
    await trimInbox(mongo, place, { messages, bytes })
    expect(await left()).toEqual(expected)
  })

  test('leaves other inboxes of the account alone', async () => {
    const one = await inboxOf([10, 10])
    const other = await inboxOf([10, 10], one.place.userId)
    await trimInbox(mongo, one.place, { messages: 1, bytes: 1_000 })
    expect([await one.left(), await other.left()]).toEqual([['1'], ['0', '1']])
  })

  test('removes the pieces of a large message with it', async () => {
    const { place, ids } = await inboxOf([10, 10])
    const [large = ''] = ids
    const found = await findCaptured(mongo, { user_id: place.userId }, large)
    if (!found) throw new Error('no message')
    await saveCaptured(mongo, [{ ...found, raw: randomBytes(9_000_000), exp: EXP }])
    const pieces = () => collectionOf(mongo.db, CAPTURED_PIECES).countDocuments({ _id: { $regex: `^${large}#` } })
    expect(await pieces()).toBe(1)
    await trimInbox(mongo, place, { messages: 1, bytes: 1_000_000_000 })
    expect(await pieces()).toBe(0)
  })

  test('is measured from its index alone', async () => {
    const { place } = await inboxOf([10, 10, 10])
    const plan = await collectionOf(mongo.db, CAPTURED)
      .find({ user_id: place.userId, domain_id: place.domainId })
      .sort({ at: -1, _id: -1 })
      .hint(INBOX_ORDER)
      .project({ _id: 1, size: 1 })
      .explain('executionStats')
    expect(plan.executionStats).toMatchObject({ totalDocsExamined: 0, totalKeysExamined: 3 })
  })
})

test('arrivals are counted by inbox, and an inbox without any is missing', async () => {
  const [one, two, none] = [1, 2, 3].map(n => ({ userId: newId('usr'), domainId: `dom_${n}` }))
  if (!one || !two || !none) throw new Error('no places')
  const early = new Date(Date.UTC(2098, 0, 1))
  await noteArrivals(mongo, [one, two], EXP)
  await noteArrivals(mongo, [one], early)
  const counts = await readArrivals(mongo, [one, two, none].map(inboxKey))
  expect([...counts]).toEqual(
    expect.arrayContaining([
      [inboxKey(one), 2],
      [inboxKey(two), 1],
    ]),
  )
  expect(counts.size).toBe(2)
  expect((await collectionOf(mongo.db, INBOXES).findOne({ _id: inboxKey(one) }))?.exp).toEqual(EXP)
  expect(INBOXES.indexes).toContainEqual({ key: { exp: 1 }, expireAfterSeconds: 0 })
})
