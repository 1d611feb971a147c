import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { giveEvent, giveMessage } from '../../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { MESSAGES } from '../../store/messages.ts'
import { failingDestinations } from './failing-destinations.ts'

const SINCE = new Date('2026-11-01T00:00:00Z')
const at = (minute: number) => new Date(SINCE.getTime() + minute * 60_000)
let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, EVENTS])
})
afterAll(() => mongo.stop())

const give = (user: string, minute: number, email: string, status: MessageDoc['rcpts'][number]['status'] = 'bounced') =>
  giveMessage(mongo.db, user, { created_at: at(minute), rcpts: [{ email, type: 'to', status }] })

/** Profiled answers of the database while `work` runs. */
async function answersDuring(work: () => Promise<unknown>) {
  await mongo.db.collection('system.profile').drop()
  await mongo.db.command({ profile: 2 })
  await work()
  await mongo.db.command({ profile: 0 })
  return mongo.db
    .collection('system.profile')
    .find({ ns: /messages$/ })
    .toArray()
}

test('ten destinations are named, those with most failures first', async () => {
  for (let n = 1; n <= 12; n++) for (let m = 0; m < n; m++) await give('usr_many', n, `a${m}@d${n}.example`)
  const found = await failingDestinations(mongo.db, 'usr_many', SINCE)
  expect(found.map(({ domain, counts }) => [domain, counts.bounced])).toEqual(
    Array.from({ length: 10 }, (_, n) => [`d${12 - n}.example`, 12 - n]),
  )
})

test('the reply is that of the latest event about the recipient, not of another one of the message', async () => {
  const message = await giveMessage(mongo.db, 'usr_event', {
    created_at: at(1),
    rcpts: [
      { email: 'a@one.example', type: 'to', status: 'delivered' },
      ...Array.from({ length: 11 }, (_, n) => ({
        email: `b${n}@two.example`,
        type: 'to' as const,
        status: 'failed' as const,
      })),
    ],
  })
  await giveEvent(mongo.db, message, { type: 'bounced', text: 'of the first', at: at(9) })
  const event = (n: number, attempt: number, text: string, minute: number) =>
    giveEvent(mongo.db, message, {
      _id: `${message._id}.${n}#${attempt}`,
      attempt,
      type: 'deferred',
      text,
      at: at(minute),
    })
  await event(1, 1, 'earlier', 2)
  await event(1, 10, 'latest', 4)
  await event(1, 2, 'between', 3)
  await event(10, 1, 'of the tenth', 8)
  const [found] = await failingDestinations(mongo.db, 'usr_event', SINCE)
  expect([found?.domain, found?.counts.failed, found?.event?.text]).toEqual(['two.example', 11, 'latest'])
})

test('messages of an earlier release, tests, earlier times and other accounts', async () => {
  await give('usr_mixed', 1, 'a@old.example')
  await giveMessage(mongo.db, 'usr_mixed', {
    created_at: at(2),
    test: true,
    rcpts: [{ email: 'a@test.example', type: 'to', status: 'bounced' }],
  })
  await give('usr_mixed', -1, 'a@before.example')
  await give('usr_other', 1, 'a@other.example')
  await give('usr_mixed', 3, 'a@fine.example', 'delivered')
  const found = await failingDestinations(mongo.db, 'usr_mixed', SINCE)
  expect(found.map(({ domain, event }) => [domain, event])).toEqual([['old.example', undefined]])
})

test('reads a bounded number of documents, however many failed', async () => {
  const template = await give('usr_big', 5, 'a@big.example')
  await collectionOf(mongo.db, MESSAGES).insertMany(
    Array.from({ length: 3_000 }, (_, n) => ({
      ...template,
      _id: `${template._id.slice(0, -4)}${String(n).padStart(4, '0')}`,
    })),
  )
  const commands = await answersDuring(async () => {
    const [found] = await failingDestinations(mongo.db, 'usr_big', SINCE)
    expect(found?.counts.bounced).toBe(500)
  })
  expect(commands.reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0)).toBeLessThanOrEqual(500)
})

test('recipients that did not fail stay in the database', async () => {
  const delivered = Array.from({ length: 2_000 }, (_, n) => ({
    ...{ email: `${'x'.repeat(60)}${n}@fine.example`, type: 'to' as const, status: 'delivered' as const },
  }))
  const failed = { email: 'a@bad.example', type: 'to' as const, status: 'failed' as const, kind: 'address' }
  const message = await giveMessage(mongo.db, 'usr_wide', { created_at: at(1), rcpts: [...delivered, failed] })
  await giveEvent(mongo.db, message, {
    ...{ _id: `${message._id}.2000#1`, attempt: 1, type: 'failed', text: 'of the last', at: at(2) },
  })
  const answers = await answersDuring(async () => {
    const [found, ...others] = await failingDestinations(mongo.db, 'usr_wide', SINCE)
    expect(others).toEqual([])
    expect([found?.counts, found?.state.kind, found?.event?.text]).toEqual([
      { deferred: 0, bounced: 0, failed: 1 },
      'address',
      'of the last',
    ])
  })
  expect(answers.reduce((sum, { responseLength = 0 }) => sum + responseLength, 0)).toBeLessThan(2_000)
})

test('of messages with many failed recipients, a bounded number is read, a few messages at a time', async () => {
  const rcpts = Array.from({ length: 1_500 }, (_, n) => ({
    ...{
      email: `a@d${n}.example`,
      type: 'to' as const,
      status: 'bounced' as const,
      orcpt: `rfc822;${'x'.repeat(400)}`,
    },
  }))
  for (let minute = 0; minute < 25; minute++) await giveMessage(mongo.db, 'usr_full', { created_at: at(minute), rcpts })
  const answers = await answersDuring(async () => {
    const found = await failingDestinations(mongo.db, 'usr_full', SINCE)
    expect(found.map(({ counts }) => counts.bounced)).toEqual(Array(10).fill(20))
  })
  expect(Math.max(...answers.map(({ responseLength = 0 }) => responseLength))).toBeLessThan(2_000_000)
})
