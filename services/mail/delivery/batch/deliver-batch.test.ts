/** What becomes of claimed deliveries, against a real queue; routes, accounts and what follows are played by the test. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { until } from '../../../../test/support/time/until.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { DELIVERIES, DeliveryQueue } from '../../store/deliveries.ts'
import { type ClaimedDelivery, toDelivery } from '../../store/delivery.ts'
import type { DeliveryDoc, EventDoc } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { InFlight } from '../claiming/in-flight.ts'
import { WakeUps } from '../claiming/wake-ups.ts'
import type { Result } from './attempt-result.ts'
import { createClassify } from './classify-claimed.ts'
import { BatchDelivery } from './deliver-batch.ts'
import type { Group } from './group-by-route.ts'

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

/** A claimed delivery, also in the queue. The route of an address is its domain: `dead.example` has none. */
async function claimed(rcpt: string, change: Partial<DeliveryDoc> = {}): Promise<ClaimedDelivery> {
  const _id = change._id ?? `${newId('em')}.0`
  const site = rcpt.slice(rcpt.indexOf('@') + 1)
  const stored: DeliveryDoc = {
    _id,
    m: _id.slice(0, _id.indexOf('.')),
    user_id: 'usr_1',
    rcpt,
    site,
    slot: 0,
    lane: 'transactional',
    due: new Date(NOW.getTime() + 2 * MINUTE),
    tok: 'ours',
    att: 0,
    expires_at: new Date(NOW.getTime() + 72 * 60 * MINUTE),
    created_at: NOW,
    ...change,
  }
  await collectionOf(mongo.db, DELIVERIES).insertOne(stored)
  return { ...toDelivery(stored), claimToken: 'ours', epoch: 1 }
}

/** All deliveries of one message. */
const toAll = (rcpts: readonly string[], id = newId('em')) =>
  Promise.all(rcpts.map((rcpt, n) => claimed(rcpt, { _id: `${id}.${n}` })))

function messageOf(delivery: ClaimedDelivery, channel: 'http' | 'system' = 'http'): [string, Outgoing] {
  const message = { _id: delivery.messageId, via: { channel }, ambiguous: 'retry', rcpts: [] }
  return [delivery.messageId, { message: message as never, raw: async () => undefined }]
}

const entryOf = (email: string) => ({ email, stream: '', reason: 'complaint' as const, created_at: NOW })

/** The walk of a batch with notes of what it did. */
function delivering({
  relay = false,
  suspended = [] as string[],
  suppressed = [] as string[],
  events = [] as EventDoc[],
  down = [] as string[],
  away = false,
  heldUser = '',
} = {}) {
  const inFlight = new InFlight()
  const postponed: { delivery: ClaimedDelivery; due: Date }[] = []
  const groups: Group[] = []
  const settled: Result[] = []
  const moved: string[] = []
  const reasons: string[] = []
  const paused = new Set(down)
  const context = () => ({ now: NOW, random: () => 0.5, logDays: 30 })
  const sites = {
    isPaused: (site: string) => paused.has(site),
    unreachable(site: string, reason: string) {
      paused.add(site)
      reasons.push(reason)
    },
  }
  const delivery = new BatchDelivery({
    ...{ inFlight, sites, relay, context, log: silentLog, queue: new DeliveryQueue(mongo), wakeUps: new WakeUps() },
    classify: createClassify({
      heldMail: { find: ({ userId }) => (userId === heldUser ? 'hold_1' : undefined) },
      ...{ sites, relay, context, isSuspended: async user => suspended.includes(user) },
      findSuppressed: async questions =>
        questions.map(
          ({ emails }) => new Map(emails.filter(one => suppressed.includes(one)).map(one => [one, entryOf(one)])),
        ),
      async findEvents(ids) {
        if (away) throw new Error('not primary')
        return new Map(events.filter(({ _id }) => ids.includes(_id)).map(event => [event._id, event]))
      },
    }),
    findPersonalFields: () => undefined,
    findTracking: async () => undefined,
    findReturnPath: async () => undefined,
    findCapture: async () => undefined,
    async findRoute(rcpt) {
      const domain = rcpt.slice(rcpt.indexOf('@') + 1)
      const bounced = { outcome: 'bounced', kind: 'dns' } as const
      const deferred = { outcome: 'deferred', kind: 'dns' } as const
      if (domain === 'dead.example')
        return { kind: 'failed', failure: { classification: bounced, text: 'it takes no mail' } }
      if (domain === 'silent.example')
        return { kind: 'failed', failure: { classification: deferred, text: 'DNS gave no answer' } }
      if (domain === 'broken.example') throw new Error('a route that cannot be looked for')
      const site = domain === 'at-provider.example' ? PROVIDER : domain
      return { kind: 'route', site, route: { key: `mx.${domain}`, hosts: [`mx.${domain}`] } }
    },
    slotOf: site => (site === PROVIDER ? 1 : 0),
    onMoved: (slot, flow) => moved.push(`${slot} ${flow}`),
    giveBack: {
      postpone(deliveries, due) {
        for (const one of deliveries) postponed.push({ delivery: one, due })
      },
      putBack: async () => undefined,
    },
    async send(group) {
      groups.push(group)
      return { results: [], untouched: [] }
    },
    settle: async result => void settled.push(result),
  })
  return {
    ...{ inFlight, postponed, groups, settled, moved, reasons },
    /** Delivers them as claimed a moment ago; resolves when each went somewhere. */
    async deliver(deliveries: readonly ClaimedDelivery[], messages = new Map(deliveries.map(one => messageOf(one)))) {
      inFlight.add(deliveries)
      await delivery.deliver({ deliveries, messages })
      const ended = () => deliveries.length - deliveries.filter(({ id }) => inFlight.has(id)).length
      const grouped = () => groups.reduce((sum, group) => sum + group.deliveries.length, 0)
      await until(() => ended() + postponed.length + grouped() >= deliveries.length)
    },
  }
}

