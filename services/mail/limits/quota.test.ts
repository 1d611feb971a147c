import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { type TestClock, testClock } from '../../../test/support/time/test-clock.ts'
import { until } from '../../../test/support/time/until.ts'
import { ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createQuota, type Quota, type Taken } from './quota.ts'
import { QUOTAS, recipientsToday } from './store/quota-leases.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [QUOTAS])
})
afterAll(() => mongo.stop())

/** The counters of several processes, stopped after the test. */
function processes(count: number, clock: TestClock = testClock()): Quota[] {
  const made = Array.from({ length: count }, () => createQuota({ mongo, clock, log: silentLog }))
  onTestFinished(() => Promise.all(made.map(quota => quota.stop())).then(() => undefined))
  return made
}

function oneProcess(clock?: TestClock): Quota {
  return createdFirst(processes(1, clock))
}

function createdFirst([quota]: Quota[]): Quota {
  if (!quota) throw new Error('no process')
  return quota
}

const perHour = (limit: number) => ({ limit, periodMs: HOUR_MS })
const perDay = (limit: number) => ({ limit, periodMs: DAY_MS })

async function takeMany(quotas: readonly Quota[], holder: string, limit: number, times: number): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: times }, (_, i) => quotas[i % quotas.length]?.take(holder, perHour(limit))),
  )
  return results.filter(taken => taken?.kind === 'taken').length
}

/** Puts back what was taken. */
function putBack(taken: Taken): void {
  if (taken.kind !== 'taken') throw new Error('nothing was taken')
  taken.putBack()
}

/** What the database knows of this holder on the day of the test clock. */
async function counted(holder: string, at = testClock().now()): Promise<number | undefined> {
  return (await recipientsToday(mongo.db, [holder], at)).get(holder)
}

describe('messages per hour', () => {
  test.each([1, 7, 19, 20, 1000])('a limit of %i is reached and never passed, over three processes', async limit => {
    expect(await takeMany(processes(3), newId('crd'), limit, limit * 3)).toBe(limit)
  })

  test('a new hour restarts; a past hour lends nothing', async () => {
    const clock = testClock(new Date('2026-03-01T12:59:59.999Z'))
    const login = newId('crd')
    const quota = oneProcess(clock)
    expect(await takeMany([quota], login, 5, 6)).toBe(5)
    clock.advance(1)
    expect(await takeMany([quota], login, 5, 6)).toBe(5)
  })

  test('logins do not share', async () => {
    const quota = oneProcess()
    expect(await takeMany([quota], newId('crd'), 1, 2)).toBe(1)
    expect(await takeMany([quota], newId('crd'), 1, 2)).toBe(1)
  })
})

describe('recipients per day', () => {
  /** Messages with so many recipients, one after the other, on two processes in turn; the last one is the question. */
  test.each<[what: string, limit: number, messages: number[], last: object]>([
    ['one below the limit', 10, [9], { kind: 'taken' }],
    ['exactly the limit', 10, [10], { kind: 'taken' }],
    ['one above the limit', 10, [11], { kind: 'used_up', left: 10 }],
    ['the limit in parts', 10, [3, 3, 4], { kind: 'taken' }],
    ['one more when all is used', 10, [3, 3, 4, 1], { kind: 'used_up', left: 0 }],
    ['several that cross the limit', 10, [8, 3], { kind: 'used_up', left: 2 }],
    ['what fits behind one that did not', 10, [8, 3, 2], { kind: 'taken' }],
    ['the border behind that', 10, [8, 3, 2, 1], { kind: 'used_up', left: 0 }],
    ['less behind a refusal, but still too much', 10, [7, 5, 4], { kind: 'used_up', left: 3 }],
    ['a limit of one', 1, [1], { kind: 'taken' }],
    ['two with a limit of one', 1, [2], { kind: 'used_up', left: 1 }],
    ['the border of a large limit', 100_000, [99_999, 1], { kind: 'taken' }],
    ['beyond the border of a large limit', 100_000, [99_999, 2], { kind: 'used_up', left: 1 }],
  ])('%s', async (_, limit, messages, last) => {
    const account = newId('usr')
    const both = processes(2)
    const answers: (Taken | undefined)[] = []
    for (const [n, recipients] of messages.entries())
      answers.push(await both[n % 2]?.take(account, perDay(limit), recipients))
    expect(answers.at(-1)).toMatchObject(last)
  })

  test('parallel messages of many sizes, over four processes, use the limit and never pass it', async () => {
    const account = newId('usr')
    const four = processes(4)
    const sizes = Array.from({ length: 400 }, (_, i) => (i % 7) + 1)
    const answers = await Promise.all(
      sizes.map(async (size, i) => {
        const taken = await four[i % 4]?.take(account, perDay(1000), size)
        return taken?.kind === 'taken' ? size : 0
      }),
    )
    const used = answers.reduce((sum, size) => sum + size, 0)
    // The rest is spread over four leases and is less than a message of the largest size each.
    expect([used <= 1000, used > 1000 - 4 * 50]).toEqual([true, true])
    await Promise.all(four.map(quota => quota.stop()))
    expect(await counted(account)).toBe(used)
  })

  test('ends at midnight UTC, and reports when', async () => {
    const clock = testClock(new Date('2026-11-21T23:59:59.999Z'))
    const account = newId('usr')
    const quota = oneProcess(clock)
    expect(await quota.take(account, perDay(5), 5)).toMatchObject({ kind: 'taken' })
    const endsAt = new Date('2026-11-22T00:00:00Z')
    expect(await quota.take(account, perDay(5), 1)).toEqual({ kind: 'used_up', left: 0, endsAt })
    clock.advance(1)
    expect(await quota.take(account, perDay(5), 5)).toMatchObject({ kind: 'taken' })
    expect(await quota.take(account, perDay(5), 1)).toMatchObject({ endsAt: new Date('2026-11-23T00:00:00Z') })
  })

  test('what is put back on the next day is not of that day', async () => {
    const clock = testClock(new Date('2026-11-21T23:59:59.999Z'))
    const account = newId('usr')
    const quota = oneProcess(clock)
    const yesterday = await quota.take(account, perDay(5), 5)
    clock.advance(1)
    expect(await quota.take(account, perDay(5), 5)).toMatchObject({ kind: 'taken' })
    putBack(yesterday)
    expect(await quota.take(account, perDay(5), 1)).toMatchObject({ kind: 'used_up' })
  })
})

