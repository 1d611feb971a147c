/** Claiming from a real queue; what sites allow is played by the test. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { until } from '../../../../test/support/time/until.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { DELIVERIES, DeliveryQueue } from '../../store/deliveries.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { DeliveryDoc, MessageDoc } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import { Outbox } from '../../store/outgoing.ts'
import { flowOf, RELAY_SITE } from '../../store/rules/flow.ts'
import type { SiteState } from '../sites/sites.ts'
import { ClaimRounds, type ClaimRoundsOptions } from './claim-rounds.ts'
import { createGiveBack } from './give-back.ts'
import { InFlight } from './in-flight.ts'
import { WakeUps } from './wake-ups.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const ago = (ms: number) => new Date(NOW.getTime() - ms)

let mongo: Mongo
beforeEach(async () => {
  mongo = await freshDatabase()
  onTestFinished(() => mongo.stop())
  await ensureIndexes(mongo.db, [DELIVERIES])
})

/** Deliveries as acceptance writes them; `flow: undefined` makes them timed. */
async function give(...docs: (Partial<DeliveryDoc> & { _id: string })[]): Promise<void> {
  await collectionOf(mongo.db, DELIVERIES).insertMany(
    docs.map(({ flow, ...change }) => {
      const doc = {
        ...{ slot: 0, lane: 'transactional', site: 'example.net', user_id: 'usr_a', due: ago(1_000), att: 0 },
        ...{ m: change._id.split('.')[0], expires_at: new Date(NOW.getTime() + 60_000), created_at: ago(1_000) },
        ...change,
      } as DeliveryDoc
      return flow === 'timed' ? doc : { ...doc, flow: flow ?? flowOf(doc, false) }
    }),
  )
}

const many = (count: number, name: string, change: Partial<DeliveryDoc> = {}) =>
  Array.from({ length: count }, (_, n) => ({ _id: `em_${name}${String(n).padStart(4, '0')}.0`, ...change }))

/** One message to so many recipients. */
async function messageTo(count: number): Promise<void> {
  const message = { _id: 'em_m', rcpts: Array(count).fill({}), size: 1 }
  await collectionOf(mongo.db, MESSAGES).insertOne(message as unknown as MessageDoc)
  await give(...Array.from({ length: count }, (_, n) => ({ _id: `em_m.${n}` })))
}

const clock = { now: () => NOW }

function giveBackOf(inFlight: InFlight) {
  const signal = new AbortController().signal
  return createGiveBack({ queue: new DeliveryQueue(mongo), inFlight, clock, log: silentLog, signal })
}

function scene(
  options: { slots?: number[]; relay?: boolean; room?: number; down?: string[] } & Partial<ClaimRoundsOptions> = {},
) {
  const { slots = [0], relay = false, room = 1_000, down = [], ...more } = options
  const owned = { slots }
  const inFlight = more.inFlight ?? new InFlight(({ site }) => (relay ? RELAY_SITE : site))
  const taken: ClaimedDelivery[] = []
  const rooms = new Map<string, number>()
  const paused = new Set(down)
  const wakeUps = new WakeUps()
  const rounds = new ClaimRounds({
    queue: new DeliveryQueue(mongo),
    outbox: new Outbox(mongo, 30),
    inFlight,
    sites: {
      roomAt: site => Math.max(0, (rooms.get(site) ?? room) - inFlight.messagesAt(site)),
      isPaused: site => paused.has(site),
      troubled: () => [...paused].map(site => ({ site, status: 'down' }) as SiteState),
    },
    destinationLimits: { take: () => true, putBack: () => undefined, isWaiting: () => false },
    ...{ relay, wakeUps, clock, giveBack: giveBackOf(inFlight) },
    slotsOf: () => owned.slots,
    mostInFlight: 100,
    claimable: () => new Map(owned.slots.map(slot => [slot, 1])),
    ...more,
  })
  return {
    ...{ rounds, wakeUps, inFlight, taken, rooms, paused, owned },
    /** A search and one round: how many it took, and whether there may be more. */
    async next() {
      const hasMore = await rounds.search()
      const { batch, full } = await rounds.next()
      taken.push(...(batch?.deliveries ?? []))
      return { taken: batch?.deliveries.length ?? 0, full: full || hasMore }
    },
    /** Takes what has expired at sites that are down; how many. */
    async expire() {
      const before = taken.length
      for await (const { deliveries } of rounds.expired()) taken.push(...deliveries)
      return taken.length - before
    },
    ids: () => taken.map(({ id }) => id),
    /** The accounts of what was taken, in order. */
    users: () => taken.map(({ userId }) => userId),
  }
}

