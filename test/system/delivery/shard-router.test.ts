/** The router sends commands where mongos would, and makes one answer of several. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectMongo, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { type ShardRouter, startShardRouter } from '../../support/database/shards/shard-router.ts'
import { startTestMongod, type TestMongod } from '../../support/database/test-mongod.ts'
import { until } from '../../support/time/until.ts'

interface Doc {
  _id: string
  cell: number
  n: number
}

let sets: TestMongod[]
let router: ShardRouter
let mongo: Mongo
beforeAll(async () => {
  sets = await Promise.all([startTestMongod(), startTestMongod()])
  router = await startShardRouter(sets.map(({ uri }) => uri))
  mongo = await connectMongo(router.uri, silentLog, { dbName: 'routed' })
})
afterAll(async () => {
  await mongo?.stop()
  await router?.stop()
  await Promise.all((sets ?? []).map(set => set.stop()))
})

const messages = () => mongo.db.collection<Doc>('messages')
const ids = (found: readonly Doc[]) => found.map(({ _id }) => _id).join(' ')

beforeEach(async () => {
  await mongo.db.dropDatabase()
  await mongo.db.collection<Doc>('users').insertOne({ _id: 'u', cell: 1, n: 0 })
  // a0 b1 c0 d1 e0 f1, the odd ones in cell 1.
  await messages().insertMany([...'abcdef'].map((letter, n) => ({ _id: letter, cell: n % 2, n })))
  router.routed.length = 0
  router.refused.length = 0
})

test('documents lie on the set of their cell, and what has no cells on the first', async () => {
  const on = async ({ uri }: TestMongod) => {
    const set = await connectMongo(uri, silentLog, { dbName: 'routed' })
    const found = await set.db.collection<Doc>('messages').find().sort({ _id: 1 }).toArray()
    const users = await set.db.collection('users').countDocuments()
    await set.stop()
    return `${ids(found)}, ${users} users`
  }
  expect(await Promise.all(sets.map(on))).toEqual(['a c e, 1 users', 'b d f, 0 users'])
})

describe('a question', () => {
  test.each<[string, object, readonly number[], string]>([
    ['of one cell', { cell: 1 }, [1], 'b d f'],
    ['of one cell in a conjunction', { $and: [{ n: { $gt: 1 } }, { cell: 0 }] }, [0], 'c e'],
    ['of cells of both sets', { cell: { $in: [0, 1] }, n: { $lt: 3 } }, [0, 1], 'a b c'],
    ['of cells of one set', { cell: { $in: [0, 2] } }, [0], 'a c e'],
    ['that names no cell', { n: { $gte: 4 } }, [0, 1], 'e f'],
  ])('%s', async (_, filter, shards, expected) => {
    expect(ids(await messages().find(filter).sort({ _id: 1 }).toArray())).toBe(expected)
    expect(router.routed.map(one => one.shards)).toEqual([shards])
  })

  test.each([
    ['ascending', { n: 1 }, 'b c d'],
    ['descending', { n: -1 }, 'e d c'],
  ] as const)('has one order over both sets, %s, also without the field of the order', async (_, sort, expected) => {
    const page = messages().find().sort(sort).skip(1).limit(3).project<Doc>({ _id: 1 })
    expect(ids(await page.toArray())).toBe(expected)
  })

  test('of several batches goes on where it began', async () => {
    expect(await messages().find({ cell: 1 }).batchSize(2).toArray()).toHaveLength(3)
    expect(await messages().find().batchSize(2).toArray()).toHaveLength(6)
  })

  test('counts, groups and lists values over both sets', async () => {
    expect(await messages().countDocuments({ n: { $gt: 0 } })).toBe(5)
    expect(await messages().countDocuments({}, { limit: 4 })).toBe(4)
    expect(await messages().countDocuments({ n: 99 })).toBe(0)
    expect((await messages().distinct('cell')).toSorted()).toEqual([0, 1])
    expect(
      await messages()
        .aggregate([{ $match: {} }, { $group: { _id: '$cell' } }])
        .toArray(),
    ).toHaveLength(2)
    await expect(
      messages()
        .aggregate([{ $match: {} }, { $sample: { size: 1 } }])
        .toArray(),
    ).rejects.toThrow('several')
  })
})

describe('a write', () => {
  test('of many documents of both sets has one answer', async () => {
    const { matchedCount, modifiedCount } = await messages().updateMany({ n: { $gt: 1 } }, { $set: { n: 7 } })
    expect([matchedCount, modifiedCount]).toEqual([4, 4])
    expect(await messages().deleteMany({ n: 7 })).toMatchObject({ deletedCount: 4 })
  })

  test('of a batch goes to the set of each document, and names the place of each error', async () => {
    const again = ['x', 'a', 'y', 'b'].map((_id, n) => ({ insertOne: { document: { _id, cell: n === 3 ? 1 : 0, n } } }))
    const error = await messages()
      .bulkWrite(again, { ordered: false })
      .catch((reason: unknown) => reason)
    const { writeErrors } = error as { writeErrors: { index: number }[] }
    expect(writeErrors.map(({ index }) => index).toSorted()).toEqual([1, 3])
    expect(await messages().countDocuments({ _id: { $in: ['x', 'y'] } })).toBe(2)
  })

  test.each<[string, () => Promise<unknown>]>([
    ['updates one document without its cell or id', () => messages().updateOne({ n: 1 }, { $set: { n: 2 } })],
    ['deletes one document without its cell or id', () => messages().deleteOne({ n: { $gt: 1 } })],
    ['may insert without a cell', () => messages().updateOne({ _id: 'z' }, { $set: { n: 1 } }, { upsert: true })],
    ['finds and changes without a cell', () => messages().findOneAndUpdate({ _id: 'a' }, { $set: { n: 2 } })],
  ])('that %s is refused', async (_, write) => {
    await expect(write()).rejects.toThrow(/without/)
    expect(router.refused).toHaveLength(1)
  })

  test('of one document by its id alone is allowed, as in MongoDB 6', async () => {
    expect(await messages().updateOne({ _id: 'b' }, { $set: { n: 9 } })).toMatchObject({ modifiedCount: 1 })
  })
})

describe('a transaction', () => {
  const insert = (documents: Doc[]) =>
    mongo.transaction(async session => {
      for (const one of documents) await messages().insertOne(one, { session })
    })

  test('of one set is all or nothing', async () => {
    await insert([
      { _id: 'v', cell: 1, n: 1 },
      { _id: 'w', cell: 3, n: 1 },
    ])
    await expect(
      insert([
        { _id: 'x', cell: 1, n: 1 },
        { _id: 'b', cell: 1, n: 1 },
      ]),
    ).rejects.toThrow('duplicate')
    expect(await messages().countDocuments({ _id: { $in: ['v', 'w', 'x'] } })).toBe(2)
    expect(router.refused).toEqual([])
  })

  test('of two sets is refused', async () => {
    await expect(
      insert([
        { _id: 'v', cell: 0, n: 1 },
        { _id: 'w', cell: 1, n: 1 },
      ]),
    ).rejects.toThrow('several shards')
    expect(await messages().countDocuments({ _id: { $in: ['v', 'w'] } })).toBe(0)
  })
})

test('a set that is away fails questions about its cells only, and is found again', async () => {
  const [, second] = sets
  await second?.crash()
  expect(await messages().countDocuments({ cell: 0 })).toBe(3)
  await expect(messages().findOne({ cell: 1 })).rejects.toMatchObject({ code: 133 })
  await second?.start()
  const isBack = () =>
    messages()
      .countDocuments({ cell: 1 })
      .then(
        count => count === 3,
        () => false,
      )
  await until(isBack, 60_000)
}, 120_000)
