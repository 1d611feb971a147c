import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { cellsOf } from './cells.ts'
import { adoptStrays, CELLED, growCells, nameCells, readCellSettings } from './change-cells.ts'
import type { MessageDoc } from './documents.ts'
import { findByIdempotencyKey, KEYS_BY_CELL, MESSAGES } from './messages.ts'
import { fixSlotCount, SLOTS, takeSlots } from './slots.ts'

const slotsOf = (mongo: Mongo) => collectionOf(mongo.db, SLOTS).countDocuments()

async function prepared(slots = 8): Promise<Mongo> {
  const mongo = await databaseForThisTest()
  await ensureIndexes(
    mongo.db,
    CELLED.map(({ definition }) => definition),
  )
  await fixSlotCount(mongo, slots)
  return mongo
}

describe('more cells', () => {
  test('have slots, which are free, and leave the others with their owners', async () => {
    const mongo = await prepared()
    await takeSlots(mongo, 'a', [0, 7], 60_000)
    await growCells(mongo, 3)
    expect(await slotsOf(mongo)).toBe(24)
    expect(await takeSlots(mongo, 'b', [0, 7, 8, 23], 60_000)).toMatchObject([{ _id: 8 }, { _id: 23 }])
    expect(await readCellSettings(mongo)).toEqual({ slots: 8, cells: 3, named: false })
  })

  test('are made once, also by several at once, and a process that starts afterwards knows them', async () => {
    const mongo = await prepared()
    await Promise.all([3, 3, 2].map(count => growCells(mongo, count).catch(() => undefined)))
    await growCells(mongo, 3)
    expect(await slotsOf(mongo)).toBe(24)
    expect(await fixSlotCount(mongo, 64)).toBe(8)
    expect(cellsOf(mongo.db).count).toBe(3)
  })

  test('an interruption after the slots leaves what a repetition completes', async () => {
    const mongo = await prepared()
    await collectionOf(mongo.db, SLOTS).insertOne({ _id: 11, owner: '', epoch: 0, until: new Date(0) })
    await growCells(mongo, 2)
    expect(await slotsOf(mongo)).toBe(16)
  })

  test.each([
    ['in a new database', 0, 2, /no process of Postwright has worked/],
    ['than flows can name', 4_096, 3, /with 4096 slots a cell there are at most 2 cells/],
    ['than there are, downwards', 8, 1, /there are 2 cells; their number never falls/],
  ])('%s are refused and change nothing', async (_, slots, wanted, reason) => {
    const mongo = slots === 0 ? await databaseForThisTest() : await prepared(slots)
    if (wanted === 1) await growCells(mongo, 2)
    const before = await readCellSettings(mongo)
    await expect(growCells(mongo, wanted)).rejects.toThrow(reason)
    expect(await readCellSettings(mongo)).toEqual(before)
  })
})

describe('cells that commands name', () => {
  const strays = async (mongo: Mongo, count: number) => {
    for (const { definition } of CELLED)
      await mongo.db
        .collection<{ _id: string }>(definition.name)
        .insertMany(Array.from({ length: count }, () => ({ _id: newId('em') })))
  }
  const withoutCell = async (mongo: Mongo) => {
    const counts = CELLED.map(({ definition: { name } }) =>
      mongo.db.collection(name).countDocuments({ cell: { $exists: false } }),
    )
    return (await Promise.all(counts)).reduce((sum, one) => sum + one)
  }

  test('come after every document of earlier releases has one; twice changes nothing', async () => {
    const mongo = await prepared()
    await strays(mongo, 1_100)
    const lines: string[] = []
    await nameCells(mongo, line => lines.push(line), 0)
    expect(lines.at(-1)).toBe('4400 documents of earlier releases belong to cell 0 now')
    expect([await withoutCell(mongo), await readCellSettings(mongo)]).toEqual([0, { slots: 8, cells: 1, named: true }])
    await growCells(mongo, 2)
    await nameCells(mongo, line => lines.push(line), 0)
    expect(lines.at(-1)).toBe('0 documents of earlier releases belong to cell 0 now')
    expect(await readCellSettings(mongo)).toEqual({ slots: 8, cells: 2, named: true })
  })

  test('leave documents with a cell alone, and adopt what a process of an earlier release adds', async () => {
    const mongo = await prepared()
    await nameCells(mongo, () => undefined, 0)
    await mongo.db.collection<{ _id: string; cell: number }>('deliveries').insertOne({ _id: 'em_1.0', cell: 1 })
    await strays(mongo, 2)
    expect([await adoptStrays(mongo), await adoptStrays(mongo)]).toEqual([8, 0])
    expect(await mongo.db.collection<{ _id: string }>('deliveries').findOne({ _id: 'em_1.0' })).toMatchObject({
      cell: 1,
    })
  })

  test('keep idempotency keys unique, and a process that starts does not bring the old index back', async () => {
    const mongo = await prepared()
    await nameCells(mongo, () => undefined, 0)
    await cellsOf(mongo.db).read()
    const messages = collectionOf(mongo.db, MESSAGES)
    await messages.dropIndex('user_id_1_idem.key_1')
    await ensureIndexes(mongo.db, [MESSAGES])
    const keys = (await messages.indexes()).map(({ key }) => key)
    expect(keys).toContainEqual(KEYS_BY_CELL.key)
    expect(keys).not.toContainEqual({ user_id: 1, 'idem.key': 1 })
    const until = new Date('2027-01-01')
    const message = (cell: number) => ({
      ...{ _id: newId('em'), cell, user_id: 'usr_1', idem: { key: 'k', hash: 'h', answer: '[]', until } },
    })
    const first = message(0)
    await messages.insertOne(first as MessageDoc)
    await expect(messages.insertOne(message(0) as MessageDoc)).rejects.toMatchObject({ code: 11_000 })
    expect(await findByIdempotencyKey(mongo, 'usr_1', 'k', new Date('2026-12-01'))).toMatchObject({ _id: first._id })
  })
})
