import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import * as field from '../database/fields.ts'
import { type DocumentOf, defineModel, modelOf } from '../database/models.ts'
import { collectionOf, defineCollection, ensureIndexes } from '../database/mongo.ts'
import {
  claimEvent,
  dropExcess,
  dueWebhooks,
  EVENT_INDEXES,
  eventsFor,
  insertEvents,
  latestEvents,
  listWebhooks,
  removeWebhook,
  settleEvent,
  type WebhookEvent,
  type WebhookStore,
  webhookFields,
} from './event-queue.ts'

const HOOKS = defineModel('hooks', { ...webhookFields, user_id: field.text, events: field.required([String]) })
type Endpoint = DocumentOf<typeof HOOKS>
interface Event extends WebhookEvent {
  user_id: string
}

const EVENTS = defineCollection<Event>('hook_events', EVENT_INDEXES)

const at = (second: number) => new Date(second * 1000)
const endpoint = (_id: string, more: Partial<Endpoint> = {}): Endpoint => ({
  ...{ _id, user_id: 'ann', url: 'https://a.example', events: [], enabled: true, sealed: '' },
  ...{ created_at: at(0), updated_at: at(0) },
  ...more,
})
const event = (_id: string, more: Partial<Event> = {}): Event => ({
  ...{ _id, user_id: 'ann', webhook_id: 'w', type: 'sent', data: { id: '7', email: 'x@a.example' } },
  ...{ state: 'waiting' as const, attempts: 0, due: at(1), at: at(1) },
  ...more,
})

/** Webhooks of accounts, with these events. */
async function withEvents(...events: Event[]) {
  const mongo = await databaseForThisTest()
  const store: WebhookStore<Endpoint, Event> = {
    endpoints: modelOf(mongo.db, HOOKS),
    events: collectionOf(mongo.db, EVENTS),
    owner: 'user_id',
    personal: ['email'],
  }
  await ensureIndexes(mongo.db, [EVENTS])
  await insertEvents(store.events, events)
  const claim = (second: number, webhook = 'w') => claimEvent(store, webhook, at(second), at(second + 60))
  const stored = (_id: string) => store.events.findOne({ _id })
  return { mongo, store, claim, stored }
}

test.each<[string, Partial<Endpoint>, string, boolean]>([
  ['of all events', {}, 'sent', true],
  ['of this event', { events: ['failed', 'sent'] }, 'sent', true],
  ['of other events', { events: ['failed'] }, 'sent', false],
  ['that is off', { enabled: false }, 'sent', false],
])('a webhook %s gets one: %#', (_, more, type, wanted) => {
  const found = eventsFor([endpoint('w', more)], { type, data: { id: '7' }, at: at(1), key: 'k' })
  const expected = { _id: 'k:w', webhook_id: 'w', type, data: { id: '7' }, state: 'waiting', attempts: 0 }
  expect(found).toEqual(wanted ? [{ ...expected, due: at(1), at: at(1) }] : [])
})

test('without a key each event is a new one', () => {
  const ids = [1, 2]
    .flatMap(() => eventsFor([endpoint('w')], { type: 'sent', data: {}, at: at(1) }))
    .map(one => one._id)
  expect(new Set(ids).size).toBe(2)
})

test('an event that was stored before stays as it is, and those beside it are stored', async () => {
  const { store, stored } = await withEvents(event('a'))
  await insertEvents(store.events, [event('a', { type: 'other' }), event('b')])
  expect([(await stored('a'))?.type, (await stored('b'))?.type]).toEqual(['sent', 'sent'])
})

describe('a claim', () => {
  test('claims the event that is due longest, once until its claim expires', async () => {
    const { claim } = await withEvents(
      event('late', { due: at(3) }),
      event('early'),
      event('next year', { due: at(9e6) }),
    )
    expect([(await claim(2))?._id, await claim(2), (await claim(5))?._id, await claim(5)]).toEqual([
      ...['early', undefined],
      ...['late', undefined],
    ])
    expect(await claim(63)).toMatchObject({ _id: 'early', attempts: 2 })
  })

  test('claims for one webhook, and leaves the log of attempts out', async () => {
    const { claim, store } = await withEvents(event('a', { webhook_id: 'v' }), event('b', { due: at(2) }))
    await store.events.updateOne({ _id: 'b' }, { $set: { log: [{ at: at(0), ms: 1, url: '', headers: [] }] } })
    const claimed = await claim(5)
    expect(claimed?._id).toBe('b')
    expect(claimed).not.toHaveProperty('log')
    expect([(await claim(5, 'v'))?._id, await claim(5)]).toEqual(['a', undefined])
  })
})

