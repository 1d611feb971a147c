/** Batches against a real database: what hinders one message does not hinder the others. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { BODIES } from '../../store/bodies.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import { EVENTS } from '../../store/events.ts'
import { MESSAGES } from '../../store/messages.ts'
import { type MessageWrites, toWrites } from './message-documents.ts'
import { BATCH_BYTES, createWriteBatch } from './write-batch.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const PLACEMENT = { slots: 8, relay: false, bodyDays: 7, logDays: 30 }

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, BODIES, DELIVERIES, EVENTS])
})
afterAll(() => mongo.stop())

function writes({ key, bytes = 20, user = 'usr_1' }: { key?: string; bytes?: number; user?: string } = {}) {
  const id = newId('em')
  return toWrites(
    {
      ...{ id, user_id: user, domain_id: 'dom_1', via: { channel: 'smtp', id: 'crd_1' }, mail_from: 'a@example.org' },
      ...{ from: 'a@example.org', subject: 'hello', message_id: `<${id}@example.org>`, raw: randomBytes(bytes) },
      recipients: [{ email: 'b@example.net', type: 'envelope' }],
      ...{ lane: 'transactional', ambiguous: 'retry', created_at: NOW },
      ...(key && { idem: { key, hash: 'h', answer: '[]', until: new Date(NOW.getTime() + 86_400_000) } }),
    },
    PLACEMENT,
  )
}

/** What of a message is in the database. */
async function stored({ message: { _id } }: MessageWrites) {
  const [messages, deliveries, bodies] = await Promise.all([
    collectionOf(mongo.db, MESSAGES).countDocuments({ _id }),
    collectionOf(mongo.db, DELIVERIES).countDocuments({ m: _id }),
    collectionOf(mongo.db, BODIES).countDocuments({ m: _id }),
  ])
  return { messages, deliveries, bodies }
}

const ALL = { messages: 1, deliveries: 1, bodies: 1 }
const NOTHING = { messages: 0, deliveries: 0, bodies: 0 }

/** Each case: the keys of the messages of one batch (undefined: none), keys that are taken before, and the outcomes. */
test.each<[string, (string | undefined)[], string[], string[]]>([
  ['without keys', [undefined, undefined], [], ['stored', 'stored']],
  ['with different keys', ['a1', 'a2', undefined], [], ['stored', 'stored', 'stored']],
  ['of which one wants a key that is taken', ['b1', 'b2', undefined], ['b1'], ['key_taken', 'stored', 'stored']],
  ['of which all want keys that are taken', ['c1', 'c2'], ['c1', 'c2'], ['key_taken', 'key_taken']],
  [
    'of which several want the same key',
    ['d1', 'd1', 'd1', undefined],
    [],
    ['stored', 'key_taken', 'key_taken', 'stored'],
  ],
  ['of which several want the same taken key', ['e1', 'e1', 'e2'], ['e1'], ['key_taken', 'key_taken', 'stored']],
])('messages %s: each has its own outcome', async (_, keys, taken, expected) => {
  const write = createWriteBatch({ mongo, log: silentLog })
  await write(taken.map(key => writes({ key })))
  const batch = keys.map(key => writes(key === undefined ? {} : { key }))
  const results = await write(batch)
  expect(results.map(({ written }) => written)).toEqual(expected)
  expect(await Promise.all(batch.map(stored))).toEqual(expected.map(written => (written === 'stored' ? ALL : NOTHING)))
})

test('equal keys of two accounts do not hinder each other', async () => {
  const write = createWriteBatch({ mongo, log: silentLog })
  const results = await write([writes({ key: 'same', user: 'usr_a' }), writes({ key: 'same', user: 'usr_b' })])
  expect(results).toEqual([{ written: 'stored' }, { written: 'stored' }])
})

test('a batch that is written again changes nothing: its messages count as stored', async () => {
  const write = createWriteBatch({ mongo, log: silentLog })
  const batch = [writes({ key: 'repeat' })]
  await write(batch)
  expect(await write(batch)).toEqual([{ written: 'stored' }])
  expect(await Promise.all(batch.map(stored))).toEqual([ALL])
})

test('bodies that are too large for a transaction go before it, and are removed when their key is taken', async () => {
  const write = createWriteBatch({ mongo, log: silentLog })
  const parts = { messages: 1, deliveries: 1, bodies: 5 }
  const first = writes({ key: 'large', bytes: BATCH_BYTES + 1 })
  expect(await write([first])).toEqual([{ written: 'stored' }])
  expect(await stored(first)).toEqual(parts)
  const second = writes({ key: 'large', bytes: BATCH_BYTES + 1 })
  expect(await write([second])).toEqual([{ written: 'key_taken' }])
  expect(await stored(second)).toEqual(NOTHING)
})

test('a message that the database refuses is not stored, and the others of its batch are', async () => {
  const write = createWriteBatch({ mongo, log: silentLog })
  const batch = [writes(), writes({ user: 'usr_refused' }), writes(), writes()]
  await mongo.db.command({ collMod: MESSAGES.name, validator: { user_id: { $ne: 'usr_refused' } } })
  onTestFinished(async () => void (await mongo.db.command({ collMod: MESSAGES.name, validator: {} })))
  const results = await write(batch)
  expect(results.map(({ written }) => written)).toEqual(['stored', 'unknown', 'stored', 'stored'])
  expect(await Promise.all(batch.map(stored))).toEqual([ALL, NOTHING, ALL, ALL])
})

test('rejects when nothing can be stored, and leaves nothing', async () => {
  const away = {
    ...mongo,
    transaction: () => Promise.reject(new mongo.connection.base.mongo.MongoNetworkError('away')),
  }
  const write = createWriteBatch({ mongo: away, log: silentLog })
  const batch = [writes(), writes()]
  await expect(write(batch)).rejects.toThrow('away')
  expect(await Promise.all(batch.map(stored))).toEqual([NOTHING, NOTHING])
})

test('refuses more while two writes that no caller waits for have not ended', async () => {
  const ends: (() => void)[] = []
  const hangs: Mongo = {
    ...mongo,
    transaction: () => new Promise<never>(resolve => ends.push(() => resolve(undefined as never))),
  }
  const write = createWriteBatch({ mongo: hangs, log: silentLog })
  const late = await Promise.allSettled([write([writes()]), write([writes()])])
  expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(write([writes()])).rejects.toThrow('earlier writes have not ended')
  for (const end of ends) end()
  await Promise.resolve()
  const after = write([writes()])
  expect(ends).toHaveLength(3)
  ends[2]?.()
  expect(await after).toEqual([{ written: 'stored' }])
})
