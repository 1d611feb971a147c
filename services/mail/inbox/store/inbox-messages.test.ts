/** What a search of an inbox reads, as the database's own log of operations says. */
import { beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { CAPTURED, CAPTURED_PIECES, listCaptured, saveCaptured } from '../../store/captured.ts'
import { type InboxFilter, listInboxMessages } from './inbox-messages.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [CAPTURED, CAPTURED_PIECES])
  return () => mongo.stop()
})

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

/** An inbox of 30 messages, `Hello 0` the oldest; every tenth is to Ann as well. */
async function inbox() {
  const place = { userId: newId('usr'), domainId: newId('dom') }
  const mails = Array.from({ length: 30 }, (_, n) => ({
    ...{ _id: `em_${place.userId}_${n}.0`, m: `em_${place.userId}_${n}`, user_id: place.userId },
    ...{ domain_id: place.domainId, subject: `Hello ${n}`, mail_from: 'a@example.com' },
    rcpts: ['bob@example.net', ...(n % 10 === 0 ? ['Ann@example.net'] : [])],
    ...{ raw: Buffer.alloc(2_000, 'x'), at: at(Math.floor(n / 2)), exp: new Date(Date.UTC(2099, 0, 1)) },
  }))
  await saveCaptured(mongo, mails)
  const search = async (filter: InboxFilter, limit = 100, after?: number) => {
    const found = await listInboxMessages(mongo, place, filter, { limit, after: mails[after ?? -1]?._id })
    return found.map(({ subject }) => subject)
  }
  return { place, search }
}

/** Documents that the searches within `run` read. */
async function documentsRead(run: () => Promise<unknown>): Promise<number> {
  await mongo.db.collection('system.profile').drop()
  await mongo.db.command({ profile: 2 })
  await run()
  await mongo.db.command({ profile: 0 })
  const reads = await mongo.db
    .collection('system.profile')
    .find({ ns: `${mongo.db.databaseName}.${CAPTURED.name}` })
    .toArray()
  expect(reads.length).toBeGreaterThan(0)
  return reads.reduce((sum, { docsExamined }) => sum + docsExamined, 0)
}

describe('a search', () => {
  test.each<[string, InboxFilter, number, string[], documents: number]>([
    ['by subject', { subject: 'HELLO 7' }, 100, ['Hello 7'], 1],
    ['by a subject that no message has', { subject: 'welcome' }, 100, [], 0],
    ['by a subject that many have', { subject: 'hello' }, 2, ['Hello 29', 'Hello 28'], 2],
    ['by subject and time', { subject: 'hello', since: at(14) }, 100, ['Hello 29', 'Hello 28'], 2],
    ['by subject and recipient', { subject: '1', to: 'ANN@example.net' }, 100, ['Hello 10'], 1],
    ['by subject and a recipient of nothing', { subject: 'hello', to: 'eve@example.net' }, 100, [], 0],
    ['by the newest of a subject and recipient', { subject: 'hello', to: 'ann@example.net' }, 1, ['Hello 20'], 1],
    ['by subject, recipient and time', { subject: 'hello', to: 'ann@example.net', since: at(6) }, 9, ['Hello 20'], 1],
    ['by a subject that no message to the recipient has', { subject: '7', to: 'ann@example.net' }, 100, [], 0],
    ['by recipient', { to: 'bob@example.net' }, 3, ['Hello 29', 'Hello 28', 'Hello 27'], 3],
    ['by time', { since: at(13) }, 3, ['Hello 29', 'Hello 28', 'Hello 27'], 3],
  ])('%s reads the messages that it answers, and no other', async (_, filter, limit, expected, documents) => {
    const { search } = await inbox()
    let found: unknown
    expect(
      await documentsRead(async () => {
        found = await search(filter, limit)
      }),
    ).toBe(documents)
    expect(found).toEqual(expected)
  })

  test('goes on after a message, by subject as well', async () => {
    const { search } = await inbox()
    expect(await search({ subject: 'hello 1' }, 3, 17)).toEqual(['Hello 16', 'Hello 15', 'Hello 14'])
    expect(await search({ subject: 'hello', to: 'ann@example.net' }, 3, 20)).toEqual(['Hello 10', 'Hello 0'])
  })
})

test('the list of all captured mail of an account reads the messages that it answers, and no other', async () => {
  const { place } = await inbox()
  let found: { subject?: string }[] = []
  const list = async () => {
    found = await listCaptured(mongo, place.userId, 3)
  }
  expect(await documentsRead(list)).toBe(3)
  expect(found.map(({ subject }) => subject)).toEqual(['Hello 29', 'Hello 28', 'Hello 27'])
})
