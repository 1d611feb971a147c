/** Rates over several counters, on a real database with the clock of its server. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { failCommands } from '../../../test/support/database/fail-commands.ts'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { startTestMongod } from '../../../test/support/database/test-mongod.ts'
import { until } from '../../../test/support/time/until.ts'
import { systemClock } from '../../platform/clock.ts'
import { collectionOf, connectMongo, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createQuota, type Quota, type Taken } from './quota.ts'
import { leaseRate, RATES, readRates, returnRate } from './store/rate-leases.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [RATES])
})
afterAll(() => mongo.stop())

function counters(count: number): Quota[] {
  const made = Array.from({ length: count }, () => createQuota({ mongo, clock: systemClock, log: silentLog }))
  onTestFinished(() => Promise.all(made.map(quota => quota.stop())).then(() => undefined))
  return made
}

const bucketOf = (holder: string) => collectionOf(mongo.db, RATES).findOne({ _id: holder })

/** Makes a bucket as full as it is `ms` after it was last used. */
async function age(holder: string, ms: number): Promise<void> {
  await collectionOf(mongo.db, RATES).updateOne({ _id: holder }, { $inc: { full_at: -ms } })
}

describe('one bucket', () => {
  /** Slow enough that nothing is added while a case runs: one part in ten minutes. */
  const rate = (burst: number) => ({ limit: 1 / 600, burst })

  test.each<[what: string, burst: number, needs: [need: number, wanted: number][], granted: number[]]>([
    ['the burst is there at once', 5, [[5, 5]], [5]],
    [
      'and no more',
      5,
      [
        [5, 5],
        [1, 1],
      ],
      [5, 0],
    ],
    [
      'as much as is wanted',
      5,
      [
        [1, 3],
        [1, 3],
      ],
      [3, 2],
    ],
    [
      'a need that does not fit takes nothing',
      5,
      [
        [4, 4],
        [2, 2],
        [1, 1],
      ],
      [4, 0, 1],
    ],
    [
      'more than the burst passes a full bucket',
      5,
      [
        [8, 8],
        [1, 1],
      ],
      [8, 0],
    ],
    [
      'and no other',
      5,
      [
        [1, 1],
        [8, 8],
      ],
      [1, 0],
    ],
    [
      'a burst of one',
      1,
      [
        [1, 200],
        [1, 200],
      ],
      [1, 0],
    ],
  ])('%s', async (_, burst, needs, granted) => {
    const holder = newId('usr')
    const answers: number[] = []
    for (const [need, wanted] of needs)
      answers.push((await leaseRate(mongo, holder, rate(burst), { need, wanted })).granted)
    expect(answers).toEqual(granted)
  })

  test('says how long to wait, and fills by the interval', async () => {
    const holder = newId('usr')
    await leaseRate(mongo, holder, rate(5), { need: 8, wanted: 8 })
    const { granted, waitMs } = await leaseRate(mongo, holder, rate(5), { need: 1, wanted: 1 })
    // Four parts are missing before there is one again: three above the burst, and the one.
    expect([granted, Math.round(waitMs / 60_000)]).toEqual([0, 40])
    await age(holder, 41 * 60_000)
    expect(await leaseRate(mongo, holder, rate(5), { need: 1, wanted: 5 })).toMatchObject({ granted: 1, rest: 0 })
  })

  test('never holds more than the burst, however long it rests or whatever is given back', async () => {
    const holder = newId('usr')
    await leaseRate(mongo, holder, rate(5), { need: 1, wanted: 1 })
    await age(holder, 1e9)
    await returnRate(mongo, holder, rate(5), 1_000)
    expect(await leaseRate(mongo, holder, rate(5), { need: 1, wanted: 100 })).toMatchObject({ granted: 5 })
  })

  test('a changed rate keeps what was used', async () => {
    const holder = newId('usr')
    await leaseRate(mongo, holder, rate(10), { need: 10, wanted: 10 })
    // Ten parts are missing of either rate, which is ten minutes of this one.
    const faster = { limit: 1 / 60, burst: 10 }
    expect(await leaseRate(mongo, holder, faster, { need: 1, wanted: 1 })).toMatchObject({ granted: 0 })
    await age(holder, 3 * 60_000)
    expect((await leaseRate(mongo, holder, faster, { need: 3, wanted: 3 })).granted).toBe(3)
  })

  test('what could be taken now is read without taking it', async () => {
    const holder = newId('usr')
    await leaseRate(mongo, holder, rate(5), { need: 2, wanted: 2 })
    const read = () =>
      readRates(
        mongo,
        new Map([
          [holder, rate(5)],
          ['usr_none', rate(5)],
        ]),
        systemClock.now(),
      )
    expect([...(await read())]).toEqual([[holder, 3]])
    expect([...(await read())]).toEqual([[holder, 3]])
  })

  test('first leases at the same moment share one bucket', async () => {
    const holder = newId('usr')
    const leases = Array.from({ length: 30 }, () => leaseRate(mongo, holder, rate(7), { need: 1, wanted: 1 }))
    expect((await Promise.all(leases)).filter(({ granted }) => granted === 1)).toHaveLength(7)
  })
})

