/** Recipients' states of messages after notes of workers that are late, repeated, or in parallel. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { giveMessage } from '../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { BODIES, toBodyDocs } from './bodies.ts'
import type { MessageDoc } from './documents.ts'
import { MESSAGES } from './messages.ts'
import { Outbox, type RecipientNote } from './outgoing.ts'
import { isFinal, type RecipientStatus } from './rules/email-status.ts'

const LOG_DAYS = 30
const DAY = 86_400_000
const start = new Date('2026-11-21T12:00:00Z')
const at = (second: number) => new Date(start.getTime() + second * 1_000)

let mongo: Mongo
let outbox: Outbox
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, BODIES])
  outbox = new Outbox(mongo, LOG_DAYS)
})
afterAll(() => mongo.stop())

/** A message that waits, to so many recipients. */
async function waiting(recipients: number, status: RecipientStatus = 'queued'): Promise<MessageDoc> {
  const rcpts = Array.from({ length: recipients }, (_, n) => ({
    email: `u${n}@example.net`,
    type: 'to' as const,
    status,
    orcpt: `rfc822;u${n}$x`,
  }))
  return giveMessage(mongo.db, 'usr_1', { rcpts, left: recipients, created_at: start })
}

const stored = async ({ _id }: MessageDoc) => {
  const found = await collectionOf(mongo.db, MESSAGES).findOne({ _id })
  if (!found) throw new Error('no such message')
  return found
}

function note(message: MessageDoc, n: number, status: RecipientStatus, change: Partial<RecipientNote> = {}) {
  const only = message.rcpts.length === 1
  return { messageId: message._id, n, status, final: isFinal(status), only, ...change }
}

/** What a message with one of these recipients came to; both ways of noting must agree. */
const SIZES = [1, 3]

describe('a state', () => {
  const open = ['queued', 'scheduled', 'deferred'] as const
  const final = ['bounced', 'failed', 'canceled', 'delivered'] as const

  test.each(
    SIZES.flatMap(size =>
      open.flatMap(before => (['deferred', ...final] as const).map(after => [size, before, after] as const)),
    ),
  )('of %i recipient(s): %s becomes %s', async (size, before, after) => {
    const message = await waiting(size, before)
    await outbox.note([note(message, size - 1, after, { code: 451, enhanced: '4.3.0' })], at(1))
    const { rcpts, left } = await stored(message)
    expect(rcpts.at(-1)).toEqual({ ...message.rcpts.at(-1), status: after, at: at(1), code: 451, enhanced: '4.3.0' })
    expect(rcpts.slice(0, -1)).toEqual(message.rcpts.slice(0, -1))
    expect(left).toBe(isFinal(after) ? size - 1 : size)
  })

  test.each(
    SIZES.flatMap(size =>
      final.flatMap(before => (['deferred', ...final] as const).map(after => [size, before, after] as const)),
    ),
  )('of %i recipient(s): %s stays after a later %s; only "delivered" replaces it', async (size, before, after) => {
    const message = await waiting(size)
    await outbox.note([note(message, 0, before, { code: 200 })], at(1))
    const first = await stored(message)
    await outbox.note([note(message, 0, after, { code: 500 })], at(9))
    const then = await stored(message)
    if (after === 'delivered') expect(then.rcpts[0]).toMatchObject({ status: 'delivered', code: 500, at: at(9) })
    else expect(then).toEqual(first)
    expect(then.left).toBe(size - 1)
  })
})

