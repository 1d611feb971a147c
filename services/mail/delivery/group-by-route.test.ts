/** What becomes of claimed deliveries, against a real queue; ways, accounts and what follows are played by the test. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { until } from '../../../test/support/time/until.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { type Claimed, DELIVERIES, DeliveryQueue } from '../store/deliveries.ts'
import type { EventDoc } from '../store/documents.ts'
import { eventId } from '../store/events.ts'
import type { Outgoing } from '../store/outgoing.ts'
import type { Group } from './attempt.ts'
import { Hand } from './claiming/in-flight.ts'
import { createSorting } from './group-by-route.ts'
import type { Result } from './result.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const MINUTE = 60_000
const ago = (ms: number) => new Date(NOW.getTime() - ms)
/** In slot 1; everything else is in slot 0. */
const PROVIDER = 'google'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [DELIVERIES])
})
beforeEach(async () => void (await collectionOf(mongo.db, DELIVERIES).deleteMany({})))
afterAll(() => mongo.stop())

/** A claimed delivery, also in the queue. The way of an address is its domain: `dead.example` has none. */
async function claimed(rcpt: string, change: Partial<Claimed> = {}): Promise<Claimed> {
  const _id = change._id ?? `${newId('em')}.0`
  const site = rcpt.slice(rcpt.indexOf('@') + 1)
  const delivery: Claimed = {
    _id,
    m: _id.slice(0, _id.indexOf('.')),
    user_id: 'usr_1',
    rcpt,
    site,
    slot: 0,
    lane: 'transactional',
    due: new Date(NOW.getTime() + 2 * MINUTE),
    tok: 'ours',
    epoch: 1,
    att: 0,
    expires_at: new Date(NOW.getTime() + 72 * 60 * MINUTE),
    created_at: NOW,
    ...change,
  }
  const { epoch: _, ...stored } = delivery
  await collectionOf(mongo.db, DELIVERIES).insertOne(stored)
  return delivery
}

/** All deliveries of one message. */
const toAll = (rcpts: readonly string[], id = newId('em')) =>
  Promise.all(rcpts.map((rcpt, n) => claimed(rcpt, { _id: `${id}.${n}` })))

function messageOf(delivery: Claimed, channel: 'http' | 'system' = 'http'): [string, Outgoing] {
  const message = { _id: delivery.m, via: { channel }, ambiguous: 'retry', rcpts: [] }
  return [delivery.m, { message: message as never, raw: async () => undefined }]
}

/** Sorting with notes of what it did. */
function sorting({
  moves = true,
  suspended = [] as string[],
  events = [] as EventDoc[],
  down = [] as string[],
  away = false,
} = {}) {
  const hand = new Hand()
  const postponed: { delivery: Claimed; due: Date }[] = []
  const groups: Group[] = []
  const settled: Result[] = []
  const rung: string[] = []
  const reasons: string[] = []
  const paused = new Set(down)
  const sort = createSorting({
    queue: new DeliveryQueue(mongo),
    hand,
    findRoute: async rcpt => {
      const domain = rcpt.slice(rcpt.indexOf('@') + 1)
      const judged = { outcome: 'bounced', kind: 'dns' } as const
      if (domain === 'dead.example') return { kind: 'failed', failure: { judged, text: 'it takes no mail' } }
      if (domain === 'silent.example')
        return { kind: 'failed', failure: { judged: { outcome: 'deferred', kind: 'dns' }, text: 'DNS gave no answer' } }
      const site = domain === 'at-provider.example' ? PROVIDER : domain
      return { kind: 'route', site, route: { key: `mx.${domain}`, hosts: [`mx.${domain}`] } }
    },
    findEvents: async ids => {
      if (away) throw new Error('not primary')
      return new Map(events.filter(({ _id }) => ids.includes(_id)).map(event => [event._id, event]))
    },
    isSuspended: async user => suspended.includes(user),
    slotOf: site => (site === PROVIDER ? 1 : 0),
    onMoved: (slot, flow) => rung.push(`${slot} ${flow}`),
    sites: {
      isPaused: site => paused.has(site),
      unreachable(site, reason) {
        paused.add(site)
        reasons.push(reason)
      },
    },
    moves,
    world: () => ({ now: NOW, random: () => 0.5, logDays: 30 }),
    postpone(deliveries, due) {
      for (const delivery of deliveries) postponed.push({ delivery, due })
    },
    submit: group => groups.push(group),
    settle: result => settled.push(result),
    log: silentLog,
  })
  return {
    hand,
    postponed,
    groups,
    settled,
    rung,
    reasons,
    /** Sorts them as claimed a moment ago; resolves when each went somewhere. */
    async sort(deliveries: readonly Claimed[], messages = new Map(deliveries.map(one => messageOf(one)))) {
      hand.take(deliveries)
      await sort(deliveries, messages)
      const gone = () => deliveries.length - deliveries.filter(({ _id }) => hand.has(_id)).length
      const grouped = () => groups.reduce((sum, group) => sum + group.deliveries.length, 0)
      await until(() => gone() + postponed.length + grouped() + settled.length >= deliveries.length)
    },
  }
}

