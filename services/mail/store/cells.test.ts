import { describe, expect, onTestFinished, test } from 'vitest'
import { failCommands } from '../../../test/support/database/fail-commands.ts'
import { databaseForThisTest, sharedMongoUri } from '../../../test/support/database/test-database.ts'
import { startTestMongod } from '../../../test/support/database/test-mongod.ts'
import { until } from '../../../test/support/time/until.ts'
import { collectionOf, connectMongo, type Mongo } from '../../platform/database/mongo.ts'
import { newId, timeOfId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { Cells, cellsOf, ENGINE } from './cells.ts'
import { cellOf, idInCell } from './rules/cell.ts'
import { rangesOfSlots } from './rules/flow.ts'
import { fixSlotCount } from './slots.ts'

const NOW = new Date('2026-11-24T12:00:00Z')

/** The cells of a database with these settings and 8 slots a cell, as a process that has just started knows them. */
async function cellsWith(count: number, named: boolean): Promise<{ cells: Cells; mongo: Mongo }> {
  const mongo = await databaseForThisTest()
  await fixSlotCount(mongo, 8)
  await collectionOf(mongo.db, ENGINE).insertOne({ _id: 'cells', count, named })
  const cells = new Cells(mongo.db)
  await cells.read()
  return { cells, mongo }
}

const idIn = (cell: number) => idInCell(newId('em'), cell)
const seconds = (count: number) => Array.from({ length: count }, (_, n) => new Date(NOW.getTime() + n * 1_000))

describe('new mail', () => {
  test('of one moment goes to one cell, and over time to all of them equally', async () => {
    const { cells } = await cellsWith(3, false)
    const at = (time: Date) => cellOf(cells.newMessageId(time))
    expect(new Set(Array.from({ length: 50 }, () => at(NOW))).size).toBe(1)
    const counts = Map.groupBy(seconds(30).map(at), cell => cell)
    expect([...counts.values()].map(({ length }) => length)).toEqual([10, 10, 10])
  })

  test('has the time in its id', async () => {
    const { cells } = await cellsWith(3, true)
    expect(timeOfId(cells.newMessageId(NOW))).toBe(NOW.getTime())
    expect(timeOfId(cells.newMessageIdFor('usr_1', 'key', NOW))).toBe(NOW.getTime())
  })

  test('with a key stays in one cell where cells are named, in every process, and keys are spread', async () => {
    const { cells, mongo } = await cellsWith(3, true)
    const other = new Cells(mongo.db)
    await other.read()
    const cellsOfKey = (key: string) =>
      new Set(seconds(6).flatMap(at => [cells, other].map(one => cellOf(one.newMessageIdFor('usr_1', key, at)))))
    expect(cellsOfKey('smtp:order-1').size).toBe(1)
    const all = Array.from({ length: 300 }, (_, n) => cellOf(cells.newMessageIdFor('usr_1', `k${n}`, NOW)))
    const counts = [...Map.groupBy(all, cell => cell).values()].map(({ length }) => length)
    expect([counts.length, Math.min(...counts) > 60]).toEqual([3, true])
  })

  test('with a key takes its turn where they are not, as the index of keys is one', async () => {
    const { cells } = await cellsWith(3, false)
    expect(new Set(seconds(3).map(at => cellOf(cells.newMessageIdFor('usr_1', 'k', at)))).size).toBe(3)
  })
})

describe('a filter', () => {
  const [a, b] = [idIn(0), idIn(2)]
  test.each<[name: string, of: (cells: Cells) => object, expected: object]>([
    ['one id', cells => cells.of([`${b}.4`]), { cell: 2 }],
    ['ids of one cell', cells => cells.of([`${b}.4`, `${b}#0`]), { cell: 2 }],
    ['ids of several cells', cells => cells.of([b, a, b]), { cell: { $in: [0, 2] } }],
    ['no ids', cells => cells.of([]), {}],
    ['slots of a cell', cells => cells.ofSlots([8, 15]), { cell: 1 }],
    ['slots of several cells', cells => cells.ofSlots([23, 7]), { cell: { $in: [0, 2] } }],
    ['everything', cells => cells.all(), { cell: { $in: [0, 1, 2, 3] } }],
    ['slots of a range', cells => cells.partsOfRange(range([9, 10])), [{ cell: 1 }]],
    ['a range over cells', cells => cells.partsOfRange(range([7, 8])), [{ cell: 0 }, { cell: 1 }]],
    ['a range of relay mode', cells => cells.partsOfRange(range([0], true)), [{ cell: 0 }, { cell: 1 }, { cell: 2 }]],
    ['a flow', cells => cells.partsOfFlow('d 0017 example.net usr_1 bulk', undefined), [{ cell: 2 }]],
    ['a flow of relay mode', cells => cells.partsOfFlow('r usr_1 bulk', [1, 17]), [{ cell: 0 }, { cell: 2 }]],
    [
      'a flow of relay mode in all slots',
      cells => cells.partsOfFlow('r usr_1 bulk', undefined),
      [{ cell: 0 }, { cell: 1 }, { cell: 2 }],
    ],
  ])('for %s names its cells, and nothing where cells are not named', async (_, of, expected) => {
    expect(of((await cellsWith(3, true)).cells)).toEqual(expected)
    expect(of((await cellsWith(3, false)).cells)).toEqual(Array.isArray(expected) ? [{}] : {})
  })

  const range = (slots: number[], relay = false) => rangesOfSlots(slots, relay)[0] ?? { from: '', to: '' }
})

test('the settings of a database without cells are one cell and no names', async () => {
  const mongo = await databaseForThisTest()
  await fixSlotCount(mongo, 8)
  const cells = cellsOf(mongo.db)
  expect([cells, cells.count, cells.isNamed, cells.all()]).toEqual([cellsOf(mongo.db), 1, false, {}])
})

test('what changes is noticed without a restart, and the number of cells never falls', async () => {
  const { cells, mongo } = await cellsWith(3, false)
  await collectionOf(mongo.db, ENGINE).updateOne({ _id: 'cells' }, { $set: { count: 2, named: true } })
  await until(() => cells.isNamed, 20_000)
  expect(cells.count).toBe(3)
})

test('a database that is away leaves what is known', async () => {
  const { mongo } = await cellsWith(3, true)
  const other = await connectMongo(sharedMongoUri(), silentLog, { dbName: mongo.db.databaseName })
  const cells = new Cells(other.db)
  await cells.read()
  await other.stop()
  await expect(cells.read()).rejects.toThrow()
  expect([cells.count, cells.isNamed]).toEqual([3, true])
})

describe('an idle process', () => {
  test.each([
    ['names every cell in a question that must not miss one', 0, { cell: { $in: [0, 1, 2, 3] } }],
    ['does not ask while what it knows is fresh', 60_000, { cell: { $in: [0, 1] } }],
  ])('%s', async (_, freshMs, expected) => {
    const { mongo } = await cellsWith(1, true)
    const idle = new Cells(mongo.db, freshMs)
    await idle.read()
    await collectionOf(mongo.db, ENGINE).updateOne({ _id: 'cells' }, { $set: { count: 3 } })
    expect(await idle.allAsOfNow()).toEqual(expected)
  })

  test('asks again after a failure, and for every caller at the same time', async () => {
    const mongod = await startTestMongod({ enableTestCommands: '1' })
    onTestFinished(() => mongod.stop())
    const mongo = await databaseForThisTest(mongod.uri)
    await collectionOf(mongo.db, ENGINE).insertOne({ _id: 'cells', count: 1, named: true })
    const idle = new Cells(mongo.db, 0)
    await idle.read()
    await collectionOf(mongo.db, ENGINE).updateOne({ _id: 'cells' }, { $set: { count: 3 } })
    const restore = await failCommands(mongo.db, { failCommands: ['find'], errorCode: 11_600 })
    const asked = [idle.allAsOfNow(), idle.allAsOfNow()]
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await restore()
    void idle.count // begins a reading, which those that follow have to wait for
    const every = { cell: { $in: [0, 1, 2, 3] } }
    expect(await Promise.all([idle.allAsOfNow(), idle.allAsOfNow()])).toEqual([every, every])
  })

  test('that names no cells asks nothing', async () => {
    const { mongo } = await cellsWith(1, false)
    const idle = new Cells(mongo.db, 0)
    await idle.read()
    await collectionOf(mongo.db, ENGINE).updateOne({ _id: 'cells' }, { $set: { count: 3, named: true } })
    expect(await idle.allAsOfNow()).toEqual({})
  })
})