describe('a message is final', () => {
  test.each(SIZES)('with the last of its %i recipient(s), and goes its days later', async size => {
    const message = await waiting(size)
    for (let n = 0; n < size; n++) {
      expect(await stored(message)).toMatchObject({ left: size - n, exp: message.exp })
      expect((await stored(message)).final_at).toBeUndefined()
      await outbox.note([note(message, n, n === 0 ? 'bounced' : 'delivered')], at(n))
    }
    const last = at(size - 1)
    const { left, final_at, exp } = await stored(message)
    expect([left, final_at, exp]).toEqual([0, last, new Date(last.getTime() + LOG_DAYS * DAY)])
  })

  test.each(SIZES)('once: a repeated note moves nothing (%i recipients)', async size => {
    const message = await waiting(size)
    const notes = message.rcpts.map((_, n) => note(message, n, 'failed', { code: 550 }))
    await outbox.note(notes, at(1))
    const first = await stored(message)
    await outbox.note(notes, at(60))
    expect(await stored(message)).toEqual(first)
  })

  test('not before: a recipient that waits again is left over', async () => {
    const message = await waiting(2)
    await outbox.note([note(message, 0, 'deferred'), note(message, 1, 'delivered')], at(1))
    const { left, final_at, exp } = await stored(message)
    expect([left, final_at, exp]).toEqual([1, undefined, message.exp])
  })

  test('also when a late "deferred" of another recipient comes with the last final state', async () => {
    const message = await waiting(2)
    await outbox.note([note(message, 0, 'delivered')], at(1))
    await outbox.note([note(message, 1, 'bounced'), note(message, 0, 'deferred')], at(2))
    expect(await stored(message)).toMatchObject({ left: 0, final_at: at(2), rcpts: [{ status: 'delivered' }, {}] })
  })
})

test('many messages with one recipient each are noted by their outcome, however they are mixed', async () => {
  const outcomes = [
    ['delivered', 250, '2.0.0'],
    ['delivered', 250, undefined],
    ['bounced', 550, '5.1.1'],
    ['bounced', 550, '5.7.1'],
    ['deferred', undefined, undefined],
    ['failed', undefined, '4.4.2'],
  ] as const
  const messages = await Promise.all(Array.from({ length: 60 }, () => waiting(1)))
  const notes = messages.map((message, index) => {
    const [status, code, enhanced] = outcomes[(index * 7) % outcomes.length] ?? outcomes[0]
    return note(message, 0, status, { code, enhanced })
  })
  await outbox.note(notes, at(3))
  for (const [index, message] of messages.entries()) {
    const { status, code, enhanced } = notes[index] ?? {}
    const [recipient] = (await stored(message)).rcpts
    expect([recipient?.status, recipient?.code, recipient?.enhanced]).toEqual([status, code, enhanced])
  }
})

test('a message to ten thousand is noted recipient by recipient, and only where it was meant', async () => {
  const message = await waiting(10_000)
  const chosen = [0, 1, 99, 100, 101, 5_000, 9_999]
  await outbox.note(
    chosen.map(n => note(message, n, 'delivered', { code: 250 })),
    at(1),
  )
  const { rcpts, left } = await stored(message)
  expect(rcpts.flatMap(({ status }, n) => (status === 'delivered' ? [n] : []))).toEqual(chosen)
  expect(rcpts.map(({ email }) => email)).toEqual(message.rcpts.map(({ email }) => email))
  expect(left).toBe(10_000 - chosen.length)
})

test('texts that look like expressions stay texts', async () => {
  const message = await waiting(2)
  await outbox.note([note(message, 1, 'bounced', { enhanced: '$rcpts' })], at(1))
  expect((await stored(message)).rcpts[1]).toMatchObject({ enhanced: '$rcpts', orcpt: 'rfc822;u1$x' })
})

test('whatever comes in which order, twice and by two workers in parallel: what is left are those without a final state', async () => {
  const status = fc.constantFrom<RecipientStatus>('deferred', 'delivered', 'bounced', 'failed', 'canceled')
  const one = fc.record({ n: fc.nat({ max: 3 }), status, again: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(one, { maxLength: 6 }), { maxLength: 5 }), async batches => {
      const message = await waiting(4)
      for (const [second, batch] of batches.entries()) {
        const notes = batch.map(({ n, status: state }) => note(message, n, state))
        const repeated = batch.flatMap(({ again }, index) => (again ? (notes[index] ?? []) : []))
        await Promise.all([outbox.note(notes, at(second)), outbox.note(repeated, at(second))])
      }
      const { rcpts, left, final_at } = await stored(message)
      const said = (n: number) =>
        batches
          .flat()
          .filter(note => note.n === n)
          .map(note => note.status)
      for (const [n, recipient] of rcpts.entries()) {
        const states = said(n)
        if (states.includes('delivered')) expect(recipient.status).toBe('delivered')
        else if (states.some(isFinal)) expect(isFinal(recipient.status)).toBe(true)
        else expect(recipient.status).toBe(states.length > 0 ? 'deferred' : 'queued')
      }
      expect(left).toBe(rcpts.filter(recipient => !isFinal(recipient.status)).length)
      expect(final_at !== undefined).toBe(left === 0)
    }),
    { numRuns: 60 },
  )
})