const stored = (_id: string) => collectionOf(mongo.db, DELIVERIES).findOne({ _id })

describe('recipients of a message', () => {
  test('share a transaction by their way, a hundred at most, and messages share none', async () => {
    const { sort, groups } = sorting()
    const many = await toAll(Array.from({ length: 250 }, (_, n) => `u${n}@example.net`))
    const mixed = await toAll(['a@example.net', 'b@example.org', 'c@example.net'])
    await sort([...many, ...mixed])
    const shown = groups.map(({ outgoing, route, deliveries }) => [
      outgoing.message._id === many[0]?.m ? 'many' : 'mixed',
      route.key,
      deliveries.length,
    ])
    expect(shown.toSorted()).toEqual([
      ['many', 'mx.example.net', 100],
      ['many', 'mx.example.net', 100],
      ['many', 'mx.example.net', 50],
      ['mixed', 'mx.example.net', 2],
      ['mixed', 'mx.example.org', 1],
    ])
    const sent = groups.flatMap(({ deliveries }) => deliveries.map(({ _id }) => _id))
    expect(new Set(sent).size).toBe(253)
  })

  test('without a way are settled, the others go out', async () => {
    const { sort, groups, settled } = sorting()
    await sort(await toAll(['a@dead.example', 'b@example.net']))
    expect(settled).toMatchObject([
      { delivery: { rcpt: 'a@dead.example' }, event: { type: 'bounced', attempt: 1, text: 'it takes no mail' } },
    ])
    expect(groups.map(({ deliveries }) => deliveries.map(({ rcpt }) => rcpt))).toEqual([['b@example.net']])
  })
})

describe('a domain that turns out to be at a provider', () => {
  test('moves to the slots of that, due at once, for whoever owns them', async () => {
    const { sort, groups, hand } = sorting()
    const [moving, staying] = await toAll(['a@at-provider.example', 'b@example.net'])
    if (!moving || !staying) throw new Error('no deliveries')
    await sort([moving, staying])
    const doc = await stored(moving._id)
    expect(doc).toMatchObject({ site: PROVIDER, slot: 1, due: NOW, att: 0 })
    expect(doc?.tok).toBeUndefined()
    expect(hand.has(moving._id)).toBe(false)
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([staying])
  })

  test.each<[string, Partial<Claimed>, boolean]>([
    ['when it is there already', { site: PROVIDER, slot: 1 }, true],
    ['when everything goes to one relay', {}, false],
  ])('stays %s', async (_, change, moves) => {
    const { sort, groups } = sorting({ moves })
    const delivery = await claimed('a@at-provider.example', change)
    await sort([delivery])
    expect(groups).toMatchObject([{ site: PROVIDER, deliveries: [{ _id: delivery._id }] }])
    expect(await stored(delivery._id)).toMatchObject({ tok: 'ours' })
  })

  test('is ready there at once, and its worker hears of it', async () => {
    const { sort, rung } = sorting()
    const delivery = await claimed('a@at-provider.example')
    await sort([delivery])
    const flow = `d 0001 ${PROVIDER} usr_1 transactional`
    expect(await stored(delivery._id)).toMatchObject({ flow, due: NOW })
    expect(rung).toEqual([`1 ${flow}`])
  })

  test('that was claimed by another worker meanwhile is left to that', async () => {
    const { sort, groups, hand } = sorting()
    const delivery = await claimed('a@at-provider.example')
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: delivery._id }, { $set: { tok: 'theirs' } })
    await sort([delivery])
    expect(await stored(delivery._id)).toMatchObject({ tok: 'theirs', slot: 0 })
    expect([groups.length, hand.size]).toEqual([0, 0])
  })

  test('and cannot be moved waits with those behind it; what was settled or handed on is not given back', async () => {
    const rcpts = ['x@dead.example', ...Array.from({ length: 101 }, (_, n) => `u${n}@example.net`)]
    const all = await toAll([...rcpts, 'm@at-provider.example', 'z@example.net'])
    const { sort, groups, settled, postponed } = sorting()
    await mongo.db.command({ collMod: DELIVERIES.name, validator: { slot: { $ne: 1 } } })
    await sort(all)
    await until(() => postponed.length > 0)
    await mongo.db.command({ collMod: DELIVERIES.name, validator: {} })
    expect(postponed.map(({ delivery }) => delivery.rcpt)).toEqual(['m@at-provider.example', 'z@example.net'])
    expect(settled.map(({ delivery }) => delivery.rcpt)).toEqual(['x@dead.example'])
    expect(groups.map(({ deliveries }) => deliveries.length)).toEqual([100, 1])
    expect(new Set(postponed.map(({ due }) => due))).toEqual(new Set([NOW]))
  })
})

