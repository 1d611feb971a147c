import { expect, onTestFinished, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { until } from '../../../test/support/time/until.ts'
import { silentLog } from '../observability/log.ts'
import { type RecordChange, watchChanges } from './watch-changes.ts'

/** Watches two collections of a new database; resolves once it receives changes. */
async function watching() {
  const mongo = await databaseForThisTest()
  const seen: RecordChange[] = []
  let gaps = 0
  const running = watchChanges(
    mongo.db,
    silentLog,
    ['cats', 'dogs'],
    change => seen.push(change),
    () => void gaps++,
  )
  onTestFinished(() => running.stop())
  const cats = mongo.db.collection<{ _id: string; name?: string; at?: { x: number; y?: number }; a?: number }>('cats')
  /** Writes marks until one is received: a stream has no changes from before it was open. */
  const open = async () => {
    let mark = 0
    const last = () => seen.at(-1)?.id === `mark ${mark}`
    await until(
      async () => {
        if (!last()) await mongo.db.collection<{ _id: string }>('dogs').insertOne({ _id: `mark ${++mark}` })
        return last()
      },
      15_000,
      50,
    )
    seen.length = 0
  }
  await open()
  return { mongo, cats, seen, running, open, gaps: () => gaps }
}

test('reports every kind of change, with the current record and the changed fields', async () => {
  const { mongo, cats, seen } = await watching()
  await cats.insertOne({ _id: 'tom', name: 'Tom', at: { x: 1 } })
  await until(() => seen.length === 1)
  await cats.updateOne({ _id: 'tom' }, { $set: { 'at.x': 2, 'at.y': 3 }, $unset: { name: true } })
  await until(() => seen.length === 2)
  await cats.replaceOne({ _id: 'tom' }, { a: 1 })
  await until(() => seen.length === 3)
  await mongo.db.collection<{ _id: string }>('birds').insertOne({ _id: 'not watched' })
  await cats.updateOne({ _id: 'tom' }, { $set: { a: 1 } }) // changes nothing
  await cats.deleteOne({ _id: 'tom' })
  await until(() => seen.length === 4)
  const collection = 'cats'
  expect(seen.map(change => ({ ...change, fields: change.fields?.toSorted() }))).toEqual([
    { collection, id: 'tom', document: { _id: 'tom', name: 'Tom', at: { x: 1 } }, fields: undefined },
    { collection, id: 'tom', document: { _id: 'tom', at: { x: 2, y: 3 } }, fields: ['at', 'name'] },
    { collection, id: 'tom', document: { _id: 'tom', a: 1 }, fields: undefined },
    { collection, id: 'tom', document: undefined, fields: undefined },
  ])
})

test('continues when the database is recreated, and reports a gap', async () => {
  const { mongo, seen, open, gaps } = await watching()
  expect(gaps()).toBe(1) // changes before the start are unknown
  await mongo.db.dropDatabase() // ends the stream for good
  await until(() => gaps() === 2)
  await open()
  expect(seen).toEqual([])
})

test('reports nothing after its stop', async () => {
  const one = await watching()
  await one.running.stop()
  await one.cats.insertOne({ _id: 'late' })
  const running = watchChanges(
    one.mongo.db,
    silentLog,
    ['cats'],
    change => heard.push(change.id),
    () => undefined,
  )
  const heard: unknown[] = []
  onTestFinished(() => running.stop())
  let n = 0
  await until(
    async () => {
      if (heard.length === 0) await one.cats.insertOne({ _id: `later ${++n}` })
      return heard.length > 0
    },
    15_000,
    50,
  )
  expect([one.seen, one.gaps()]).toEqual([[], 1])
})
