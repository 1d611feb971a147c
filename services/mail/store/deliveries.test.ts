import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/mongo.ts'
import { type Claimed, DELIVERIES, DeliveryQueue, underClaim } from './deliveries.ts'
import type { DeliveryDoc } from './documents.ts'

const now = new Date('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
const nobody = () => false

let mongo: Mongo
let queue: DeliveryQueue
beforeEach(async () => {
  await mongo?.stop()
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [DELIVERIES])
  queue = new DeliveryQueue(mongo)
})
afterAll(() => mongo.stop())

async function give(_id: string, change: Partial<DeliveryDoc> = {}): Promise<DeliveryDoc> {
  const doc: DeliveryDoc = {
    _id,
    cell: 0,
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
  return doc
}

const stored = (_id: string) => collectionOf(mongo.db, DELIVERIES).findOne({ _id })
const ids = (docs: readonly { _id: string }[]) => docs.map(({ _id }) => _id)

/** Claims these as the owner of slot 0. */
async function claim(docs: readonly DeliveryDoc[], tok: string, epoch = 1): Promise<readonly Claimed[]> {
  const scope = { epochs: new Map([[0, epoch]]), tok, now, until: at(120) }
  return queue.claim(underClaim(docs, scope), scope)
}

describe('what is due', () => {
  test('is found in these slots, oldest first, and only when its time has come', async () => {
    await give('em_b.0', { due: at(-5) })
    await give('em_a.0', { due: at(-9) })
    await give('em_now.0', { due: now })
    await give('em_later.0', { due: at(1) })
    await give('em_other.0', { slot: 1 })
    await give('em_system.0', { lane: 'system', due: at(-7) })
    const found = await queue.findDue([0], { now }, 10, nobody)
    expect(ids(found)).toEqual(['em_a.0', 'em_system.0', 'em_b.0', 'em_now.0'])
    expect(ids(await queue.findDue([0, 1], { now }, 2, nobody))).toHaveLength(2)
    expect(ids(await queue.findDue([0], { now }, 10, id => id === 'em_a.0'))).not.toContain('em_a.0')
  })

  test('can be looked for from a time on', async () => {
    await give('em_old.0', { due: at(-60) })
    await give('em_edge.0', { due: at(-10) })
    await give('em_new.0', { due: at(-1) })
    expect(ids(await queue.findDue([0], { from: at(-10), now }, 10, nobody))).toEqual(['em_edge.0', 'em_new.0'])
  })

  test.each([
    { transactional: 20, bulk: 20, expected: 2 },
    { transactional: 20, bulk: 0, expected: 0 },
    { transactional: 3, bulk: 20, expected: 7 },
    { transactional: 0, bulk: 20, expected: 10 },
    { transactional: 20, bulk: 1, expected: 1 },
  ])(
    'bulk mail gets a fifth of the room, and all that nobody else needs: %j',
    async ({ transactional, bulk, expected }) => {
      for (let n = 0; n < transactional; n++) await give(`em_t${n}.0`)
      for (let n = 0; n < bulk; n++) await give(`em_k${n}.0`, { lane: 'bulk', due: at(-99) })
      const found = await queue.findDue([0], { now }, 10, nobody)
      expect(found.filter(({ lane }) => lane === 'bulk')).toHaveLength(expected)
      expect(found).toHaveLength(Math.min(10, transactional + bulk))
    },
  )
})

describe('a claim', () => {
  test('moves what it takes behind its visibility timeout; a second claim gets nothing of it', async () => {
    const docs = [await give('em_a.0'), await give('em_b.0')]
    const first = await claim(docs, 'one')
    expect(first.map(({ tok, epoch }) => [tok, epoch])).toEqual([
      ['one', 1],
      ['one', 1],
    ])
    expect(await stored('em_a.0')).toMatchObject({ tok: 'one', due: at(120) })
    expect(await queue.findDue([0], { now }, 10, nobody)).toEqual([])
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
  /** One delivery that was claimed, and then claimed by somebody else; with the holder that lost it. */
  async function lost(): Promise<{ old: Claimed; fresh: Claimed }> {
    const doc = await give('em_a.0')
    const [old] = await claim([doc], 'old')
    await collectionOf(mongo.db, DELIVERIES).updateOne({ _id: doc._id }, { $set: { due: at(-1) } })
    const [fresh] = await claim([doc], 'fresh', 2)
    if (!old || !fresh) throw new Error('both claims succeed')
    return { old, fresh }
  }

  test('the mark before the dot is refused to one that lost the claim, kept for the other', async () => {
    const { old, fresh } = await lost()
    expect(await queue.markDot([old])).toEqual(new Set())
    expect(await stored('em_a.0')).not.toHaveProperty('ph')
    expect(await queue.markDot([fresh, { ...old, _id: 'em_gone.0' }])).toEqual(new Set(['em_a.0']))
    expect(await stored('em_a.0')).toMatchObject({ ph: 'dot' })
  })

  test.each([
    ['keep', (held: Claimed) => queue.keep([held], at(999))],
    ['release', (held: Claimed) => queue.release([held], at(999))],
    ['move', (held: Claimed) => queue.move([held], 'elsewhere', 9, at(999))],
    ['reschedule', (held: Claimed) => queue.reschedule([{ held, set: { due: at(999), att: 5 } }])],
    ['remove', (held: Claimed) => queue.remove([held])],
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
    expect(await queue.reschedule([{ held, set: { due: at(60), att: 1 } }])).toBe(1)
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
  test('makes what its last owner held due at once, and leaves waiting retries alone', async () => {
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

  test('figures of the queue: what is due, what waits, and how old the oldest is', async () => {
    await give('em_a.0', { due: at(-30) })
    await give('em_b.0', { due: at(-3), lane: 'bulk' })
    await give('em_c.0', { due: at(30) })
    await give('em_d.0', { due: at(-99), slot: 1 })
    expect(await queue.measure([0], now)).toEqual({ due: 2, later: 1, oldest: at(-30) })
    expect(await queue.measure([5], now)).toEqual({ due: 0, later: 0, oldest: undefined })
  })
})
