import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { giveMessage } from '../../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import type { RecipientStatus } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import { countStatistics } from './count-stats.ts'
import { STATS_DAYS, STATS_HOURS, statsOfDays } from './stats.ts'

const NOW = Date.UTC(2026, 10, 21, 10, 30)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let mongo: Mongo
beforeEach(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, STATS_DAYS, STATS_HOURS])
})
afterEach(() => mongo.stop())

const give = (user: string, ago: number, status: RecipientStatus = 'delivered', at = NOW) =>
  giveMessage(mongo.db, user, {
    created_at: new Date(at - ago),
    rcpts: [{ email: `a@${status}.example`, type: 'to', status }],
  })
const run = (at = NOW, change: Partial<Parameters<typeof countStatistics>[1]> = {}) =>
  countStatistics(mongo.db, {
    now: () => new Date(at),
    logDays: 30,
    signal: new AbortController().signal,
    mostMs: 60_000,
    countedAhead: 1,
    ...change,
  })
const kept = async () =>
  (await collectionOf(mongo.db, STATS_DAYS).find().sort({ _id: 1 }).toArray()).map(({ _id, messages, recipients }) => [
    _id,
    messages,
    recipients,
  ])
/** What a reader gets, and how many commands on messages that took. */
async function read(user: string, days: readonly string[], at = NOW) {
  await mongo.db.command({ profile: 2 })
  const counts = await statsOfDays(mongo.db, user, days, { now: new Date(at), logDays: 30 })
  await mongo.db.command({ profile: 0 })
  const profile = mongo.db.collection('system.profile')
  const examined = await profile.find({ ns: /\.messages$/, op: { $ne: 'insert' } }).toArray()
  await profile.drop()
  return {
    counts: counts.map(({ messages, recipients }) => [messages, recipients]),
    commands: examined.length,
    documents: examined.reduce((sum, { docsExamined = 0 }) => sum + Number(docsExamined), 0),
  }
}
const month = Array.from({ length: 30 }, (_, n) => new Date(NOW - (29 - n) * DAY).toISOString().slice(0, 10))

test('days with messages are counted for every account, once', async () => {
  await give('usr_1', 0)
  await give('usr_1', 9 * DAY)
  await give('usr_1', 9 * DAY, 'bounced')
  await give('usr_1', 40 * DAY)
  await give('usr_2', 2 * DAY, 'deferred')
  expect(await run()).toBe(4)
  expect(await kept()).toEqual([
    ['usr_1#2026-10-12', 1, { delivered: 1 }],
    ['usr_1#2026-11-12', 2, { delivered: 1, bounced: 1 }],
    ['usr_1#2026-11-21', 1, { delivered: 1 }],
    ['usr_2#2026-11-19', 1, { deferred: 1 }],
  ])
  expect(await run(NOW + 1)).toBe(0)
  // A minute later only what runs, and what moves and is not held long enough.
  expect(await run(NOW + MINUTE)).toBe(1)
})

test('a report then counts nothing of what has ended, and little of today', async () => {
  for (let day = 0; day < 30; day++) for (let n = 0; n < 3; n++) await give('usr_1', day * DAY + n * 61 * MINUTE)
  await run()
  await give('usr_1', 0)
  const report = await read('usr_1', month, NOW + 3 * MINUTE)
  expect(report.counts.at(-1)).toEqual([4, { delivered: 4 }])
  expect(report.counts.reduce((sum, [messages]) => sum + Number(messages), 0)).toBe(91)
  // The running hour, and no more.
  expect(report.documents).toBeLessThanOrEqual(3)
  expect(report.commands).toBeLessThanOrEqual(3)
})

describe('results that come later', () => {
  test('are in the counts after a further run, however often they are written', async () => {
    const message = await give('usr_1', 5 * 60 * MINUTE, 'deferred')
    const settle = () =>
      collectionOf(mongo.db, MESSAGES).updateOne({ _id: message._id }, { $set: { 'rcpts.0.status': 'delivered' } })
    await run()
    await settle()
    await settle()
    await run(NOW + 6 * MINUTE)
    expect((await kept())[0]).toEqual(['usr_1#2026-11-21', 1, { delivered: 1 }])
    await settle()
    await run(NOW + 12 * MINUTE)
    expect((await kept())[0]).toEqual(['usr_1#2026-11-21', 1, { delivered: 1 }])
  })

  test('of a day that is not in motion any more are found within six hours: scheduled mail', async () => {
    const message = await give('usr_1', 8 * DAY, 'scheduled')
    await run()
    await collectionOf(mongo.db, MESSAGES).updateOne({ _id: message._id }, { $set: { 'rcpts.0.status': 'delivered' } })
    expect(await run(NOW + 5 * 60 * MINUTE)).toBe(0)
    expect(await run(NOW + 7 * 60 * MINUTE)).toBe(1)
    expect(await kept()).toEqual([['usr_1#2026-11-13', 1, { delivered: 1 }]])
  })

  test('leave what was counted alone when the log is removed', async () => {
    await give('usr_1', 3 * DAY)
    await run()
    await collectionOf(mongo.db, MESSAGES).deleteMany({})
    await run(NOW + 40 * DAY)
    const report = await read('usr_1', ['2026-11-18'], NOW + 40 * DAY)
    expect(report.counts).toEqual([[1, { delivered: 1 }]])
  })
})

