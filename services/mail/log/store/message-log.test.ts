import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { giveEvent, giveMessage } from '../../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { BODIES } from '../../store/bodies.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { DeliveryDoc, MessageDoc } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { listMessages } from './list-messages.ts'
import type { LogFilters } from './log-filters.ts'
import { deliveriesOf, eventsOf, eventsSince, findMessage, hasBody, sentFrom, subjectsOf } from './message-log.ts'

let mongo: Mongo
const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 10, minute))
const made: Record<string, MessageDoc> = {}

beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, EVENTS])
  const give = async (name: string, minute: number, change: Partial<MessageDoc>, user = 'usr_1') => {
    made[name] = await giveMessage(mongo.db, user, { created_at: at(minute), ...change })
  }
  await give('plain', 0, {})
  await give('invoice', 1, {
    subject: 'Invoice 42 (paid)',
    from: 'Billing@shop.example',
    tags: [{ name: 'kind', value: 'invoice' }],
  })
  await give('bounced', 2, {
    rcpts: [{ email: 'gone@example.org', type: 'to', status: 'bounced' }],
    via: { channel: 'smtp', id: 'smtp_1' },
  })
  await give('two', 3, {
    rcpts: [
      { email: 'a@example.org', type: 'to', status: 'delivered' },
      { email: 'b@example.org', type: 'cc', status: 'deferred' },
    ],
  })
  await give('dsn', 4, { via: { channel: 'system' }, from: 'postmaster@mail.example.com' })
  await give('foreign', 5, { subject: 'Invoice 43' }, 'usr_2')
})
afterAll(() => mongo.stop())

const names = (messages: readonly MessageDoc[]) =>
  messages.map(({ _id }) => Object.keys(made).find(name => made[name]?._id === _id))
const list = async (filters: LogFilters, page = { limit: 10 }) =>
  names((await listMessages(mongo.db, 'usr_1', filters, page)).messages)

describe('a list is narrowed', () => {
  test.each<[LogFilters, string[]]>([
    [{}, ['dsn', 'two', 'bounced', 'invoice', 'plain']],
    [{ status: 'bounced' }, ['bounced']],
    [{ status: 'deferred' }, ['two']],
    [{ from: 'billing@SHOP.example' }, ['invoice']],
    [{ from: 'shop.example' }, []],
    [{ domain: 'shop.example' }, ['invoice']],
    [{ domain: 'hop.example' }, []],
    [{ domain: 'SHOP.example.' }, ['invoice']],
    [{ domain: 'ｓｈｏｐ.example' }, ['invoice']], // as IDNA reads it
    [{ from: 'billing@ｓｈｏｐ.example' }, ['invoice']],
    [{ domain: '.*' }, []],
    [{ from: '.*' }, []],
    [{ domains: [] }, ['dsn', 'two', 'bounced', 'invoice', 'plain']],
    [{ domains: ['shop.example'] }, ['invoice']],
    [{ domains: ['hop.example', 'shopxexample'] }, []],
    [{ domains: ['shop.example', 'mail.example.com'] }, ['dsn', 'invoice']],
    [{ domains: ['shop.example'], domain: 'mail.example.com' }, []],
    [{ domains: ['shop.example'], from: 'postmaster@mail.example.com' }, []],
    [{ domains: ['shop.example'], q: 'invoice' }, ['invoice']],
    [{ to: 'b@example.org' }, ['two']],
    [{ to: 'b@EXAMPLE.org' }, ['two']],
    [{ to: 'b\u2003@exam' }, []],
    [{ to: '\\u2003b' }, []],
    [{ from: 'a\u2028b' }, []],
    [{ tag: 'kind' }, ['invoice']],
    [{ tag: 'kind:invoice' }, ['invoice']],
    [{ tag: 'kind:other' }, []],
    [{ source: 'smtp' }, ['bounced']],
    [{ source: 'system' }, ['dsn']],
    [{ source: 'api', status: 'delivered' }, ['two', 'invoice', 'plain']],
    [{ q: 'INVOICE' }, ['invoice']],
    [{ q: 'invoice 42 (p' }, ['invoice']], // a random id has no "i"
    [{ q: '.*' }, []],
    [{ q: 'gone@' }, ['bounced']],
    [{ q: 'example.org', status: 'deferred' }, ['two']],
    [{ since: at(2), until: at(4) }, ['two', 'bounced']],
    [{ since: at(4) }, ['dsn']],
    [{ until: at(1) }, ['plain']],
    [{ since: at(3), domain: 'shop.example' }, []],
  ])('%j', async (filters, expected) => {
    expect(await list(filters)).toEqual(expected)
  })

  test('by Message-ID, with and without brackets', async () => {
    const id = made.plain?.message_id ?? ''
    expect(await list({ message_id: id })).toEqual(['plain'])
    expect(await list({ message_id: id.slice(1, -1) })).toEqual(['plain'])
    expect(await list({ message_id: made.foreign?.message_id ?? '' })).toEqual([])
  })
})

/** All pages, one after the other. */
async function walk(filters: LogFilters, limit: number, scan?: number): Promise<{ pages: number; found: unknown[] }> {
  const found: unknown[] = []
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await listMessages(mongo.db, 'usr_1', filters, { limit, after }, scan ? { scan } : {})
    found.push(...names(page.messages))
    expect(page.messages.length).toBeLessThanOrEqual(limit)
    if (page.next === null) return { pages, found }
    after = page.next
  }
}