describe('a round', () => {
  test('takes what is ready, and timed deliveries whose time has come; nothing twice', async () => {
    await give({ _id: 'em_a.0' }, { _id: 'em_b.0', flow: 'timed' })
    await give({ _id: 'em_later.0', flow: 'timed', due: new Date(NOW.getTime() + 1) }, { _id: 'em_other.0', slot: 1 })
    const { next, ids } = scene()
    expect(await next()).toEqual({ taken: 2, full: false })
    expect(await next()).toEqual({ taken: 0, full: false })
    expect(ids().toSorted()).toEqual(['em_a.0', 'em_b.0'])
  })

  test('without slots, and with as much in flight as may be, takes nothing', async () => {
    await give(...many(5, 'a'))
    const { next, owned, inFlight } = scene({ slots: [] })
    expect(await next()).toEqual({ taken: 0, full: false })
    owned.slots = [0]
    const held = many(100, 'held').map(({ _id }) => ({ id: _id, messageId: _id, site: 'x', slot: 0 }))
    inFlight.add(held as unknown as ClaimedDelivery[])
    expect(await next()).toEqual({ taken: 0, full: false })
  })

  test('learns the flows of a hundred thousand sites with as many questions about them, and keeps 20,000', async () => {
    const names = Array.from({ length: 100_000 }, (_, n) => `d 0000 ${n}.example usr_a transactional`)
    const queue = new DeliveryQueue(mongo)
    queue.heads = async () => names.map(_id => ({ _id, due: ago(1_000) }))
    let questions = 0
    const { next } = scene({
      queue,
      sites: {
        roomAt: () => 1,
        isPaused() {
          questions++
          return false
        },
        troubled: () => [],
      },
    })
    expect(await next()).toEqual({ taken: 0, full: false })
    await next()
    expect(questions).toBeLessThan(100_000)
  })

  test('finds what a hint names immediately, without another scan of the index', async () => {
    const { next, wakeUps, ids } = scene()
    await next()
    await give({ _id: 'em_new.0' })
    wakeUps.newMail([
      flowOf({ slot: 0, site: 'example.net', user_id: 'usr_a', lane: 'transactional' }, false),
      'nonsense',
    ])
    await next()
    expect(ids()).toEqual(['em_new.0'])
  })

  test('finds what a hint named while no slot could be claimed from', async () => {
    const { next, wakeUps, ids, owned } = scene()
    await next()
    await give({ _id: 'em_new.0' })
    owned.slots = []
    wakeUps.newMail([flowOf({ slot: 0, site: 'example.net', user_id: 'usr_a', lane: 'transactional' }, false)])
    await next()
    owned.slots = [0]
    await next()
    expect(ids()).toEqual(['em_new.0'])
  })

  test('finds what no hint named, also with an old time in a flow that is being read', async () => {
    await give(...many(3, 'a'))
    const { next, ids } = scene()
    await next()
    await give({ _id: 'em_late.0', due: ago(3_600_000) })
    while (!ids().includes('em_late.0')) await next()
  })

  test('leaves what a flow holds beyond its room in the queue, untouched', async () => {
    await give(...many(50, 'a'))
    const { next, wakeUps, inFlight, taken } = scene({ room: 7 })
    await next()
    expect(taken).toHaveLength(7)
    await next()
    expect(taken).toHaveLength(7)
    for (const delivery of taken.slice(0, 3)) inFlight.leaveSite(delivery)
    wakeUps.siteHasRoom('example.net')
    await next()
    expect(taken).toHaveLength(10)
    expect(await collectionOf(mongo.db, DELIVERIES).countDocuments({ flow: { $gte: '' } })).toBe(40)
  })

  test('continues with a flow as its site gets room, without a wake-up', async () => {
    await give(...many(50, 'a'))
    const { next, inFlight, taken } = scene({ room: 7 })
    for (let left = 0; left < 50; left = taken.length) {
      await next()
      expect(taken.length).toBe(Math.min(50, left + 7))
      for (const delivery of taken) inFlight.leaveSite(delivery)
    }
  })

  test('takes the recipients of one message together, though the limit lies between them', async () => {
    await messageTo(30)
    const { next, taken, inFlight } = scene({ room: 5 })
    await next()
    expect(taken).toHaveLength(30)
    expect(inFlight.messagesAt('example.net')).toBe(1)
  })
})

