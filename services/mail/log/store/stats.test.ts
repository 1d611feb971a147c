import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { giveMessage } from '../../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import type { MessageDoc, RecipientStatus } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import { recountPeriodsOf, STATS_DAYS, STATS_HOURS, statsOfDays } from './stats.ts'

const DAY = '2026-11-20'
const NEXT = '2026-11-21'
const morning = (day: string) => new Date(`${day}T06:00:00Z`)
const daysAfter = (days: number) => new Date(morning(NEXT).getTime() + days * 86_400_000)

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, STATS_DAYS, STATS_HOURS])
})
afterAll(() => mongo.stop())

const give = (user: string, rcpts: Record<string, RecipientStatus>, change: Partial<MessageDoc> = {}) =>
  giveMessage(mongo.db, user, {
    created_at: morning(DAY),
    rcpts: Object.entries(rcpts).map(([email, status]) => ({ email, type: 'to', status })),
    ...change,
  })
const statistics = async (user: string, now: Date, days = [DAY]) =>
  (await statsOfDays(mongo.db, user, days, { now, logDays: 30 })).map(({ messages, recipients, domains }) => ({
    messages,
    recipients,
    domains,
  }))

test.each([0.5, 3, 9])('a day whose recipient bounced after %f days is counted again', async days => {
  const user = newId('usr')
  const { _id } = await give(user, { 'a@one.example': 'delivered' })
  const at = daysAfter(days)
  expect(await statistics(user, at)).toMatchObject([{ recipients: { delivered: 1 } }])
  await collectionOf(mongo.db, MESSAGES).updateOne({ _id }, { $set: { 'rcpts.0.status': 'bounced' } })
  await recountPeriodsOf(mongo.db, user, _id)
  expect(await statistics(user, at)).toMatchObject([{ recipients: { bounced: 1 } }])
})

describe('a day', () => {
  test.each<[string, Record<string, RecipientStatus>, messages: number, delivered: number]>([
    ['only', { 'delivered@simulator.invalid': 'delivered' }, 0, 0],
    ['first', { 'delivered@simulator.invalid': 'delivered', 'ann@one.example': 'delivered' }, 1, 1],
    ['last', { 'ann@one.example': 'delivered', 'delivered@simulator.invalid': 'delivered' }, 1, 1],
    [
      'first and second',
      {
        'a@simulator.invalid': 'bounced',
        'b@Simulator.Invalid': 'bounced',
        'a@x.example': 'delivered',
        'b@x.example': 'delivered',
      },
      1,
      2,
    ],
  ])('counts a message whose %s recipients are simulated by the others', async (_, rcpts, messages, delivered) => {
    const user = newId('usr')
    await give(user, rcpts, { tags: [{ name: 'kind', value: 'x' }] })
    const [day] = await statsOfDays(mongo.db, user, [DAY], { now: morning(NEXT), logDays: 30 })
    const recipients = delivered > 0 ? { delivered } : {}
    expect(day).toMatchObject({
      ...{ messages, recipients },
      by: { tags: delivered > 0 ? [{ name: 'kind:x', recipients }] : [] },
    })
    expect(Object.keys(day?.recipients ?? {})).toEqual(Object.keys(recipients))
  })

  test('counts messages, recipients and their domains, of this account and without tests', async () => {
    const user = newId('usr')
    await give(user, { 'a@one.example': 'delivered', 'b@one.example': 'bounced', '"x@y"@two.example': 'delivered' })
    await give(user, { 'c@one.example': 'delivered' })
    await give(user, { 'd@one.example': 'delivered' }, { test: true })
    await give(newId('usr'), { 'e@one.example': 'delivered' })
    expect(await statistics(user, morning(NEXT))).toEqual([
      {
        messages: 2,
        recipients: { delivered: 3, bounced: 1 },
        domains: [
          { domain: 'one.example', recipients: { delivered: 2, bounced: 1 } },
          { domain: 'two.example', recipients: { delivered: 1 } },
        ],
      },
    ])
  })

  test('has its first and its last millisecond, and not those around it', async () => {
    const user = newId('usr')
    const times = ['2026-11-19T23:59:59.999Z', `${DAY}T00:00:00.000Z`, `${DAY}T23:59:59.999Z`, `${NEXT}T00:00:00.000Z`]
    for (const time of times) await give(user, { 'a@one.example': 'queued' }, { created_at: new Date(time) })
    const found = await statistics(user, morning(NEXT), ['2026-11-19', DAY, NEXT])
    expect(found.map(({ messages }) => messages)).toEqual([1, 2, 1])
  })

  test('on which nothing was sent is empty', async () => {
    expect(await statistics(newId('usr'), morning(NEXT))).toEqual([{ messages: 0, recipients: {}, domains: [] }])
  })

  test('names the fifty busiest domains, the same ones each time', async () => {
    const user = newId('usr')
    const domain = (n: number) => `d${String(n).padStart(2, '0')}.example`
    for (let n = 0; n < 60; n++) await give(user, { [`a@${domain(n)}`]: 'delivered' })
    await give(user, { [`a@${domain(59)}`]: 'bounced' })
    const [found] = await statistics(user, morning(NEXT))
    expect(found?.messages).toBe(61)
    expect(found?.domains.map(({ domain: name }) => name)).toEqual([
      domain(59),
      ...Array.from({ length: 49 }, (_, n) => domain(n)),
    ])
  })
})