const stored = (_id: string) => collectionOf(mongo.db, DELIVERIES).findOne({ _id })

describe('recipients of a message', () => {
  test('share a transaction by their route, a hundred at most, and messages share none', async () => {
    const { deliver, groups } = delivering()
    const many = await toAll(Array.from({ length: 250 }, (_, n) => `u${n}@example.net`))
    const mixed = await toAll(['a@example.net', 'b@example.org', 'c@example.net'])
    await deliver([...many, ...mixed])
    const shown = groups.map(({ outgoing, route, deliveries }) => [
      outgoing.message._id === many[0]?.messageId ? 'many' : 'mixed',
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
    const sent = groups.flatMap(({ deliveries }) => deliveries.map(({ id }) => id))
    expect(new Set(sent).size).toBe(253)
  })

  test('without a route are settled, the others go out', async () => {
    const { deliver, groups, settled } = delivering()
    await deliver(await toAll(['a@dead.example', 'b@example.net']))
    expect(settled).toMatchObject([
      { delivery: { recipient: 'a@dead.example' }, event: { type: 'bounced', attempt: 1, text: 'it takes no mail' } },
    ])
    expect(groups.map(({ deliveries }) => deliveries.map(({ recipient }) => recipient))).toEqual([['b@example.net']])
  })
})

describe('a domain that turns out to be at a provider', () => {
  test('moves to the slots of that, due immediately, for whoever owns them', async () => {
    const { deliver, groups, inFlight } = delivering()
    const [moving, staying] = await toAll(['a@at-provider.example', 'b@example.net'])
    if (!moving || !staying) throw new Error('no deliveries')
    await deliver([moving, staying])
    const doc = await stored(moving.id)
    expect(doc).toMatchObject({ site: PROVIDER, slot: 1, due: NOW, att: 0 })
    expect(doc?.tok).toBeUndefined()
    expect(inFlight.has(moving.id)).toBe(false)
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([staying])
  })

  test.each<[string, Partial<DeliveryDoc>, boolean]>([
    ['when it is there already', { site: PROVIDER, slot: 1 }, false],
    ['when everything goes to one relay', {}, true],
  ])('stays %s', async (_, change, relay) => {
    const { deliver, groups } = delivering({ relay })
    const delivery = await claimed('a@at-provider.example', change)
    await deliver([delivery])
    expect(groups).toMatchObject([{ site: PROVIDER, deliveries: [{ id: delivery.id }] }])
    expect(await stored(delivery.id)).toMatchObject({ tok: 'ours' })
  })

  test('is ready there immediately, and its worker hears of it', async () => {
    const { deliver, moved } = delivering()
    const delivery = await claimed('a@at-provider.example')
    await deliver([delivery])
    const flow = `d 0001 ${PROVIDER} usr_1 transactional`
    expect(await stored(delivery.id)).toMatchObject({ flow, due: NOW })
    expect(moved).toEqual([`1 ${flow}`])
  })

  test('that was claimed by another worker since is left to that', async () => {
    const { deliver, groups, inFlight } = delivering()
    const delivery = await claimed('a@at-provider.example')
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: delivery.id }, { $set: { tok: 'theirs' } })
    await deliver([delivery])
    expect(await stored(delivery.id)).toMatchObject({ tok: 'theirs', slot: 0 })
    expect([groups.length, inFlight.size]).toEqual([0, 0])
  })

  test('and cannot be moved waits; the others go on', async () => {
    const rcpts = ['x@dead.example', ...Array.from({ length: 101 }, (_, n) => `u${n}@example.net`)]
    const all = await toAll([...rcpts, 'm@at-provider.example', 'z@example.net'])
    const { deliver, groups, settled, postponed } = delivering()
    await mongo.db.command({ collMod: DELIVERIES.name, validator: { slot: { $ne: 1 } } })
    await deliver(all)
    await mongo.db.command({ collMod: DELIVERIES.name, validator: {} })
    expect(postponed).toMatchObject([{ delivery: { recipient: 'm@at-provider.example' }, due: NOW }])
    expect(settled.map(({ delivery }) => delivery.recipient)).toEqual(['x@dead.example'])
    expect(groups.map(({ deliveries }) => deliveries.length)).toEqual([100, 2])
  })
})

