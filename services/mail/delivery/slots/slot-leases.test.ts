/** Ownership against a real database: who may finish what, and that a worker fences itself before others may begin. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { failCommands } from '../../../../test/support/database/fail-commands.ts'
import { databaseForThisTest } from '../../../../test/support/database/test-database.ts'
import { startTestMongod } from '../../../../test/support/database/test-mongod.ts'
import { until } from '../../../../test/support/time/until.ts'
import { connectMongo, type Mongo } from '../../../platform/database/mongo.ts'
import type { JobRun, Jobs } from '../../../platform/jobs/jobs.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import type { SlotDoc } from '../../store/documents.ts'
import {
  beat,
  fixSlotCount,
  leave,
  livingWorkers,
  makeSlots,
  releaseSlots,
  SLOTS,
  takeSlots,
  unownedSlots,
} from '../../store/slots.ts'
import { type LeaseTimes, SlotLeases } from './slot-leases.ts'

/** Agenda's part, played by the test: no worker is invited unless requested. */
function invitations() {
  let take: ((run: JobRun<{ key: string }>) => Promise<void>) | undefined
  const jobs: Jobs = {
    define: (_name, _options, handler) => {
      take = handler as typeof take
    },
    seed: async () => undefined,
    once: async () => undefined,
    hurry: async () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
  }
  /** One run of the slot's job at this worker. */
  const invite = async (slot: number, signal = new AbortController().signal) =>
    take?.({ data: { key: String(slot) }, touch: async () => undefined, signal })
  return { jobs, invite }
}

/** No lease ends by itself, however busy the machine is. */
const QUICK: LeaseTimes = { ttl: 10_000, renew: 100, margin: 300, run: 1_000 }
/** For tests that wait for the end of a lease, or beyond it. */
const SHORT: LeaseTimes = { ...QUICK, ttl: 4_000 }
/** The margin is the time that a test has between the end for the worker and that in the database. */
const NEVER_RENEWS: LeaseTimes = { ttl: 8_000, renew: 60_000, margin: 5_000, run: 1_000 }

interface Worker extends SlotLeases {
  taken: number[]
  counts: number[]
  /** Slots that it gave back, those of one write together. */
  released: (readonly number[])[]
  invite(slot: number, signal?: AbortSignal): Promise<void>
  /** Slots with a delivery in flight. */
  busy: Map<number, PromiseWithResolvers<void>>
  /** No delivery of the slot is in flight any more. */
  end(slot: number): void
}

function worker(mongo: Mongo, owner: string, times: LeaseTimes, slots = 4): Worker {
  const taken: number[] = []
  const counts: number[] = []
  const released: (readonly number[])[] = []
  const busy = new Map<number, PromiseWithResolvers<void>>()
  const { jobs, invite } = invitations()
  const leases = new SlotLeases({
    ...{ mongo, owner, times, slots, log: silentLog, jobs },
    onTaken: async ids => void taken.push(...ids),
    onReleased: ids => void released.push(ids),
    whenIdle: slot => busy.get(slot)?.promise ?? Promise.resolve(),
    isIdle: slot => !busy.has(slot),
    onCount: count => counts.push(count),
  })
  const end = (slot: number) => {
    const ended = busy.get(slot)
    busy.delete(slot)
    ended?.resolve()
  }
  onTestFinished(async () => {
    for (const slot of busy.keys()) end(slot)
    await leases.stop().catch(() => undefined) // a test may have let it fail
  })
  return Object.assign(leases, { invite, taken, counts, released, busy, end })
}

/** Slots that a worker abandoned long ago. */
async function abandonedSlots(count = 4): Promise<Mongo> {
  const mongo = await databaseForThisTest()
  await fixSlotCount(mongo, count)
  await mongo.db.collection(SLOTS.name).updateMany({}, { $set: { owner: 'gone', epoch: 6, until: new Date(0) } })
  return mongo
}

const owners = async (mongo: Mongo) =>
  (await mongo.db.collection<{ _id: number; owner: string }>(SLOTS.name).find().sort({ _id: 1 }).toArray()).map(
    ({ owner }) => owner,
  )