describe('stored statistics', () => {
  test('are returned while they are reliable, and recounted afterwards', async () => {
    const user = newId('usr')
    await give(user, { 'a@one.example': 'deferred' })
    const now = morning(NEXT)
    const first = await statistics(user, now)
    await collectionOf(mongo.db, MESSAGES).updateMany({ user_id: user }, { $set: { 'rcpts.0.status': 'delivered' } })
    expect(await statistics(user, new Date(now.getTime() + 899_999))).toEqual(first)
    expect(await statistics(user, new Date(now.getTime() + 900_000))).toMatchObject([{ recipients: { delivered: 1 } }])
  })

  test.each([
    ['all of its messages', {}],
    ['some of its messages', { 'rcpts.0.status': 'bounced' as const }],
  ])('outlive %s, even when they were not read for months', async (_, removed) => {
    const user = newId('usr')
    await give(user, { 'a@one.example': 'bounced' })
    await give(user, { 'a@one.example': 'delivered' })
    const first = await statistics(user, morning(NEXT))
    await collectionOf(mongo.db, MESSAGES).deleteMany({ user_id: user, ...removed })
    for (const days of [31, 60, 90]) expect(await statistics(user, daysAfter(days))).toEqual(first)
  })

  test.each<[string, number, 'queued' | 'deferred']>([
    ['before anything was tried', 0, 'queued'],
    ['while most of it was on its way', 1, 'deferred'],
  ])('that were counted %s do not outlive the outcomes', async (_, done, open) => {
    const user = newId('usr')
    for (let n = 0; n < 4; n++) await give(user, { 'a@one.example': n < done ? 'delivered' : open })
    await statistics(user, morning(NEXT))
    const messages = collectionOf(mongo.db, MESSAGES)
    await messages.updateMany({ user_id: user }, { $set: { 'rcpts.0.status': 'delivered' } })
    await messages.deleteOne({ user_id: user })
    const left = [{ messages: 3, recipients: { delivered: 3 } }]
    expect(await statistics(user, daysAfter(29))).toMatchObject(left)
    await messages.deleteMany({ user_id: user })
    for (const days of [30, 60, 90]) expect(await statistics(user, daysAfter(days))).toMatchObject(left)
  })

  test('give way to a later count of which nothing is done yet either', async () => {
    const user = newId('usr')
    await give(user, { 'a@one.example': 'queued' })
    await statistics(user, morning(DAY))
    await give(user, { 'b@one.example': 'queued' })
    expect(await statistics(user, morning(NEXT))).toMatchObject([{ messages: 2, recipients: { queued: 2 } }])
  })

  test('are of one account: another one with the same day is counted for itself', async () => {
    const [one, two] = [newId('usr'), newId('usr')]
    await give(one, { 'a@one.example': 'delivered' })
    await statistics(one, morning(NEXT))
    expect(await statistics(two, morning(NEXT))).toMatchObject([{ messages: 0 }])
  })

  test('are the same for all that ask in parallel, and stored once', async () => {
    const user = newId('usr')
    await give(user, { 'a@one.example': 'delivered' })
    const all = await Promise.all(Array.from({ length: 12 }, () => statistics(user, morning(NEXT), [DAY, NEXT])))
    for (const found of all) expect(found).toEqual(all[0])
    const stored = await collectionOf(mongo.db, STATS_DAYS)
      .find({ _id: { $regex: `^${user}#` } })
      .toArray()
    expect(stored.map(({ _id }) => _id).toSorted()).toEqual([`${user}#${DAY}`, `${user}#${NEXT}`])
  })

  test('come in the order in which the days were asked for', async () => {
    const user = newId('usr')
    await give(user, { 'a@one.example': 'delivered' })
    await statistics(user, morning(NEXT), [NEXT])
    const found = await statistics(user, morning(NEXT), [NEXT, DAY, '2026-11-19'])
    expect(found.map(({ messages }) => messages)).toEqual([0, 1, 0])
  })
})