describe('mail of a suspended account', () => {
  test('waits, also what is past its dot; mail of others and reports on it go out', async () => {
    const { sort, groups, postponed, settled } = sorting({ suspended: ['usr_bad'] })
    const held = await claimed('a@example.net', { user_id: 'usr_bad' })
    const marked = await claimed('b@example.net', { user_id: 'usr_bad', ph: 'dot' })
    const report = await claimed('c@example.net', { user_id: 'usr_bad' })
    const other = await claimed('d@example.net')
    const messages = new Map([messageOf(held), messageOf(marked), messageOf(report, 'system'), messageOf(other)])
    await sort([held, marked, report, other], messages)
    expect(postponed).toEqual([held, marked].map(delivery => ({ delivery, due: new Date(NOW.getTime() + 30_000) })))
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([report, other])
    expect(settled).toEqual([])
  })
})

describe('past the final dot of a worker that is gone', () => {
  const written = (delivery: Claimed, type: EventDoc['type'], change: Partial<EventDoc> = {}): EventDoc => ({
    _id: eventId(delivery._id, delivery.att + 1),
    m: delivery.m,
    user_id: delivery.user_id,
    rcpt: delivery.rcpt,
    attempt: delivery.att + 1,
    type,
    at: ago(MINUTE),
    ms: 5,
    text: 'as it was',
    exp: NOW,
    ...change,
  })

  test.each<[EventDoc['type'], Partial<EventDoc>, Result['next']]>([
    ['delivered', {}, { kind: 'delivered' }],
    ['bounced', {}, { kind: 'end', status: 'bounced', event: 'bounced' }],
    ['failed', { ambiguous: true }, { kind: 'end', status: 'failed', event: 'failed' }],
    ['expired', {}, { kind: 'end', status: 'failed', event: 'expired' }],
    ['deferred', {}, { kind: 'retry', due: new Date(NOW.getTime() + 10 * MINUTE) }],
    // Where only the reply was lost, the receiver gets its quarter of an hour.
    ['deferred', { ambiguous: true, mx: 'mx' }, { kind: 'retry', due: new Date(NOW.getTime() + 18.75 * MINUTE) }],
    ['deferred', { ambiguous: true }, { kind: 'retry', due: new Date(NOW.getTime() + 10 * MINUTE) }],
  ])('what it wrote down (%s, %o) counts', async (type, change, next) => {
    const delivery = await claimed('a@example.net', { ph: 'dot', att: 2 })
    const event = written(delivery, type, change)
    const { sort, settled, groups } = sorting({ events: [event] })
    await sort([delivery])
    expect(settled).toMatchObject([{ delivery, event, next }])
    expect(groups).toEqual([])
  })

  test('what it wrote of the attempt before says nothing', async () => {
    const delivery = await claimed('a@example.net', { ph: 'dot', att: 2 })
    const before = written({ ...delivery, att: 1 }, 'deferred')
    const { sort, settled } = sorting({ events: [before] })
    await sort([delivery])
    expect(settled).toMatchObject([{ event: { attempt: 3, type: 'deferred', ambiguous: true } }])
  })
})