/** What another worker gets of a slot that it tries to take all this time. */
async function takenWithin(ms: number, mongo: Mongo, slot: number): Promise<SlotDoc[]> {
  const end = performance.now() + ms
  const taken: SlotDoc[] = []
  await until(async () => {
    taken.push(...(await takeSlots(mongo, 'two', [slot], 60_000)))
    return performance.now() > end
  }, ms + 30_000)
  return taken
}

describe('a worker', () => {
  test('that cannot renew its leases counts none once they have run out, and all when it can again', async () => {
    const mongod = await startTestMongod({ enableTestCommands: '1' })
    const mongo = await connectMongo(mongod.uri, silentLog)
    onTestFinished(async () => {
      await mongo.stop()
      await mongod.stop()
    })
    await fixSlotCount(mongo, 4)
    const one = worker(mongo, 'one', SHORT)
    await one.start()
    await until(() => one.counts.at(-1) === 4)
    const restore = await failCommands(mongo.db, { failCommands: ['update'], closeConnection: true })
    await until(() => one.counts.at(-1) === 0)
    expect(one.claimable().size).toBe(0)
    await restore()
    await until(() => one.counts.at(-1) === 4)
    await one.stop()
  })

  test('takes what a gone one left, under a new epoch, and may finish only under that', async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', QUICK)
    await one.start()
    expect(one.taken.toSorted()).toEqual([0, 1, 2, 3])
    expect(one.counts.at(-1)).toBe(4)
    expect([...one.claimable()]).toEqual([0, 1, 2, 3].map(slot => [slot, 7]))
    const may = [
      { slot: 0, epoch: 7 },
      { slot: 0, epoch: 6 },
      { slot: 0, epoch: 8 },
      { slot: 4, epoch: 7 },
    ].map(claim => one.mayFinish(claim))
    expect(may).toEqual([true, false, false, false])
  })

  test('goes on as long as it renews, far beyond one lease', async () => {
    const mongo = await abandonedSlots(1)
    const one = worker(mongo, 'one', SHORT, 1)
    await one.start()
    expect(await takenWithin(2 * SHORT.ttl, mongo, 0)).toEqual([])
    expect(one.mayFinish({ slot: 0, epoch: 7 })).toBe(true)
    expect(one.taken).toEqual([0])
  })

  test('that does not renew has stopped finishing before another worker can begin', async () => {
    const mongo = await abandonedSlots(1)
    const one = worker(mongo, 'one', NEVER_RENEWS, 1)
    await one.start()
    expect(one.mayFinish({ slot: 0, epoch: 7 })).toBe(true)
    const stolen: SlotDoc[] = []
    await until(async () => stolen.push(...(await takeSlots(mongo, 'two', [0], 60_000))) > 0, 30_000)
    expect(stolen).toMatchObject([{ owner: 'two', epoch: 8 }])
    expect(one.mayFinish({ slot: 0, epoch: 7 })).toBe(false)
    expect([...one.claimable()]).toEqual([])
  })

  test('stops finishing by its own clock, while the database still holds the slot for it', async () => {
    const mongo = await abandonedSlots(1)
    const one = worker(mongo, 'one', NEVER_RENEWS, 1)
    await one.start()
    await until(() => !one.mayFinish({ slot: 0, epoch: 7 }))
    expect(await unownedSlots(mongo)).toEqual({ expired: [], free: [] })
    expect(await owners(mongo)).toEqual(['one'])
  })

  test('notices at its next renewal that a slot has a new owner, and takes no part in it', async () => {
    const mongo = await abandonedSlots(2)
    const one = worker(mongo, 'one', QUICK, 2)
    await one.start()
    const slots = mongo.db.collection<{ _id: number }>(SLOTS.name)
    await slots.updateOne({ _id: 0 }, { $set: { owner: 'two', epoch: 8, until: new Date(Date.now() + 60_000) } })
    await until(() => !one.claimable().has(0))
    expect(one.mayFinish({ slot: 0, epoch: 7 })).toBe(false)
    expect(one.mayFinish({ slot: 0, epoch: 8 })).toBe(false)
    expect(one.mayFinish({ slot: 1, epoch: 7 })).toBe(true)
  })

  test('takes free slots without an invitation, up to its fair share', async () => {
    const mongo = await databaseForThisTest()
    await fixSlotCount(mongo, 5)
    await beat(mongo, 'two', 60_000)
    const one = worker(mongo, 'one', QUICK, 5)
    await one.start()
    expect((await owners(mongo)).toSorted()).toEqual(['', '', 'one', 'one', 'one'])
    await mongo.db.collection<{ _id: string }>('workers').deleteOne({ _id: 'two' })
    await until(() => one.claimable().size === 5)
    expect(await owners(mongo)).toEqual(['one', 'one', 'one', 'one', 'one'])
  })

  test('takes every slot with mail while those of a cell that is being added are there already', async () => {
    const mongo = await databaseForThisTest()
    await fixSlotCount(mongo, 4)
    // The count of cells is raised after this: an interruption leaves it so.
    await makeSlots(mongo, 20)
    const one = worker(mongo, 'one', QUICK, 4)
    await one.start()
    expect(await owners(mongo)).toEqual(Array.from({ length: 20 }, (_, slot) => (slot < 4 ? 'one' : '')))
  })

  test('finds a slot that is its own without its knowing, and recovers what was left there', async () => {
    const mongo = await abandonedSlots(2)
    await takeSlots(mongo, 'one', [1], 60_000) // the answer to this was lost
    const one = worker(mongo, 'one', QUICK, 2)
    await one.start()
    expect(one.taken.toSorted()).toEqual([0, 1])
    expect(one.mayFinish({ slot: 1, epoch: 7 })).toBe(true)
  })
})

