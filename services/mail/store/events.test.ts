import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import type { EventDoc } from './documents.ts'
import { appendEvents, EVENTS, eventId, findEvents } from './events.ts'
import { cellOf } from './rules/cell.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [EVENTS])
})
afterAll(() => mongo.stop())

const at = new Date('2026-11-21T12:00:00Z')

function event(type: EventDoc['type'], change: Partial<EventDoc> = {}): EventDoc {
  const _id = change._id ?? eventId(`${newId('em')}.0`, 1)
  return {
    _id,
    cell: cellOf(_id),
    m: _id.split('.')[0] ?? '',
    user_id: 'usr_1',
    rcpt: 'b@example.net',
    attempt: 1,
    type,
    at,
    ms: 5,
    text: `it was ${type}`,
    exp: new Date(at.getTime() + 86_400_000),
    ...change,
  }
}

const stored = async (_id: string) => (await findEvents(mongo, [_id])).get(_id)

describe('an attempt that was written before', () => {
  const types = ['deferred', 'bounced', 'failed', 'expired', 'canceled', 'delivered'] as const
  const wins = (before: EventDoc['type'], after: EventDoc['type']) =>
    before !== after && (after === 'delivered' || before === 'deferred')
  test.each(types.flatMap(before => types.map(after => ({ before, after, last: wins(before, after) }))))(
    'as $before is $after in the end: $last',
    async ({ before, after, last }) => {
      const first = event(before, { text: 'first' })
      const second = event(after, { _id: first._id, text: 'second' })
      await appendEvents(mongo, [first])
      await appendEvents(mongo, [second])
      expect(await stored(first._id)).toEqual(last ? second : first)
    },
  )

  test('as of unknown outcome has no trace of that once the outcome is known', async () => {
    const unknown = event('deferred', {
      ambiguous: true,
      conversation: 'C: .',
      mx: 'mx1.example.net',
      enhanced: '4.0.0',
    })
    const known = event('delivered', { _id: unknown._id, code: 250 })
    await appendEvents(mongo, [unknown])
    await appendEvents(mongo, [known])
    expect(await stored(unknown._id)).toEqual(known)
  })
})

test('of a batch, what is new is appended whatever is there already, and a repetition changes nothing', async () => {
  const there = event('bounced')
  expect(await appendEvents(mongo, [there])).toBe(1)
  const late = event('deferred', { _id: there._id })
  const batch = [event('deferred'), late, event('delivered'), event('failed')]
  expect(await appendEvents(mongo, batch)).toBe(3)
  const found = await findEvents(
    mongo,
    batch.map(({ _id }) => _id),
  )
  expect([...found.values()].toSorted((a, b) => (a._id < b._id ? -1 : 1))).toEqual(
    batch.map(one => (one === late ? there : one)).toSorted((a, b) => (a._id < b._id ? -1 : 1)),
  )
  expect(await appendEvents(mongo, batch)).toBe(0)
  expect(await findEvents(mongo, [...found.keys()])).toEqual(found)
})

test('two workers that write the same attempt in parallel leave one, and "delivered" if one of them saw that', async () => {
  for (let round = 0; round < 20; round++) {
    const seen = event('delivered')
    const others = (['deferred', 'failed', 'bounced'] as const).map(type => event(type, { _id: seen._id }))
    await Promise.all([...others, seen].map(one => appendEvents(mongo, [one])))
    expect(await stored(seen._id)).toEqual(seen)
  }
})

test('an event of an earlier release, without a cell, is replaced by a final one', async () => {
  const { cell, ...first } = event('deferred')
  await mongo.db.collection<EventDoc>(EVENTS.name).insertOne(first)
  const known = event('delivered', { _id: first._id })
  expect(await appendEvents(mongo, [known])).toBe(0)
  expect(await stored(first._id)).toEqual({ ...known, cell })
})

test('an error of the log is reported, unless it is only a repetition', async () => {
  const good = event('deferred')
  await mongo.db.command({ collMod: EVENTS.name, validator: { ms: { $gte: 0 } } })
  await expect(appendEvents(mongo, [good, event('delivered', { ms: -1 })])).rejects.toMatchObject({ code: 121 })
  await mongo.db.command({ collMod: EVENTS.name, validator: {} })
  // The others of the batch are written all the same, so that the repetition finds them.
  expect(await stored(good._id)).toEqual(good)
})

test('nothing to write or to find is no command', async () => {
  await appendEvents(mongo, [])
  expect(await findEvents(mongo, [])).toEqual(new Map())
})