describe('several counters', () => {
  test('share a rate under more demand than it allows: no second more, and 95 % used', async () => {
    const rate = { limit: 50, burst: 50 }
    const holder = newId('usr')
    const four = counters(4)
    const began = performance.now()
    const passed: number[] = []
    const demand = async (quota: Quota) => {
      while (performance.now() - began < 4_000) {
        const taken = await quota.take(holder, rate)
        const at = performance.now()
        if (taken.kind === 'taken') passed.push(at - began)
        else await until(() => systemClock.now() >= taken.endsAt)
      }
    }
    await Promise.all(four.flatMap(quota => [demand(quota), demand(quota)]))
    const seconds = (performance.now() - began) / 1000
    // What was leased within the last second may pass with the burst: at most a block of two for each counter.
    expect(passed.length).toBeLessThanOrEqual(50 + 50 * seconds + 4 * 2)
    expect(passed.length).toBeGreaterThanOrEqual(0.95 * 50 * 4)
  })

  test('one that stops gives back what it has; one that is killed has lost a block at most', async () => {
    const rate = { limit: 1_000, burst: 1_000 }
    const holder = newId('usr')
    // A clock that does not advance: what was leased a second ago would be given back before the stop.
    const now = systemClock.now()
    const one = createQuota({ mongo, clock: { now: () => now }, log: silentLog })
    onTestFinished(() => one.stop())
    for (let n = 0; n < 40; n++) await one.take(holder, rate) // blocks of 1, 2, 4, … 32
    await collectionOf(mongo.db, RATES).updateOne({ _id: holder }, { $inc: { full_at: 3_600_000 } })
    const before = (await bucketOf(holder))?.full_at ?? 0
    await one.stop()
    // 63 leased, 40 used; a part is a millisecond.
    expect(Math.round(before - ((await bucketOf(holder))?.full_at ?? 0))).toBe(23)
  })

  test('what is leased is given back after a second, though the counter is in use', async () => {
    const rate = { limit: 1_000, burst: 1_000 }
    const holder = newId('usr')
    const now = { at: systemClock.now().getTime() }
    const quota = createQuota({ mongo, clock: { now: () => new Date(now.at) }, log: silentLog })
    onTestFinished(() => quota.stop())
    for (let n = 0; n < 4; n++) await quota.take(holder, rate) // holds three more
    await collectionOf(mongo.db, RATES).updateOne({ _id: holder }, { $inc: { full_at: 3_600_000 } })
    now.at += 1_000
    expect(await quota.take(holder, rate)).toMatchObject({ kind: 'used_up' })
  })

  test('part of what was taken is put back', async () => {
    const rate = { limit: 1 / 600, burst: 5 }
    const [quota] = counters(1)
    const holder = newId('usr')
    const taken = await quota?.take(holder, rate, 5)
    if (taken?.kind !== 'taken') throw new Error('nothing was taken')
    taken.putBack(2)
    expect(await quota?.take(holder, rate, 3)).toMatchObject({ kind: 'used_up', left: 2 })
    expect(await quota?.take(holder, rate, 2)).toMatchObject({ kind: 'taken' })
  })

  test('a lease whose answer is lost is not repeated: the rate is not exceeded', async () => {
    const rate = { limit: 1 / 600, burst: 5 }
    const holder = newId('usr')
    const mongod = await startTestMongod({ enableTestCommands: '1' })
    const own = await connectMongo(mongod.uri, silentLog)
    const quota = createQuota({ mongo: own, clock: systemClock, log: silentLog })
    onTestFinished(async () => {
      await quota.stop()
      await own.stop()
      await mongod.stop()
    })
    const failure = { failCommands: ['findAndModify'], closeConnection: true }
    const end = await failCommands(own.db, failure, { times: 2 }) // the first try, and the driver's second
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => quota.take(holder, rate)))
    await end()
    const more = await Promise.all(Array.from({ length: 8 }, () => quota.take(holder, rate)))
    const isTaken = (taken: Taken) => taken.kind === 'taken'
    const passed = answers.flatMap(one => (one.status === 'fulfilled' && isTaken(one.value) ? [1] : [])).length
    expect(answers.some(({ status }) => status === 'rejected')).toBe(true)
    expect(passed + more.filter(isTaken).length).toBeLessThanOrEqual(5)
    expect(passed + more.filter(isTaken).length).toBeGreaterThanOrEqual(1)
  })
})