describe('an invitation', () => {
  /** A worker that found all four slots taken, and `free` of them given back since. */
  async function invited(free: readonly number[]) {
    const mongo = await databaseForThisTest()
    await fixSlotCount(mongo, 4)
    await beat(mongo, 'two', 60_000)
    await takeSlots(mongo, 'two', [0, 1, 2, 3], 60_000)
    const one = worker(mongo, 'one', { ...NEVER_RENEWS, ttl: 30_000, run: 0 })
    await one.start()
    await releaseSlots(mongo, 'two', free)
    return { mongo, one }
  }

  test('to a free slot is followed up to the fair share', async () => {
    const { mongo, one } = await invited([1, 2, 3])
    for (const slot of [3, 1, 2]) await one.invite(slot)
    expect(await owners(mongo)).toEqual(['two', 'one', '', 'one'])
    expect(one.taken).toEqual([3, 1])
    expect(one.mayFinish({ slot: 3, epoch: 2 })).toBe(true)
  })

  test('to a slot that another worker has is not followed', async () => {
    const { mongo, one } = await invited([])
    await one.invite(0)
    expect(await owners(mongo)).toEqual(['two', 'two', 'two', 'two'])
    expect(one.mayFinish({ slot: 0, epoch: 1 })).toBe(false)
  })

  test('to a worker that stops is not followed', async () => {
    const { mongo, one } = await invited([0])
    await one.invite(0, AbortSignal.abort())
    expect(await owners(mongo)).toEqual(['', 'two', 'two', 'two'])
  })
})

test('a worker with more than its share begins nothing more in the surplus, finishes there, and gives it back', async () => {
  const mongo = await abandonedSlots()
  const one = worker(mongo, 'one', QUICK)
  await one.start()
  for (const slot of [0, 1, 2, 3]) one.busy.set(slot, Promise.withResolvers())
  await beat(mongo, 'two', 60_000)
  await until(() => one.claimable().size <= 2)
  expect([0, 1, 2, 3].every(slot => one.mayFinish({ slot, epoch: 7 }))).toBe(true)
  expect(await owners(mongo)).toEqual(['one', 'one', 'one', 'one'])
  const kept = [...one.claimable().keys()]
  for (const slot of one.busy.keys()) one.end(slot)
  await until(async () => (await owners(mongo)).filter(owner => owner === 'one').length <= 2)
  expect([...one.claimable().keys()]).toEqual(kept)
  expect([0, 1, 2, 3].filter(slot => one.mayFinish({ slot, epoch: 7 }))).toEqual(kept)
})