test('nothing is handed on, settled or given back while the database is away', async () => {
  const { sort, settled, groups, postponed } = sorting({ down: ['down.example'], away: true })
  const expired = await claimed('a@down.example', { expires_at: NOW })
  const all = [expired, await claimed('b@x.example', { ph: 'dot' }), await claimed('c@x.example')]
  const messages = new Map(all.map(delivery => messageOf(delivery)))
  await expect(sort([...all, await claimed('d@x.example')], messages)).rejects.toThrow('not primary')
  expect([settled, groups, postponed]).toEqual([[], [], []])
})

describe('deliveries without a message', () => {
  test('wait while they are young, and go when they are old, unless somebody else holds them by then', async () => {
    const { sort, postponed, hand, groups } = sorting()
    const young = await claimed('a@example.net', { created_at: ago(10 * MINUTE) })
    const old = await claimed('b@example.net', { created_at: ago(10 * MINUTE + 1) })
    const lost = await claimed('c@example.net', { created_at: ago(60 * MINUTE) })
    const known = await claimed('d@example.net', { created_at: ago(60 * MINUTE) })
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: lost._id }, { $set: { tok: 'theirs' } })
    await sort([young, old, lost, known], new Map([messageOf(known)]))
    expect(postponed).toEqual([{ delivery: young, due: new Date(NOW.getTime() + MINUTE) }])
    await until(() => !hand.has(old._id) && !hand.has(lost._id))
    expect(await stored(old._id)).toBeNull()
    expect(await stored(lost._id)).toMatchObject({ tok: 'theirs' })
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([known])
  })
})

describe('what the account canceled', () => {
  const canceledOf = (delivery: Claimed, statuses: readonly string[]): [string, Outgoing] => {
    const [id, outgoing] = messageOf(delivery)
    const rcpts = statuses.map(status => ({ status }))
    return [id, { ...outgoing, message: { ...outgoing.message, rcpts: rcpts as never } }]
  }

  test('is cleared away, recipient by recipient, unless it may be on its way', async () => {
    const { sort, groups, settled, hand } = sorting()
    const [first, second, marked] = await toAll(['a@example.net', 'b@example.net', 'c@example.net'])
    if (!first || !second || !marked) throw new Error('no deliveries')
    const past: Claimed = { ...marked, ph: 'dot' }
    await sort([first, second, past], new Map([canceledOf(first, ['canceled', 'queued', 'canceled'])]))
    await until(() => !hand.has(first._id))
    expect(await stored(first._id)).toBeNull()
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([second])
    expect(settled).toMatchObject([{ delivery: past, event: { ambiguous: true } }])
  })
})

describe('a site that cannot be reached', () => {
  test('because DNS gives no answer costs one attempt; the other deliveries stay untouched', async () => {
    const { sort, settled, postponed, reasons } = sorting()
    await sort([await claimed('a@silent.example'), await claimed('b@silent.example')])
    expect(settled).toHaveLength(1)
    expect(settled[0]?.event).toMatchObject({ type: 'deferred', text: 'DNS gave no answer' })
    expect(postponed).toMatchObject([{ due: NOW }])
    expect(reasons).toEqual(['DNS gave no answer'])
  })

  test('is never a provider because of one domain without an answer', async () => {
    const { sort, settled, reasons } = sorting()
    const at = { site: PROVIDER, slot: 1 }
    await sort([await claimed('a@silent.example', at), await claimed('b@silent.example', at)])
    expect(settled.map(({ event }) => event.type)).toEqual(['deferred', 'deferred'])
    expect(reasons).toEqual([])
  })

  test('ends what has expired without an attempt, and says what the last one met', async () => {
    const { sort, settled, groups } = sorting({ down: ['down.example'] })
    const last = { text: 'connect ECONNREFUSED', at: NOW }
    const expired = await claimed('a@down.example', { expires_at: NOW, att: 3, last })
    const other = await claimed('b@up.example', { expires_at: NOW })
    await sort([expired, other])
    expect(settled).toMatchObject([{ event: { type: 'expired', rcpt: 'a@down.example' }, next: { kind: 'end' } }])
    expect(settled[0]?.event.text).toContain('connect ECONNREFUSED')
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([other])
  })
})