describe('the webhooks that events are due for', () => {
  test('are read with one step for each, however many events wait', async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => event(`m${n}`, { due: at(n + 10) }))
    const { store, mongo } = await withEvents(
      ...many,
      event('early', { webhook_id: 'v' }),
      event('done', { webhook_id: 'u', state: 'done' }),
      event('later', { webhook_id: 't', due: at(50_000) }),
    )
    expect(await dueWebhooks(store, at(20))).toEqual([
      { id: 'v', due: at(1) },
      { id: 'w', due: at(10) },
    ])
    await mongo.db.command({ profile: 2 })
    await dueWebhooks(store, at(20))
    await mongo.db.command({ profile: 0 })
    const seen = await mongo.db.collection('system.profile').findOne({ 'command.aggregate': 'hook_events' })
    expect(seen?.keysExamined).toBeLessThan(10)
    expect(seen?.docsExamined).toBeLessThan(10)
  })
})

test('beyond the limit the oldest events end, with the reason', async () => {
  const { store, stored } = await withEvents(
    ...Array.from({ length: 7 }, (_, n) => event(`e${n}`, { at: at(n), due: at(100 - n) })),
    event('other', { webhook_id: 'v' }),
  )
  expect([await dropExcess(store, 'w', 10), await dropExcess(store, 'w', 5), await dropExcess(store, 'w', 5)]).toEqual([
    0, 2, 0,
  ])
  expect(await stored('e1')).toMatchObject({
    state: 'failed',
    result: 'dropped, because more than 5 newer events were waiting',
    reason: { code: 'webhook.dropped', params: { limit: 5 } },
    data: { id: '7' },
  })
  expect([(await stored('e2'))?.state, (await stored('other'))?.state]).toEqual(['waiting', 'waiting'])
})

test('the log of an event keeps the last twenty attempts', async () => {
  const { store, claim, stored } = await withEvents(event('a'))
  for (let n = 0; n < 25; n++) {
    const claimed = await claim(1)
    const record = { at: at(n), ms: n, url: 'https://a.example', headers: [] }
    if (claimed) await settleEvent(store, claimed, { state: 'waiting', result: '500', due: at(1), record })
  }
  const log = (await stored('a'))?.log?.map(({ ms }) => ms)
  expect(log).toEqual(Array.from({ length: 20 }, (_, n) => n + 5))
})

describe('two workers with the same event', () => {
  const claimTwice = async () => {
    const { store, claim, stored } = await withEvents(event('a'))
    const [slow, quick] = [await claim(1), await claim(61)]
    if (!slow || !quick) throw new Error('nothing is due')
    return { store, stored, slow, quick }
  }

  test.each<['slow' | 'quick', string]>([
    ['slow', 'waiting'],
    ['quick', 'done'],
  ])('the result of the %s one leaves it %s', async (who, state) => {
    const { store, stored, ...workers } = await claimTwice()
    await settleEvent(store, workers[who], { state: 'done', result: '200' })
    expect(await stored('a')).toMatchObject({ state, attempts: 2 })
  })

  test('a late failure does not revert a success', async () => {
    const { store, stored, slow, quick } = await claimTwice()
    await settleEvent(store, quick, { state: 'done', result: '200' })
    await settleEvent(store, slow, { state: 'failed', result: 'late' })
    await settleEvent(store, quick, { state: 'waiting', result: 'again', due: new Date(0) })
    expect(await stored('a')).toMatchObject({ state: 'done', result: '200' })
  })
})

test.each<['waiting' | 'done' | 'failed', object]>([
  ['waiting', { id: '7', email: 'x@a.example' }],
  ['done', { id: '7' }],
  ['failed', { id: '7' }],
])('an event that is %s has the data %j', async (state, data) => {
  const { store, claim, stored } = await withEvents(event('a'))
  const claimed = await claim(1)
  if (claimed) await settleEvent(store, claimed, { state, result: '200', due: at(9) })
  expect((await stored('a'))?.data).toEqual(data)
})

test('webhooks belong to their owner, and a removed one is removed with its waiting events', async () => {
  const { mongo, store } = await withEvents(
    event('a'),
    event('b', { state: 'done', at: at(2) }),
    event('c', { webhook_id: 'v' }),
  )
  await store.endpoints.insertMany([
    endpoint('w', { created_at: at(1) }),
    endpoint('v'),
    endpoint('u', { user_id: 'bob' }),
  ])
  expect((await listWebhooks(store, 'ann')).map(one => one._id)).toEqual(['v', 'w'])
  expect((await latestEvents(store.events, 'w', 1)).map(one => one._id)).toEqual(['b'])
  await mongo.transaction(session => removeWebhook(store, 'w', session))
  expect((await listWebhooks(store, 'ann')).map(one => one._id)).toEqual(['v'])
  expect(await store.events.distinct('_id')).toEqual(['b', 'c'])
})
