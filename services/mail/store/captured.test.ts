import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { CAPTURED, CAPTURED_PIECES, INBOX_RECIPIENTS, listCaptured, readCaptured, saveCaptured } from './captured.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [CAPTURED, CAPTURED_PIECES])
})
afterAll(() => mongo.stop())

type Mail = Parameters<typeof saveCaptured>[1][number]

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second))

function mail(userId: string, change: Partial<Mail> = {}): Mail {
  const m = change.m ?? newId('em')
  return {
    _id: `${m}.0`,
    m,
    user_id: userId,
    mail_from: 'a@example.com',
    rcpts: ['b@example.net'],
    raw: Buffer.from('Subject: hi\r\n\r\nhello\r\n'),
    at: at(0),
    exp: new Date(Date.UTC(2099, 0, 1)),
    ...change,
  }
}

/** Text as attachments are: base64 of what does not compress. */
const attachment = (bytes: number) =>
  Buffer.from(
    randomBytes(Math.ceil((bytes * 3) / 4))
      .toString('base64')
      .slice(0, bytes),
  )

describe('captured mail', () => {
  test.each([0, 1, 1_000_000, 12_000_000, 26_214_400 + 4_096])(
    'of %i octets is read back as it would have gone out, whatever it holds',
    async size => {
      const user = newId('usr')
      const given = mail(user, { raw: attachment(size) })
      await saveCaptured(mongo, [given])
      const [found, ...more] = await readCaptured(mongo, user, given.m)
      expect(more).toEqual([])
      expect(found?.raw.equals(given.raw)).toBe(true)
      const { raw: _, exp: __, ...summary } = given
      expect(await listCaptured(mongo, user, 10)).toEqual([{ ...summary, size }])
    },
  )

  test('that is too large for one document does not block what is captured with it', async () => {
    const user = newId('usr')
    const mails = [mail(user), mail(user, { raw: attachment(25_000_000) }), mail(user)]
    await saveCaptured(mongo, mails)
    for (const { m, raw } of mails) {
      const [found] = await readCaptured(mongo, user, m)
      expect(found?.raw.equals(raw)).toBe(true)
    }
  })

  test('that is captured again replaces the first', async () => {
    const user = newId('usr')
    const first = mail(user, { raw: attachment(25_000_000) })
    await saveCaptured(mongo, [first])
    await saveCaptured(mongo, [{ ...first, raw: Buffer.from('short'), at: at(5) }])
    expect(await readCaptured(mongo, user, first.m)).toMatchObject([{ raw: Buffer.from('short'), size: 5, at: at(5) }])
  })

  test.each([1, 2])('that lacks its piece %i is not there, and what was captured with it is', async number => {
    const user = newId('usr')
    const m = newId('em')
    const torn = mail(user, { m, raw: attachment(25_000_000) })
    await saveCaptured(mongo, [torn, mail(user, { m, _id: `${m}.7` })])
    await collectionOf(mongo.db, CAPTURED_PIECES).deleteOne({ _id: `${torn._id}#${number}` })
    expect((await readCaptured(mongo, user, m)).map(({ _id }) => _id)).toEqual([`${m}.7`])
  })

  test('goes with all of its pieces when its time is over', async () => {
    const user = newId('usr')
    const given = mail(user, { raw: attachment(25_000_000), exp: at(9) })
    await saveCaptured(mongo, [given])
    for (const collection of [CAPTURED, CAPTURED_PIECES]) {
      expect(collection.indexes).toContainEqual({ key: { exp: 1 }, expireAfterSeconds: 0 })
      const found = await collectionOf(mongo.db, collection)
        .find({ exp: at(9) })
        .toArray()
      expect(found.length).toBeGreaterThan(0)
    }
  })

  test('of one message is one for each transaction, and of no other message or account', async () => {
    const user = newId('usr')
    const m = newId('em')
    const mine = [mail(user, { m }), mail(user, { m, _id: `${m}.7`, rcpts: ['c@example.org'] })]
    const longer = `${m}0`
    await saveCaptured(mongo, [...mine, mail(user, { m: longer }), mail('usr_other', { m, _id: `${m}.9` })])
    expect((await readCaptured(mongo, user, m)).map(({ _id }) => _id)).toEqual([`${m}.0`, `${m}.7`])
    expect(await readCaptured(mongo, 'usr_nobody', m)).toEqual([])
  })
})

describe('the list', () => {
  test('is newest first, in pages that lead to everything once, also within one moment', async () => {
    const user = newId('usr')
    const mails = Array.from({ length: 7 }, (_, n) => mail(user, { at: at(Math.floor(n / 3)) }))
    await saveCaptured(mongo, [...mails, mail('usr_other', { at: at(1) })])
    const expected = mails
      .toSorted((a, b) => b.at.getTime() - a.at.getTime() || (a._id < b._id ? 1 : -1))
      .map(({ _id }) => _id)
    for (const limit of [1, 2, 3, 7]) {
      const seen: string[] = []
      for (let page = await listCaptured(mongo, user, limit); page.length > 0; ) {
        seen.push(...page.map(({ _id }) => _id))
        page = await listCaptured(mongo, user, limit, seen.at(-1))
      }
      expect(seen).toEqual(expected)
    }
  })

  test('does not depend on the bytes', async () => {
    const user = newId('usr')
    await saveCaptured(mongo, [mail(user, { raw: attachment(25_000_000) })])
    const [summary] = await listCaptured(mongo, user, 1)
    expect(Object.keys(summary ?? {}).toSorted()).toEqual(['_id', 'at', 'm', 'mail_from', 'rcpts', 'size', 'user_id'])
  })
})

test('a long subject is not repeated in the index for each of many recipients', async () => {
  const user = newId('usr')
  const rcpts = Array.from({ length: 100 }, (_, n) => `r${n}@example.net`)
  await saveCaptured(mongo, [mail(user, { domain_id: 'dom_1', rcpts, subject: randomBytes(499).toString('hex') })])
  const keys = await Promise.all(
    rcpts.map(email =>
      collectionOf(mongo.db, CAPTURED)
        .find({ user_id: user, domain_id: 'dom_1', find_to: email }, { returnKey: true })
        .hint(INBOX_RECIPIENTS)
        .toArray(),
    ),
  )
  expect(keys.flat()).toHaveLength(100)
  expect(JSON.stringify(keys).length).toBeLessThan(25_000)
})

test('an index of an earlier release stays, and the search has its own', async () => {
  const own = await freshDatabase()
  try {
    await own.db.collection(CAPTURED.name).createIndex({ ...INBOX_RECIPIENTS, subject: 1 })
    await ensureIndexes(own.db, [CAPTURED])
    const keys = (await own.db.collection(CAPTURED.name).indexes()).map(({ key }) => key)
    expect(keys).toEqual(expect.arrayContaining([INBOX_RECIPIENTS, { ...INBOX_RECIPIENTS, subject: 1 }]))
  } finally {
    await own.stop()
  }
})