describe('loading', () => {
  const give = async (raw: Buffer) => {
    const parts = Math.max(1, Math.ceil(raw.length / (1024 * 1024)))
    const message = await giveMessage(mongo.db, 'usr_1', { size: raw.length, parts, subject: 'not needed' })
    const docs = toBodyDocs(message._id, raw, message.exp)
    await collectionOf(mongo.db, BODIES).insertMany(docs)
    return message
  }

  test.each([0, 1, 16 * 1024, 128 * 1024, 128 * 1024 + 1, 3_000_000])('brings %i octets as they were', async size => {
    const raw = Buffer.alloc(size, 'Zeile ä\r\n')
    const { _id } = await give(raw)
    const outgoing = (await outbox.load([_id])).get(_id)
    expect((await outgoing?.raw())?.equals(raw)).toBe(true)
    expect(outgoing?.message).not.toHaveProperty('subject')
  })

  test('more messages than one answer of the server has, and leaves out what was never committed', async () => {
    const messages = await Promise.all(Array.from({ length: 150 }, (_, n) => give(Buffer.from(`body ${n}`))))
    const missing = newId('em')
    const loaded = await outbox.load([...messages.map(({ _id }) => _id), missing])
    expect([loaded.size, loaded.has(missing)]).toEqual([150, false])
    for (const [n, { _id }] of messages.entries()) expect((await loaded.get(_id)?.raw())?.toString()).toBe(`body ${n}`)
  })

  test.each([100, 3_000_000])('reports when the bytes are removed, or a part of them (%i octets)', async size => {
    const { _id } = await give(Buffer.alloc(size, 'x'))
    await collectionOf(mongo.db, BODIES).deleteOne({ m: _id })
    expect(await (await outbox.load([_id])).get(_id)?.raw()).toBeUndefined()
  })
})

test('bodies are read with their messages as far as there is room; the others when they are asked for', async () => {
  const raw = 'Subject: hi\r\n\r\nhello\r\n'
  const ids = await Promise.all([1, 2, 3].map(async () => (await giveMessage(mongo.db, 'usr_1', { raw }))._id))
  const inMemory = async (most?: number) =>
    [...(await outbox.load(ids, most)).values()].filter(outgoing => outgoing.inMemory).length
  expect([await inMemory(), await inMemory(raw.length * 2), await inMemory(0)]).toEqual([3, 2, 0])
  const all = [...(await outbox.load(ids, raw.length)).values()]
  expect(await Promise.all(all.map(async one => (await one.raw())?.toString()))).toEqual([raw, raw, raw])
})

test.each(SIZES)(
  'the class of a failure is stored with its recipient, and a later one replaces it (%i recipients)',
  async size => {
    const message = await waiting(size)
    const others = await waiting(size)
    // Two messages with the same outcome but another class are not noted together.
    await outbox.note(
      [
        note(message, 0, 'deferred', { code: 421, kind: 'throttled' }),
        note(others, 0, 'deferred', { code: 421, kind: 'greylisted' }),
      ],
      at(1),
    )
    expect([(await stored(message)).rcpts[0]?.kind, (await stored(others)).rcpts[0]?.kind]).toEqual([
      'throttled',
      'greylisted',
    ])
    await outbox.note([note(message, 0, 'bounced', { code: 550, kind: 'address' })], at(2))
    expect((await stored(message)).rcpts.map(({ kind }) => kind)).toEqual(
      ['address', undefined, undefined].slice(0, size),
    )
  },
)