describe('giving back', () => {
  test('what is put back can be taken again', async () => {
    const quota = oneProcess()
    const account = newId('usr')
    const first = await quota.take(account, perDay(5), 5)
    expect(await quota.take(account, perDay(5), 1)).toMatchObject({ kind: 'used_up' })
    putBack(first)
    expect(await quota.take(account, perDay(5), 5)).toMatchObject({ kind: 'taken' })
  })

  test('a stopped process gives back what it did not spend', async () => {
    const login = newId('crd')
    const [one, two] = processes(2)
    if (!one || !two) throw new Error('no process')
    const taken = await one.take(login, perHour(100), 50)
    putBack(taken)
    await one.stop()
    expect(await takeMany([two], login, 100, 200)).toBe(100)
  })

  test('a process that rests gives back what it holds, and others find it', async () => {
    const clock = testClock()
    const account = newId('usr')
    const [one, two] = processes(2, clock)
    if (!one || !two) throw new Error('no process')
    for (let n = 0; n < 4; n++) await one.take(account, perDay(1000))
    expect(await counted(account)).toBe(7) // blocks of 1, 2 and 4
    clock.advance(2_000)
    await until(async () => (await counted(account)) === 4)
    expect(await two.take(account, perDay(1000), 996)).toMatchObject({ kind: 'taken' })
    expect(await one.take(account, perDay(1000), 1)).toMatchObject({ kind: 'used_up', left: 0 })
  })

  test('what is put back after the process forgot the account is not lost', async () => {
    const clock = testClock()
    const [account, other] = [newId('usr'), newId('usr')]
    const [one, two] = processes(2, clock)
    if (!one || !two) throw new Error('no process')
    const slow = await one.take(account, perDay(1000), 10) // all of its block: nothing is left to give back
    for (let n = 0; n < 2; n++) await one.take(other, perDay(1000))
    clock.advance(2_000)
    await until(async () => (await counted(other)) === 2) // so both have rested
    putBack(slow)
    clock.advance(2_000)
    await until(async () => (await counted(account)) === 0)
    expect(await two.take(account, perDay(1000), 1000)).toMatchObject({ kind: 'taken' })
  })

  test('a limit that is used up is asked for again after a while', async () => {
    const clock = testClock()
    const login = newId('crd')
    const [one, two] = processes(2, clock)
    if (!one || !two) throw new Error('no process')
    const held = await one.take(login, perHour(10), 4)
    expect(await takeMany([two], login, 10, 20)).toBe(6)
    putBack(held)
    await one.stop()
    expect(await two.take(login, perHour(10))).toMatchObject({ kind: 'used_up' })
    clock.advance(5_000)
    expect(await two.take(login, perHour(10))).toMatchObject({ kind: 'taken' })
  })
})

describe('a changed limit', () => {
  test('counts from the next message', async () => {
    const quota = oneProcess()
    const login = newId('crd')
    expect(await takeMany([quota], login, 10, 10)).toBe(10)
    expect(await quota.take(login, perHour(10))).toMatchObject({ kind: 'used_up' })
    expect(await takeMany([quota], login, 12, 5)).toBe(2)
    expect(await quota.take(login, perHour(3))).toMatchObject({ kind: 'used_up', left: 0 })
  })

  test('that is lower is not passed with what the process still holds', async () => {
    const quota = oneProcess()
    const account = newId('usr')
    for (let n = 0; n < 8; n++) await quota.take(account, perDay(1000)) // holds seven more
    expect(await quota.take(account, perDay(10), 3)).toMatchObject({ kind: 'used_up', left: 2 })
    expect(await quota.take(account, perDay(10), 2)).toMatchObject({ kind: 'taken' })
    expect(await quota.take(account, perDay(10), 1)).toMatchObject({ kind: 'used_up', left: 0 })
  })
})

test('a busy sender costs a write per block, not per message', async () => {
  const account = newId('usr')
  const quota = oneProcess()
  await mongo.db.command({ profile: 2 })
  for (let n = 0; n < 10_000; n++) await quota.take(account, perDay(100_000))
  await mongo.db.command({ profile: 0 })
  const leases = { ns: `${mongo.db.databaseName}.quotas`, 'command.query._id': { $regex: `^${account}@` } }
  // Blocks of 1, 2, 4 … 128, then of 200.
  expect(await mongo.db.collection('system.profile').countDocuments(leases)).toBe(8 + Math.ceil((10_000 - 255) / 200))
})