test('slots with nothing in flight are given back first and immediately; the others each when it is done', async () => {
  const mongo = await abandonedSlots(6)
  const one = worker(mongo, 'one', QUICK, 6)
  await one.start()
  for (const slot of [0, 1, 2, 3, 4]) one.busy.set(slot, Promise.withResolvers())
  await beat(mongo, 'two', 60_000)
  await until(() => one.released.length === 1)
  expect(one.released).toEqual([[5]])
  expect([...one.claimable().keys()]).toEqual([0, 1, 2])
  one.end(4)
  await until(() => one.released.length === 2)
  expect(one.released).toEqual([[5], [4]])
  expect(await owners(mongo)).toEqual(['one', 'one', 'one', 'one', '', ''])
})

test('a slot released by another worker is taken on its notification, up to the fair share, without a renewal', async () => {
  const mongo = await databaseForThisTest()
  await fixSlotCount(mongo, 4)
  await beat(mongo, 'two', 60_000)
  await takeSlots(mongo, 'two', [0, 1, 2, 3], 60_000)
  const one = worker(mongo, 'one', { ...NEVER_RENEWS, ttl: 30_000 })
  await one.start()
  await releaseSlots(mongo, 'two', [3])
  one.lookForFree()
  await until(() => one.taken.length === 1)
  await releaseSlots(mongo, 'two', [1, 2])
  for (let time = 0; time < 3; time++) one.lookForFree()
  await until(() => one.taken.length === 2)
  expect((await owners(mongo)).toSorted()).toEqual(['', 'one', 'one', 'two'])
  await leave(mongo, 'two')
  one.lookForFree()
  await until(() => one.taken.length === 3)
  expect(await owners(mongo)).toEqual(['two', 'one', 'one', 'one'])
})

test('free slots are shared immediately by workers that hear of them in the same moment', async () => {
  const mongo = await databaseForThisTest()
  const all = Array.from({ length: 12 }, (_, slot) => slot)
  await fixSlotCount(mongo, 12)
  await takeSlots(mongo, 'gone', all, 60_000)
  const workers = ['one', 'two', 'three'].map(name => worker(mongo, name, { ...NEVER_RENEWS, ttl: 30_000 }, 12))
  for (const each of workers) await each.start()
  await releaseSlots(mongo, 'gone', all)
  for (const each of workers) each.lookForFree()
  await until(() => workers.every(({ taken }) => taken.length === 4))
  expect(await owners(mongo)).not.toContain('')
})

describe('a worker that retires', () => {
  test('gives back immediately what has nothing in flight, the rest as it ends, and keeps that until then', async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', SHORT)
    await one.start()
    one.busy.set(2, Promise.withResolvers())
    await one.retire()
    await until(() => one.released.length === 1)
    expect(await owners(mongo)).toEqual(['', '', 'one', ''])
    expect(one.claimable().size).toBe(0)
    expect(await takenWithin(2 * SHORT.ttl, mongo, 2)).toEqual([])
    expect(one.mayFinish({ slot: 2, epoch: 7 })).toBe(true)
    expect(await livingWorkers(mongo)).toBe(0)
    one.end(2)
    await until(async () => (await owners(mongo))[2] === '')
  })

  test('takes nothing any more: neither what is free, nor by invitation', async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', QUICK)
    await one.start()
    await one.retire()
    await until(() => one.released.length === 1)
    one.lookForFree()
    await one.invite(0)
    const renewals = one.counts.length
    await until(() => one.counts.length > renewals + 3)
    expect(await owners(mongo)).toEqual(['', '', '', ''])
    expect(one.taken).toHaveLength(4)
  })

  test('stops as others do', async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', QUICK)
    await one.start()
    void one.retire()
    await one.stop()
    expect(await owners(mongo)).toEqual(['', '', '', ''])
    expect(one.released.flat().toSorted()).toEqual([0, 1, 2, 3])
  })
})

