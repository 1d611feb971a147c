import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { DELIVERIES, DeliveryQueue, NO_FLOW, underClaim } from './deliveries.ts'
import { type ClaimedDelivery, type Delivery, toDelivery } from './delivery.ts'
import type { DeliveryDoc } from './documents.ts'
import { flowOf, rangeOfOtherMode, rangesOfSlots } from './rules/flow.ts'

const now = new Date('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000)

let mongo: Mongo
let queue: DeliveryQueue
beforeEach(async () => {
  await mongo?.stop()
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [DELIVERIES])
  queue = new DeliveryQueue(mongo)
})
afterAll(() => mongo?.stop())

async function give(_id: string, change: Partial<DeliveryDoc> = {}): Promise<Delivery> {
  const doc: DeliveryDoc = {
    _id,
    m: _id.split('.')[0] ?? '',
    user_id: 'usr_1',
    rcpt: 'b@example.net',
    site: 'example.net',
    slot: 0,
    lane: 'transactional',
    due: at(-10),
    att: 0,
    expires_at: at(86_400),
    created_at: at(-20),
    ...change,
  }
  await collectionOf(mongo.db, DELIVERIES).insertOne(doc)
  return toDelivery(doc)
}

const stored = (_id: string) => collectionOf(mongo.db, DELIVERIES).findOne({ _id })
const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

/** Claims these as the owner of slot 0. */
async function claim(docs: readonly Delivery[], claimToken: string, epoch = 1): Promise<readonly ClaimedDelivery[]> {
  const scope = { epochs: new Map([[0, epoch]]), claimToken, now, until: at(120) }
  return queue.claim(underClaim(docs, scope), scope)
}

const FLOW = flowOf({ slot: 0, site: 'example.net', user_id: 'usr_1', lane: 'transactional' }, false)
const ALL = { from: 'd ', to: 'd!' }
const none = { limit: 100, relay: false, skip: () => false }

describe('flows', () => {
  test('are found with their earliest time, each once, in a range', async () => {
    const bulk = flowOf({ slot: 1, site: 'example.org', user_id: 'usr_1', lane: 'bulk' }, false)
    await give('em_a.0', { flow: FLOW, due: at(-9) })
    await give('em_b.0', { flow: FLOW, due: at(-5) })
    await give('em_c.0', { flow: bulk, slot: 1, due: at(-7) })
    await give('em_timed.0')
    expect(await queue.heads(ALL)).toEqual([
      { _id: FLOW, due: at(-9) },
      { _id: bulk, due: at(-7) },
    ])
    const [range = ALL] = rangesOfSlots([1], false)
    expect(await queue.heads(range)).toEqual([{ _id: bulk, due: at(-7) }])
  })

  test('are read oldest first, a few of each, only what is due, and from a time on', async () => {
    const other = flowOf({ slot: 1, site: 'example.org', user_id: 'usr_2', lane: 'bulk' }, false)
    for (const [n, due] of [-5, -9, -1, 5].entries()) await give(`em_${n}.0`, { flow: FLOW, due: at(due) })
    await give('em_o.0', { flow: other, slot: 1 })
    const read = async (...wanted: Parameters<DeliveryQueue['ready']>[0]) => ids(await queue.ready(wanted, now))
    expect(await read({ flow: FLOW, count: 2 })).toEqual(['em_1.0', 'em_0.0'])
    expect(await read({ flow: FLOW, count: 9 }, { flow: other, count: 9 })).toEqual([
      ...['em_1.0', 'em_0.0', 'em_2.0', 'em_o.0'],
    ])
    expect(await read({ flow: FLOW, count: 9, from: at(-5) })).toEqual(['em_0.0', 'em_2.0'])
    expect(await read({ flow: FLOW, count: 9, slots: [3] })).toEqual([])
    expect(await read()).toEqual([])
    expect(ids(await queue.firstOfEach([FLOW, other, 'd none'], now)).toSorted()).toEqual(['em_1.0', 'em_o.0'])
  })

  test('cost the same however much waits in them', async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => give(`em_${n}.0`, { flow: FLOW, due: at(-n) }))
    await Promise.all(many)
    const examined = async (work: () => Promise<unknown>) => {
      await mongo.db.command({ profile: 2 })
      await work()
      await mongo.db.command({ profile: 0 })
      const entries = await mongo.db
        .collection('system.profile')
        .find({ op: { $ne: 'insert' } })
        .toArray()
      await mongo.db.collection('system.profile').drop()
      return entries.reduce((sum, { keysExamined = 0 }) => sum + Number(keysExamined), 0)
    }
    expect(await examined(() => queue.heads(ALL))).toBeLessThan(10)
    expect(await examined(() => queue.firstOfEach([FLOW], now))).toBeLessThan(10)
    expect(await examined(() => queue.ready([{ flow: FLOW, count: 5 }], now))).toBeLessThan(10)
  })

  test('name the recipients of one message that are ready', async () => {
    for (const n of [0, 1, 2]) await give(`em_a.${n}`, { flow: FLOW })
    await give('em_a.3', { flow: `${FLOW}x` })
    await give('em_a.4')
    await give('em_ab.0', { flow: FLOW })
    expect(ids(await queue.siblings('em_a', FLOW, now))).toEqual(['em_a.0', 'em_a.1', 'em_a.2'])
  })
})