test('a run that is cut short goes on with the account after the last one', async () => {
  for (const user of ['usr_1', 'usr_2', 'usr_3']) await give(user, 9 * DAY)
  expect(await run(NOW, { mostMs: 0 })).toBe(0)
  expect(await run(NOW, { signal: AbortSignal.abort() })).toBe(0)
  await mongo.db
    .collection<{ _id: string }>('sweeps')
    .updateOne({ _id: 'statistics' }, { $set: { user: 'usr_1', at: new Date(NOW) } }, { upsert: true })
  expect(await run()).toBe(2)
  expect((await kept()).map(([id]) => id)).toEqual(['usr_2#2026-11-12', 'usr_3#2026-11-12'])
  expect(await run(NOW + 7 * 60 * MINUTE)).toBe(1)
})

describe('with many accounts', () => {
  test('days in motion are counted ahead for those with many messages only', async () => {
    for (let n = 0; n < 3; n++) await give('usr_large', n * MINUTE)
    for (const user of ['usr_large', 'usr_small']) await give(user, 9 * DAY)
    for (let n = 0; n < 2; n++) await give('usr_small', n * MINUTE)
    expect(await run(NOW, { countedAhead: 3 })).toBe(3)
    expect((await kept()).map(([id]) => id)).toEqual([
      ...['usr_large#2026-11-12', 'usr_large#2026-11-21', 'usr_small#2026-11-12'],
    ])
    // Someone asks: counted now, and complete.
    expect((await read('usr_small', month)).counts.reduce((sum, [messages]) => sum + Number(messages), 0)).toBe(3)
  })

  test('with a retention shorter than days are in motion, all of them are', async () => {
    for (const user of ['usr_1', 'usr_2']) await give(user, 0)
    expect(await run(NOW, { logDays: 6, countedAhead: undefined })).toBe(0)
    expect(await run(NOW, { logDays: 5, countedAhead: undefined })).toBe(2)
  })

  test('messages of the first day in motion count among the many', async () => {
    for (let n = 0; n < 3; n++) await give('usr_1', 4.4 * DAY + n * MINUTE)
    expect(await run(NOW, { countedAhead: 4 })).toBe(0)
    expect(await run(NOW, { countedAhead: 3 })).toBe(1)
  })

  test('1,000 messages are many', async () => {
    for (let n = 0; n < 999; n++) await give('usr_1', n * 1_000)
    expect(await run(NOW, { countedAhead: undefined })).toBe(0)
    await give('usr_1', 999_000)
    expect(await run(NOW, { countedAhead: undefined })).toBe(1)
  })

  /** Accounts and days in the order in which a run counted them: its clock goes on with each look. */
  const inOrder = async (change: Partial<Parameters<typeof countStatistics>[1]> = {}) => {
    let at = NOW
    await run(NOW, { now: () => new Date(at++), ...change })
    const days = await collectionOf(mongo.db, STATS_DAYS).find().sort({ counted_at: 1 }).toArray()
    return days.map(({ _id }) => _id)
  }
  const sweeps = () => mongo.db.collection<{ _id: string; user: string }>('sweeps')
  const motion = { _id: 'statistics-in-motion' }

  test('older days are counted before those in motion', async () => {
    for (const user of ['usr_1', 'usr_2']) for (const ago of [0, 9 * DAY]) await give(user, ago)
    expect(await inOrder()).toEqual([
      ...['usr_1#2026-11-12', 'usr_2#2026-11-12', 'usr_1#2026-11-21', 'usr_2#2026-11-21'],
    ])
  })

  test('an account that needs more than a run does not keep the others waiting', async () => {
    for (const user of ['usr_1', 'usr_2']) for (const ago of [0, DAY, 2 * DAY]) await give(user, ago)
    for (let n = 0; n < 3; n++) {
      const end = new AbortController()
      // The first look at the clock after a day was counted ends the run.
      const now = () => new Date(NOW + n)
      const stats = collectionOf(mongo.db, STATS_DAYS)
      const before = await stats.countDocuments()
      const running = run(NOW + n, { signal: end.signal, now })
      while ((await stats.countDocuments()) === before) await new Promise(resolve => setImmediate(resolve))
      end.abort()
      await running
    }
    expect((await kept()).map(([id]) => String(id).split('#')[0])).toEqual(expect.arrayContaining(['usr_1', 'usr_2']))
  })

  test('days in motion go on with the account after the last one, and none is left out', async () => {
    for (const user of ['usr_1', 'usr_2', 'usr_3']) await give(user, 0)
    await sweeps().insertOne({ ...motion, user: 'usr_2' })
    expect(await inOrder({ mostMs: 0 })).toEqual([])
    expect(await sweeps().findOne(motion)).toMatchObject({ user: 'usr_2' })
    expect(await inOrder()).toEqual(['usr_3#2026-11-21', 'usr_1#2026-11-21', 'usr_2#2026-11-21'])
    expect(await sweeps().findOne(motion)).toMatchObject({ user: '' })
  })
})

test('two runs in parallel end with the same counts', async () => {
  for (let n = 0; n < 20; n++) await give('usr_1', n * 7 * 60 * MINUTE)
  await Promise.all([run(), run(), run()])
  const messages = (await kept()).reduce((sum, [, count]) => sum + Number(count), 0)
  expect(messages).toBe(20)
})