test('a slot that was lost while it was to be given back, and came back since, is kept', async () => {
  const mongo = await abandonedSlots(2)
  const one = worker(mongo, 'one', QUICK, 2)
  await one.start()
  one.busy.set(0, Promise.withResolvers())
  one.busy.set(1, Promise.withResolvers())
  await beat(mongo, 'two', 60_000)
  await until(() => one.claimable().size === 1)
  const [slot = 0] = [0, 1].filter(id => !one.claimable().has(id))
  const slots = mongo.db.collection<{ _id: number }>(SLOTS.name)
  await slots.updateOne({ _id: slot }, { $set: { owner: 'two', epoch: 8, until: new Date(Date.now() + 60_000) } })
  await until(() => !one.mayFinish({ slot, epoch: 7 }))
  await leave(mongo, 'two')
  await releaseSlots(mongo, 'two', [slot])
  await until(() => one.claimable().has(slot))
  one.end(slot)
  const renewals = one.counts.length
  await until(() => one.counts.length > renewals + 3)
  expect([...one.claimable()].toSorted()).toEqual([0, 1].map(id => [id, id === slot ? 9 : 7]))
  expect(one.released).toEqual([])
})

test('a worker that stops takes nothing that is given back by then, and does not count as one that lives', async () => {
  const mongo = await abandonedSlots()
  const one = worker(mongo, 'one', QUICK)
  await one.start()
  one.lookForFree()
  const stopped = one.stop()
  one.lookForFree()
  await stopped
  expect(await owners(mongo)).toEqual(['', '', '', ''])
  expect(await livingWorkers(mongo)).toBe(0)
})

describe('a database that refuses to take slots back', () => {
  /** From now on it does, or no longer. */
  const refuse = (mongo: Mongo, refused: boolean) =>
    mongo.db.command({ collMod: SLOTS.name, validator: refused ? { owner: { $ne: '' } } : {} })
  const shareOfTwo = async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', QUICK)
    await one.start()
    await refuse(mongo, true)
    await beat(mongo, 'two', 60_000)
    await until(() => one.claimable().size < 4)
    return { mongo, one }
  }

  test('gets them once it does, however often it refused', async () => {
    const { mongo, one } = await shareOfTwo()
    const renewals = one.counts.length
    await until(() => one.counts.length > renewals + 5)
    expect(await owners(mongo)).toEqual(['one', 'one', 'one', 'one'])
    await refuse(mongo, false)
    await until(async () => (await owners(mongo)).filter(owner => owner === '').length === 2)
    expect(one.claimable().size).toBe(2)
  })

  test('leaves none that no worker works on: what was not given back is claimed from again, under its epoch', async () => {
    const { mongo, one } = await shareOfTwo()
    await leave(mongo, 'two')
    await until(() => one.claimable().size === 4)
    expect([...one.claimable()].toSorted()).toEqual([0, 1, 2, 3].map(slot => [slot, 7]))
    expect([0, 1, 2, 3].every(slot => one.mayFinish({ slot, epoch: 7 }))).toBe(true)
    await refuse(mongo, false)
  })

  test('does not keep a worker from stopping, nor its slots from others once their leases end', async () => {
    const { mongo, one } = await shareOfTwo()
    await expect(one.stop()).rejects.toMatchObject({ code: 121 })
    expect(one.claimable().size).toBe(0)
    expect([0, 1, 2, 3].some(slot => one.mayFinish({ slot, epoch: 7 }))).toBe(false)
    await until(async () => (await unownedSlots(mongo)).expired.length === 4, 30_000)
    expect(await takeSlots(mongo, 'two', [0, 1, 2, 3], 60_000)).toHaveLength(4)
  })
})

describe('a worker that stops', () => {
  test('gives its slots back, for others to take immediately', async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', QUICK)
    await one.start()
    await one.stop()
    expect(await owners(mongo)).toEqual(['', '', '', ''])
    expect([...one.claimable()]).toEqual([])
    expect(await takeSlots(mongo, 'two', [0, 1, 2, 3], 60_000)).toHaveLength(4)
  })

  test('does not wait for what hangs: that slot stays its own until its lease ends, the others are free', async () => {
    const mongo = await abandonedSlots()
    const one = worker(mongo, 'one', QUICK)
    await one.start()
    one.busy.set(2, Promise.withResolvers())
    await one.stop()
    expect(await owners(mongo)).toEqual(['', '', 'one', ''])
    expect(one.mayFinish({ slot: 2, epoch: 7 })).toBe(true)
    expect(one.claimable().size).toBe(0)
  })
})
