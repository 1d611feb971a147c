import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { until } from '../../../test/support/time/until.ts'
import { wakeOf } from './wake.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.stop())

/** A second process for the wake-up signal: the same database over another connection. */
const otherProcess = () => wakeOf({ ...database })

test('parts of one process share a wake-up signal and receive it immediately', () => {
  const heard: number[] = []
  const stop = wakeOf(database).listen(slots => heard.push(...slots))
  wakeOf(database).ring([3, 5])
  expect(heard).toEqual([3, 5])
  stop()
  wakeOf(database).ring([7])
  expect(heard).toEqual([3, 5])
})

test('another process hears rings, gathered while it rings often, and not its own', async () => {
  const listener = otherProcess()
  const ringer = otherProcess()
  const heard: number[] = []
  listener.listen(slots => heard.push(...slots))
  const end = new AbortController()
  const following = listener.follow(end.signal)
  await until(async () => (await database.db.collection('delivery_hints').countDocuments()) > 0)
  await until(async () => {
    ringer.ring([1])
    return heard.includes(1)
  })
  for (let slot = 10; slot < 60; slot++) ringer.ring([slot])
  await until(() => heard.includes(59))
  expect(new Set(heard.filter(slot => slot >= 10)).size).toBe(50)
  const before = heard.length
  listener.ring([99])
  expect(heard.slice(before)).toEqual([99])
  end.abort()
  await following
})

test('another process hears which slots were given back, beside what has new mail', async () => {
  const listener = otherProcess()
  const other = otherProcess()
  const heard: [readonly number[], readonly string[], readonly number[]][] = []
  listener.listen((...hint) => heard.push(hint))
  const end = new AbortController()
  const following = listener.follow(end.signal)
  await until(() => {
    other.release([4, 7])
    return heard.length > 0
  })
  expect(heard[0]).toEqual([[], [], [4, 7]])
  heard.length = 0
  other.ring([1], ['d 0001 a.example usr_a bulk'])
  other.release([8])
  other.release([9])
  await until(() => heard.some(([, , released]) => released.includes(9)))
  const together = heard.flatMap(([, , released]) => released).filter(slot => slot > 7)
  expect(together).toEqual([8, 9])
  const before = heard.length
  listener.release([5])
  expect(heard.slice(before)).toEqual([])
  end.abort()
  await following
})

test('the small collection of an earlier release is enlarged', async () => {
  const own = await freshDatabase()
  onTestFinished(() => own.stop())
  await own.db.createCollection('delivery_hints', { capped: true, size: 262_144 })
  const wake = wakeOf(own)
  const end = new AbortController()
  const following = wake.follow(end.signal)
  await until(async () => (await own.db.collection('delivery_hints').countDocuments()) > 0)
  const [collection] = await own.db.listCollections({ name: 'delivery_hints' }).toArray()
  expect(collection).toMatchObject({ options: { capped: true, size: 4_194_304 } })
  end.abort()
  await following
})

test('ringing without a reader or a database does no harm', async () => {
  const wake = otherProcess()
  wake.ring([])
  wake.ring([1])
  const end = new AbortController()
  end.abort()
  await wake.follow(end.signal)
})