describe('a timed delivery', () => {
  test('becomes ready in its flow when its time has come, in these slots only', async () => {
    await give('em_due.0')
    await give('em_now.0', { due: now })
    await give('em_later.0', { due: at(1) })
    await give('em_other.0', { slot: 1 })
    await give('em_held.0', { due: at(-3), tok: 'in hand' })
    const found = await queue.makeReady([0], { now }, { ...none, skip: id => id === 'em_held.0' })
    expect(found).toEqual({ flows: new Set([FLOW]), full: false })
    const flows = await Promise.all(['due', 'now', 'later', 'other', 'held'].map(name => stored(`em_${name}.0`)))
    expect(flows.map(doc => doc?.flow)).toEqual([FLOW, FLOW, undefined, undefined, undefined])
  })

  test('is limited per claim, and is looked for from a time on', async () => {
    for (let n = 0; n < 5; n++) await give(`em_${n}.0`, { due: at(-10 + n) })
    expect(await queue.makeReady([0], { now }, { ...none, limit: 2 })).toMatchObject({ full: true })
    expect(await queue.makeReady([0], { from: at(-7), now }, none)).toMatchObject({ full: false })
    const left = await collectionOf(mongo.db, DELIVERIES).find({ flow: NO_FLOW }).toArray()
    expect(left.map(({ _id }) => _id)).toEqual(['em_2.0'])
  })

  test('is what remains of one that waited under the names of the other mode', async () => {
    await give('em_a.0', { flow: 'r usr_1 transactional' })
    await give('em_b.0', { flow: FLOW })
    expect(await queue.forgetFlows(rangeOfOtherMode(false), 10)).toBe(1)
    expect(await stored('em_a.0')).not.toHaveProperty('flow')
    expect(await queue.forgetFlows(rangeOfOtherMode(false), 10)).toBe(0)
    await queue.makeReady([0], { now }, none)
    expect(await stored('em_a.0')).toMatchObject({ flow: FLOW })
  })
})

describe('a claim', () => {
  test('moves claimed deliveries past their visibility timeout; a second claim gets none of them', async () => {
    const docs = [await give('em_a.0', { flow: FLOW }), await give('em_b.0', { flow: FLOW })]
    const first = await claim(docs, 'one')
    expect(first.map(({ claimToken, epoch }) => [claimToken, epoch])).toEqual([
      ['one', 1],
      ['one', 1],
    ])
    expect(await stored('em_a.0')).toMatchObject({ tok: 'one', due: at(120) })
    expect(await stored('em_a.0')).not.toHaveProperty('flow')
    expect(await queue.ready([{ flow: FLOW, count: 9 }], now)).toEqual([])
    expect(await claim(docs, 'two')).toEqual([])
    expect(await stored('em_a.0')).toMatchObject({ tok: 'one' })
  })

  test('takes what is left when another was quicker with some', async () => {
    const docs = [await give('em_a.0'), await give('em_b.0')]
    await claim(docs.slice(0, 1), 'one')
    expect(ids(await claim(docs, 'two'))).toEqual(['em_b.0'])
  })
})