test('a route that cannot be looked for gives back what is left of the message; what has a route goes out', async () => {
  const { deliver, groups, postponed } = delivering()
  await deliver(await toAll(['a@example.net', 'b@broken.example', 'c@example.net']))
  expect(postponed.map(({ delivery }) => delivery.recipient)).toEqual(['b@broken.example', 'c@example.net'])
  expect(groups.flatMap(({ deliveries }) => deliveries.map(({ recipient }) => recipient))).toEqual(['a@example.net'])
})

describe('mail of a suspended account', () => {
  test('waits, also what is past its dot; mail of others and reports on it go out', async () => {
    const { deliver, groups, postponed, settled } = delivering({ suspended: ['usr_bad'] })
    const held = await claimed('a@example.net', { user_id: 'usr_bad' })
    const marked = await claimed('b@example.net', { user_id: 'usr_bad', ph: 'dot' })
    const report = await claimed('c@example.net', { user_id: 'usr_bad' })
    const other = await claimed('d@example.net')
    const messages = new Map([messageOf(held), messageOf(marked), messageOf(report, 'system'), messageOf(other)])
    await deliver([held, marked, report, other], messages)
    expect(postponed).toEqual([held, marked].map(delivery => ({ delivery, due: new Date(NOW.getTime() + 30_000) })))
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([report, other])
    expect(settled).toEqual([])
  })
})

describe('past the final dot of a worker that is gone', () => {
  const written = (delivery: ClaimedDelivery, type: EventDoc['type'], change: Partial<EventDoc> = {}): EventDoc => ({
    _id: eventId(delivery.id, delivery.attempts + 1),
    m: delivery.messageId,
    user_id: delivery.userId,
    rcpt: delivery.recipient,
    attempt: delivery.attempts + 1,
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
  ])('what it recorded (%s, %o) counts', async (type, change, next) => {
    const delivery = await claimed('a@example.net', { ph: 'dot', att: 2 })
    const event = written(delivery, type, change)
    const { deliver, settled, groups } = delivering({ events: [event] })
    await deliver([delivery])
    expect(settled).toMatchObject([{ delivery, event, next }])
    expect(groups).toEqual([])
  })

  test('ignores what it recorded of the attempt before', async () => {
    const delivery = await claimed('a@example.net', { ph: 'dot', att: 2 })
    const before = written({ ...delivery, attempts: 1 }, 'deferred')
    const { deliver, settled } = delivering({ events: [before] })
    await deliver([delivery])
    expect(settled).toMatchObject([{ event: { attempt: 3, type: 'deferred', ambiguous: true } }])
  })
})

test('while the database is away all of a batch is given back, and nothing else is done', async () => {
  const { deliver, settled, groups, postponed } = delivering({ down: ['down.example'], away: true })
  const expired = await claimed('a@down.example', { expires_at: NOW })
  const known = [expired, await claimed('b@x.example', { ph: 'dot' }), await claimed('c@x.example')]
  const messages = new Map(known.map(delivery => messageOf(delivery)))
  const all = [...known, await claimed('d@x.example')]
  await expect(deliver(all, messages)).rejects.toThrow('not primary')
  expect([settled, groups]).toEqual([[], []])
  expect(postponed).toEqual(all.map(delivery => ({ delivery, due: NOW })))
})

