import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import {
  beat,
  fixSlotCount,
  leave,
  livingWorkers,
  releaseSlots,
  renewSlots,
  SLOTS,
  takeSlots,
  unownedSlots,
} from './slots.ts'

describe('the number of slots', () => {
  test('is fixed by whoever asks first, also in parallel', async () => {
    const mongo = await databaseForThisTest()
    const counts = await Promise.all([8, 8, 8].map(count => fixSlotCount(mongo, count)))
    expect(counts).toEqual([8, 8, 8])
    expect(await fixSlotCount(mongo, 64)).toBe(8)
    expect(await mongo.db.collection(SLOTS.name).countDocuments()).toBe(8)
  })
})

describe('a slot', () => {
  test('is taken when it is free, with a new epoch, by one of two', async () => {
    const mongo = await databaseForThisTest()
    await fixSlotCount(mongo, 4)
    const taken = await Promise.all(['a', 'b'].map(owner => takeSlots(mongo, owner, [0, 1, 2, 3], 60_000)))
    expect(
      taken
        .flat()
        .map(({ _id }) => _id)
        .sort(),
    ).toEqual([0, 1, 2, 3])
    expect(taken.flat().every(({ epoch }) => epoch === 1)).toBe(true)
  })

  test('stays with its owner until it expires; then the epoch goes up', async () => {
    const mongo = await databaseForThisTest()
    await fixSlotCount(mongo, 1)
    await takeSlots(mongo, 'a', [0], 60_000)
    expect(await takeSlots(mongo, 'b', [0], 60_000)).toEqual([])
    expect(await unownedSlots(mongo)).toEqual({ expired: [], free: [] })
    await renewSlots(mongo, 'a', -1)
    expect(await unownedSlots(mongo)).toEqual({ expired: [0], free: [] })
    expect(await takeSlots(mongo, 'b', [0], 60_000)).toMatchObject([{ owner: 'b', epoch: 2 }])
    expect(await renewSlots(mongo, 'a', 60_000)).toEqual([])
    await releaseSlots(mongo, 'a', [0])
    expect(await renewSlots(mongo, 'b', 60_000)).toMatchObject([{ owner: 'b', epoch: 2 }])
  })

  test('that is given back is free immediately', async () => {
    const mongo = await databaseForThisTest()
    await fixSlotCount(mongo, 1)
    await takeSlots(mongo, 'a', [0], 60_000)
    await releaseSlots(mongo, 'a', [0])
    expect(await unownedSlots(mongo)).toEqual({ expired: [], free: [0] })
    expect(await takeSlots(mongo, 'b', [0], 60_000)).toMatchObject([{ owner: 'b', epoch: 2 }])
  })
})

test('workers count while they renew', async () => {
  const mongo = await databaseForThisTest()
  expect(await livingWorkers(mongo)).toBe(0)
  for (const worker of ['a', 'b', 'b']) await beat(mongo, worker, 60_000)
  expect(await livingWorkers(mongo)).toBe(2)
  await beat(mongo, 'b', -1)
  expect(await livingWorkers(mongo)).toBe(1)
  for (const worker of ['a', 'nobody']) await leave(mongo, worker)
  expect(await livingWorkers(mongo)).toBe(0)
})