describe('pages lead to everything, once', () => {
  test.each([
    [{}, 2, undefined, 3],
    [{}, 5, undefined, 1],
    [{ source: 'api' } as const, 1, undefined, 3],
    // With two messages a page: pages may be short, all of them are complete.
    [{ source: 'api' } as const, 10, 2, 3],
    [{ q: 'nothing like it' }, 10, 2, 3],
  ])('%j, %i a page, looking at %s', async (filters, limit, scan, pages) => {
    const walked = await walk(filters, limit, scan)
    expect(walked.found).toEqual(await list(filters))
    expect(walked.pages).toBeGreaterThanOrEqual(pages)
  })
})

test('the index serves the list: no more documents are read than shown', async () => {
  const plan = await mongo.db
    .collection('messages')
    .find({ user_id: 'usr_1' })
    .sort({ _id: -1 })
    .limit(2)
    .explain('executionStats')
  expect(plan.executionStats).toMatchObject({ totalDocsExamined: 2 })
})

test('ids of a time sort between earlier and later ones', () => {
  expect(firstIdAt(at(2)) <= (made.bounced?._id ?? '')).toBe(true)
  expect(firstIdAt(at(2)) > (made.invoice?._id ?? '')).toBe(true)
  expect(firstIdAt(new Date(-1)).startsWith('em_0000')).toBe(true)
})

describe('what belongs to a message', () => {
  test('is in the order of its recipients and attempts, also above ten, and nothing of its neighbours', async () => {
    const message = await giveMessage(mongo.db, 'usr_order', { created_at: at(0) })
    const neighbours = [`${message._id}0`, `${message._id.slice(0, -1)}`]
    const ids = Array.from({ length: 23 }, (_, n) => `${message._id}.${n}`)
    const shuffled = [...ids.slice(11), ...ids.slice(0, 11).toReversed(), ...neighbours.map(id => `${id}.0`)]
    const deliveries = shuffled.map(_id => ({ _id, m: message._id }) as DeliveryDoc)
    await collectionOf(mongo.db, DELIVERIES).insertMany(deliveries)
    expect((await deliveriesOf(mongo.db, message._id)).map(({ _id }) => _id)).toEqual(ids)
    const attempts = ids.flatMap(id => [`${id}#2`, `${id}#10`])
    for (const _id of attempts.toReversed())
      await giveEvent(mongo.db, message, { _id, at: at(_id.endsWith('#2') ? 5 : 9), user_id: 'usr_order' })
    await giveEvent(mongo.db, message, { _id: `${ids[22]}#1`, at: at(4), user_id: 'usr_order' })
    expect((await eventsOf(mongo.db, message._id)).map(({ _id }) => _id)).toEqual([
      `${ids[22]}#1`,
      ...ids.map(id => `${id}#2`),
      ...ids.map(id => `${id}#10`),
    ])
  })

  test('is found for its own account alone, and its body while there is one', async () => {
    const user = newId('usr')
    const [kept, bare] = [await giveMessage(mongo.db, user, { raw: 'Hi' }), await giveMessage(mongo.db, user)]
    expect(await findMessage(mongo.db, user, kept._id)).toEqual(kept)
    expect(await findMessage(mongo.db, 'usr_1', kept._id)).toBeUndefined()
    expect([await hasBody(mongo.db, kept._id), await hasBody(mongo.db, bare._id)]).toEqual([true, false])
    await collectionOf(mongo.db, BODIES).deleteMany({ m: kept._id })
    expect(await hasBody(mongo.db, kept._id)).toBe(false)
  })
})

test('events of an account from a time on: oldest first, no more than asked for, without conversations', async () => {
  const user = newId('usr')
  const message = await giveMessage(mongo.db, user)
  for (const minute of [7, 5, 9, 6])
    await giveEvent(mongo.db, message, { attempt: minute, at: at(minute), conversation: 'C: DATA' })
  await giveEvent(mongo.db, await giveMessage(mongo.db, 'usr_other'), { at: at(8) })
  const found = await eventsSince(mongo.db, user, at(6), 2)
  expect(found.map(event => [event.attempt, 'conversation' in event])).toEqual([
    [6, false],
    [7, false],
  ])
  expect(await eventsSince(mongo.db, user, at(10), 10)).toEqual([])
})

test('of some messages, those from certain domains and their subjects, never of another account', async () => {
  const user = newId('usr')
  const mine = await giveMessage(mongo.db, user, { from: 'ann@shop.example', subject: 'Mine' })
  const other = await giveMessage(mongo.db, user, { from: 'ann@sub.shop.example', subject: 'Other' })
  const foreign = await giveMessage(mongo.db, 'usr_2', { from: 'ann@shop.example', subject: 'Foreign' })
  const ids = new Set([mine._id, other._id, foreign._id])
  expect(await sentFrom(mongo.db, user, ids, ['shop.example'])).toEqual(new Set([mine._id]))
  expect(await sentFrom(mongo.db, user, new Set(), ['shop.example'])).toEqual(new Set())
  expect(await subjectsOf(mongo.db, user, ids)).toEqual(
    new Map([
      [mine._id, 'Mine'],
      [other._id, 'Other'],
    ]),
  )
})