describe('writes of a holder', () => {
  /** One delivery that was claimed, and then claimed by another worker; with the holder that lost it. */
  async function lost(): Promise<{ old: ClaimedDelivery; fresh: ClaimedDelivery }> {
    const doc = await give('em_a.0')
    const [old] = await claim([doc], 'old')
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: doc.id }, { $set: { due: at(-1) } })
    const [fresh] = await claim([doc], 'fresh', 2)
    if (!old || !fresh) throw new Error('both claims succeed')
    return { old, fresh }
  }

  test('the mark before the dot is refused to one that lost the claim, kept for the other', async () => {
    const { old, fresh } = await lost()
    expect(await queue.markDot([old])).toEqual(new Set())
    expect(await stored('em_a.0')).not.toHaveProperty('ph')
    expect(await queue.markDot([fresh, { ...old, id: 'em_gone.0' }])).toEqual(new Set(['em_a.0']))
    expect(await stored('em_a.0')).toMatchObject({ ph: 'dot' })
  })

  test.each([
    ['keep', (held: ClaimedDelivery) => queue.keep([held], at(999))],
    ['release', (held: ClaimedDelivery) => queue.release([held], at(999))],
    ['move', (held: ClaimedDelivery) => queue.move([held], { site: 'elsewhere', slot: 9, flow: 'd', due: at(999) })],
    ['reschedule', (held: ClaimedDelivery) => queue.reschedule([{ held, next: { due: at(999), attempts: 5 } }])],
    ['remove', (held: ClaimedDelivery) => queue.remove([held])],
  ])('%s changes nothing for one that lost the claim', async (_, write) => {
    const { old } = await lost()
    const before = await stored('em_a.0')
    await write(old)
    expect(await stored('em_a.0')).toEqual(before)
  })

  test('giving back keeps the mark, another attempt takes it off', async () => {
    const [held] = await claim([await give('em_a.0')], 'one')
    if (!held) throw new Error('the claim succeeds')
    await queue.markDot([held])
    await queue.release([held], at(5))
    const released = await stored('em_a.0')
    expect(released).toMatchObject({ ph: 'dot', due: at(5) })
    expect(released).not.toHaveProperty('tok')
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: 'em_a.0' }, { $set: { tok: 'one' } })
    expect(await queue.reschedule([{ held, next: { due: at(60), attempts: 1 } }])).toBe(1)
    const again = await stored('em_a.0')
    expect(again).toMatchObject({ due: at(60), att: 1 })
    expect(again).not.toHaveProperty('ph')
    expect(again).not.toHaveProperty('tok')
  })

  test('a delivered one is removed whoever holds it, unless the holder is past its own mark', async () => {
    const { fresh } = await lost()
    await give('em_b.0')
    await queue.markDot([fresh])
    await queue.removeDelivered(['em_a.0', 'em_b.0'])
    expect(await stored('em_a.0')).not.toBeNull()
    expect(await stored('em_b.0')).toBeNull()
  })

  test('nothing to write is no command', async () => {
    expect(await queue.remove([])).toBe(0)
    expect(await queue.reschedule([])).toBe(0)
  })
})

describe('taking a slot over', () => {
  test('makes what its last owner held due immediately, and leaves waiting retries alone', async () => {
    await give('em_held.0', { tok: 'gone', due: at(90) })
    await give('em_retry.0', { due: at(90) })
    await give('em_scheduled.0', { due: at(9_000), tok: 'kept' })
    await give('em_other.0', { slot: 1, tok: 'theirs', due: at(90) })
    await queue.recover([0], now, 120_000)
    expect((await stored('em_held.0'))?.due).toEqual(now)
    expect((await stored('em_retry.0'))?.due).toEqual(at(90))
    expect((await stored('em_scheduled.0'))?.due).toEqual(at(9_000))
    expect((await stored('em_other.0'))?.due).toEqual(at(90))
  })

  test('the queue is counted: what is due or ready, and what waits', async () => {
    await give('em_a.0', { due: at(-30) })
    await give('em_b.0', { due: at(-3), lane: 'bulk' })
    await give('em_c.0', { due: at(30) })
    await give('em_d.0', { due: at(-99), slot: 1 })
    await give('em_e.0', { flow: FLOW })
    await give('em_f.0', { flow: `d 0001 example.net usr_1 bulk`, slot: 1 })
    expect(await queue.measure([0], rangesOfSlots([0], false), now)).toEqual({ due: 3, later: 1 })
    expect(await queue.measure([5], rangesOfSlots([5], false), now)).toEqual({ due: 0, later: 0 })
  })
})