describe('deliveries without a message', () => {
  test('wait while they are young, and go when they are old, unless another worker holds them by then', async () => {
    const { deliver, postponed, inFlight, groups } = delivering()
    const young = await claimed('a@example.net', { created_at: ago(10 * MINUTE) })
    const old = await claimed('b@example.net', { created_at: ago(10 * MINUTE + 1) })
    const lost = await claimed('c@example.net', { created_at: ago(60 * MINUTE) })
    const known = await claimed('d@example.net', { created_at: ago(60 * MINUTE) })
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: lost.id }, { $set: { tok: 'theirs' } })
    await deliver([young, old, lost, known], new Map([messageOf(known)]))
    expect(postponed).toEqual([{ delivery: young, due: new Date(NOW.getTime() + MINUTE) }])
    await until(() => !inFlight.has(old.id) && !inFlight.has(lost.id))
    expect(await stored(old.id)).toBeNull()
    expect(await stored(lost.id)).toMatchObject({ tok: 'theirs' })
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([known])
  })
})

describe('what the account canceled', () => {
  const canceledOf = (delivery: ClaimedDelivery, statuses: readonly string[]): [string, Outgoing] => {
    const [id, outgoing] = messageOf(delivery)
    const rcpts = statuses.map(status => ({ status }))
    return [id, { ...outgoing, message: { ...outgoing.message, rcpts: rcpts as never } }]
  }

  test('is cleared away, recipient by recipient, unless it may be on its way', async () => {
    const { deliver, groups, settled, inFlight } = delivering()
    const [first, second, marked] = await toAll(['a@example.net', 'b@example.net', 'c@example.net'])
    if (!first || !second || !marked) throw new Error('no deliveries')
    const past: ClaimedDelivery = { ...marked, isMarked: true }
    await deliver([first, second, past], new Map([canceledOf(first, ['canceled', 'queued', 'canceled'])]))
    await until(() => !inFlight.has(first.id))
    expect(await stored(first.id)).toBeNull()
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([second])
    expect(settled).toMatchObject([{ delivery: past, event: { ambiguous: true } }])
  })
})

describe('a recipient that was suppressed since', () => {
  test('ends without an attempt; the others of its message go out, and mail of the system goes to all', async () => {
    const { deliver, groups, settled } = delivering({ suppressed: ['ann@example.net'] })
    const [listed, other] = await toAll(['ann@example.net', 'bob@example.net'])
    const report = await claimed('ann@example.net')
    if (!listed || !other) throw new Error('no deliveries')
    await deliver([listed, other, report], new Map([messageOf(listed), messageOf(report, 'system')]))
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual(expect.arrayContaining([other, report]))
    expect(settled).toMatchObject([
      {
        delivery: listed,
        next: { kind: 'end', status: 'suppressed' },
        event: { type: 'suppressed', attempt: 1, explanation: { code: 'delivery.suppressed' } },
      },
    ])
  })

  test('alone leaves nothing to send', async () => {
    const { deliver, groups, settled } = delivering({ suppressed: ['ann@example.net'] })
    await deliver([await claimed('ann@example.net')])
    expect([groups.length, settled.length]).toEqual([0, 1])
  })
})

describe('a site that cannot be reached', () => {
  test('because DNS gives no answer costs one attempt; the other deliveries stay untouched', async () => {
    const { deliver, settled, postponed, reasons } = delivering()
    await deliver([await claimed('a@silent.example'), await claimed('b@silent.example')])
    expect(settled).toHaveLength(1)
    expect(settled[0]?.event).toMatchObject({ type: 'deferred', text: 'DNS gave no answer' })
    expect(postponed).toMatchObject([{ due: NOW }])
    expect(reasons).toEqual(['DNS gave no answer'])
  })

  test('is never a provider because of one domain without an answer', async () => {
    const { deliver, settled, reasons } = delivering()
    const at = { site: PROVIDER, slot: 1 }
    await deliver([await claimed('a@silent.example', at), await claimed('b@silent.example', at)])
    expect(settled.map(({ event }) => event.type)).toEqual(['deferred', 'deferred'])
    expect(reasons).toEqual([])
  })

  test('ends expired deliveries without an attempt, with the result of the last one', async () => {
    const { deliver, settled, groups } = delivering({ down: ['down.example'] })
    const last = { text: 'connect ECONNREFUSED', at: NOW }
    const expired = await claimed('a@down.example', { expires_at: NOW, att: 3, last })
    const other = await claimed('b@up.example', { expires_at: NOW })
    await deliver([expired, other])
    expect(settled).toMatchObject([{ event: { type: 'expired', rcpt: 'a@down.example' }, next: { kind: 'end' } }])
    expect(settled[0]?.event.text).toContain('connect ECONNREFUSED')
    expect(groups.flatMap(({ deliveries }) => deliveries)).toEqual([other])
  })
})