test('what is given back while its claim is under way does not stay claimed', async () => {
  await give(...many(3, 'a'))
  const outbox = { load: () => Promise.reject(new Error('not primary')) }
  const { inFlight, next } = scene({ outbox })
  await expect(next()).rejects.toThrow('not primary')
  await inFlight.whenIdle(0)
  expect(await collectionOf(mongo.db, DELIVERIES).countDocuments({ tok: { $exists: true } })).toBe(0)
})

describe('fairness', () => {
  test.each([{ relay: false }, { relay: true }])(
    'an account with three messages does not wait for one with a thousand (relay: $relay)',
    async ({ relay }) => {
      const named = (user_id: string) => ({
        user_id,
        flow: flowOf({ slot: 0, site: 'example.net', user_id, lane: 'transactional' }, relay),
      })
      await give(...many(1_000, 'a', { ...named('usr_a'), due: ago(600_000) }))
      await give(...many(3, 'b', named('usr_b')))
      const { next, users } = scene({ relay, room: 20 })
      await next()
      expect(users().filter(user => user === 'usr_b')).toHaveLength(3)
      expect(users()).toHaveLength(13)
    },
  )

  test('one dead site of an account does not hold up its other mail, nor that of others', async () => {
    await give(...many(1_000, 'dead', { site: 'dead.example', due: ago(600_000) }))
    await give(...many(2, 'x', { site: 'x.example' }), ...many(2, 'y', { site: 'dead.example', user_id: 'usr_b' }))
    const { next, wakeUps, taken, paused, rooms } = scene({ down: ['dead.example'] })
    await next()
    expect(taken.map(({ site }) => site)).toEqual(['x.example', 'x.example'])
    paused.clear()
    rooms.set('dead.example', 1)
    wakeUps.siteHasRoom('dead.example')
    await next()
    expect(taken.map(({ site }) => site)).toEqual(['x.example', 'x.example', 'dead.example'])
  })

  const silent = (count: number, user_id: string) =>
    Array.from({ length: count }, (_, n) => ({ _id: `em_${user_id}${n}.0`, site: `${user_id}${n}.example`, user_id }))

  test('an account whose mail stays in flight leaves places for others, and others for the next one', async () => {
    const { next, wakeUps, users } = scene()
    for (const user of ['usr_a', 'usr_b', 'usr_c']) {
      const docs = silent(300, user)
      await give(...docs)
      wakeUps.newMail(docs.map(doc => flowOf({ slot: 0, lane: 'transactional', ...doc }, false)))
      while ((await next()).taken > 0);
    }
    const count = (user: string) => users().filter(one => one === user).length
    expect([count('usr_a'), count('usr_b'), count('usr_c')]).toEqual([75, 18, 5])
  })

  test('one account alone with a relay gets nearly everything', async () => {
    await give(...many(300, 'a', { flow: 'r usr_a transactional' }))
    const { next, inFlight } = scene({ relay: true })
    while ((await next()).taken > 0);
    expect(inFlight.size).toBe(100)
  })

  test('recipients beyond the share of an account are not taken besides', async () => {
    await messageTo(90)
    const { next, inFlight } = scene({ room: 5 })
    await next()
    expect(inFlight.size).toBe(5)
  })

  test('timed mail after a campaign of the same time becomes ready before that is delivered', async () => {
    await give(...many(5_000, 'a', { flow: 'timed', due: ago(2_000) }))
    await give({ _id: 'em_b.0', flow: 'timed', user_id: 'usr_b' })
    const { next } = scene({ room: 10 })
    await next()
    const timed = { _id: 'em_b.0', flow: { $exists: false } }
    await until(async () => (await collectionOf(mongo.db, DELIVERIES).countDocuments(timed)) === 0)
  })

  test('thousands of flows are reached a few at a time', async () => {
    await give(...Array.from({ length: 3_000 }, (_, n) => ({ _id: `em_${n}.0`, site: `s${n}.example` })))
    const { next, taken, inFlight } = scene({ mostInFlight: 5_000 })
    while (taken.length < 3_000) await next()
    expect(new Set(taken.map(({ site }) => site)).size).toBe(3_000)
    expect(inFlight.size).toBe(3_000)
  })
})

describe('slots', () => {
  test('that come are scanned immediately, that went are left alone', async () => {
    await give(...many(40, 'a'), ...many(2, 'b', { slot: 1, site: 'b.example' }))
    const { next, taken, owned } = scene({ room: 5 })
    await next()
    owned.slots = [1]
    await next()
    expect(taken.slice(5).map(({ slot }) => slot)).toEqual([1, 1])
  })

  test('that come are all scanned in the next round, however many flows are known', async () => {
    const queue = new DeliveryQueue(mongo)
    const asked: string[] = []
    const known = Array.from({ length: 3_000 }, (_, n) => ({
      _id: `d 0000 ${n}.example usr_a transactional`,
      due: ago(1_000),
    }))
    queue.heads = async ({ from }) => {
      asked.push(from)
      return from === 'd 0000 ' ? known : []
    }
    const { next, owned } = scene({ queue })
    await next()
    owned.slots = [0, 1, 2, 3]
    asked.length = 0
    await next()
    expect(asked.slice(0, 3)).toEqual(['d 0001 ', 'd 0002 ', 'd 0003 '])
  })

  test('that are given back while a round reads are not claimed from any more', async () => {
    await give(...many(3, 'a'), ...many(2, 'b', { slot: 1, site: 'b.example' }))
    const queue = new DeliveryQueue(mongo)
    const { next, taken, owned, inFlight } = scene({ queue, slots: [0, 1] })
    const ready = queue.ready.bind(queue)
    queue.ready = async (...given) => {
      owned.slots = [1]
      return ready(...given)
    }
    await next()
    expect(taken.map(({ slot }) => slot)).toEqual([1, 1])
    expect(inFlight.size).toBe(2)
    const stored = await collectionOf(mongo.db, DELIVERIES).find({ slot: 0 }).toArray()
    expect(stored.every(({ tok }) => tok === undefined)).toBe(true)
  })

  test('of others are passed over in relay mode, where flows span all slots', async () => {
    const flow = 'r usr_a transactional'
    await give(...many(10, 'a', { flow }), ...many(10, 'b', { flow, slot: 1 }))
    const { next, taken } = scene({ relay: true, slots: [1] })
    await next()
    expect(taken.map(({ slot }) => slot)).toEqual(Array(10).fill(1))
  })
})

test('what a failover put back while it is in flight makes no round follow immediately', async () => {
  const [one] = many(1, 'a')
  await give(one as { _id: string })
  const { next, wakeUps, inFlight, taken } = scene()
  await next()
  await collectionOf(mongo.db, DELIVERIES).deleteMany({})
  await give(one as { _id: string })
  wakeUps.newMail([taken[0]?.flow ?? ''])
  expect(await next()).toEqual({ taken: 0, full: false })
  expect(inFlight.size).toBe(1)
})

test('the age of the oldest mail is known from the scan of the index', async () => {
  const { next, rounds, owned } = scene()
  expect(rounds.oldest()).toBeUndefined()
  await give({ _id: 'em_a.0' }, { _id: 'em_b.0', site: 'b.example', due: ago(9_000) })
  await next()
  expect(rounds.oldest()).toEqual(ago(9_000))
  owned.slots = []
  expect(rounds.oldest()).toBeUndefined()
})

test('mail that was accepted in the other delivery mode is found', async () => {
  await give(...many(3, 'a', { flow: 'r usr_a transactional' }))
  const { next, taken } = scene()
  while (taken.length < 3) await next()
  expect(taken).toHaveLength(3)
})

test('mail of the previous release, which names no flow, is found', async () => {
  await give(...many(3, 'a', { flow: 'timed', due: ago(1) }))
  const { next, taken } = scene()
  await next()
  expect(taken).toHaveLength(3)
})

test('mail that expires after mail with a longer lifetime is found, however long the queue', async () => {
  const site = 'down.example'
  const at = (n: number) => ago(9_000 - Math.floor(n / 3))
  await give(...many(5_000, 'long', { site }).map((one, n) => ({ ...one, due: at(n) })))
  await give(...many(3, 'short', { site, expires_at: ago(1), due: at(4_500) }))
  await give({ _id: 'em_other.0', site, user_id: 'usr_b', due: ago(9_000) })
  await give({ _id: 'em_othershort.0', site, user_id: 'usr_b', expires_at: ago(1), due: ago(1) })
  const { expire, ids } = scene({ down: [site] })
  for (let n = 0; n < 8; n++) await expire()
  expect(ids().toSorted()).toEqual(['em_othershort.0', ...many(3, 'short').map(({ _id }) => _id)])
})

test('what has expired at a site that is down is taken to be ended, and nothing else of it', async () => {
  const expired = { site: 'down.example', expires_at: ago(1), due: ago(9_000) }
  await give(...many(5, 'old', expired), ...many(5, 'young', { site: 'down.example' }))
  await give(...many(5, 'up', { ...expired, site: 'up.example' }))
  const { expire, ids } = scene({ down: ['down.example'] })
  expect(await expire()).toBe(5)
  expect(ids().every(id => id.startsWith('em_old'))).toBe(true)
  expect(await expire()).toBe(0)
})
