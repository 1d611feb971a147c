import { expect, onTestFinished, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { setMachineClock } from '../../../test/support/time/machine-clock.ts'
import { until } from '../../../test/support/time/until.ts'
import { type Log, silentLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import { readDatabaseTime, startDatabaseClock } from './database-clock.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-11-22T10:00:00Z')

/** A database and a machine with clocks of their own, which tests turn; measured every millisecond. */
async function startedClock(given: { aheadMs?: number; answerMs?: number } = {}) {
  let elapsed = 0
  const [aheadMs, answerMs] = [given.aheadMs ?? 0, given.answerMs ?? 0]
  const state = { ahead: aheadMs, database: 0, answerMs, away: false, reads: 0 }
  const lines: string[] = []
  const note = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`)
  const log: Log = { ...silentLog, warn: note('warn'), info: note('info') }
  const metrics = createMetrics('test')
  const clock = await startDatabaseClock({
    log,
    metrics,
    intervalMs: 1,
    machine: { wall: () => START + elapsed + state.ahead, monotonic: () => elapsed },
    async read() {
      state.reads++
      if (state.away) throw new Error('away')
      // The worst case: all of the time passes on the way back.
      const time = new Date(START + elapsed + state.database)
      elapsed += state.answerMs
      return time
    },
  })
  onTestFinished(() => clock.stop())
  return {
    state,
    lines,
    /** Milliseconds between the clock and the database's. */
    error: () => clock.now().getTime() - (START + elapsed + state.database),
    pass: (ms: number) => {
      elapsed += ms
    },
    measured: async () => {
      const { reads } = state
      await until(() => state.reads > reads + 1)
    },
    warning: () => clock.warning(),
    skewSeconds: async () => (await metrics.clockSkew.get()).values[0]?.value ?? Number.NaN,
  }
}

test.each([
  ['right', 0, undefined],
  ['a little ahead', 1_500, undefined],
  ['an hour ahead', HOUR, /^the machine's clock is 3600\.0 s ahead of the database's/],
  ['an hour behind', -HOUR, /^the machine's clock is 3600\.0 s behind the database's/],
  ['three seconds behind', -3_000, /3\.0 s behind/],
])("a machine that is %s follows the database's clock and reports it", async (_, aheadMs, warning) => {
  const fixture = await startedClock({ aheadMs })
  expect(Math.abs(fixture.error())).toBeLessThanOrEqual(1)
  fixture.pass(10 * HOUR)
  expect(Math.abs(fixture.error())).toBeLessThanOrEqual(1)
  expect(await fixture.skewSeconds()).toBeCloseTo(aheadMs / 1000, 2)
  if (warning) expect(fixture.warning()).toMatch(warning)
  else expect(fixture.warning()).toBeUndefined()
  await fixture.measured()
  expect(fixture.lines.length).toBe(warning ? 1 : 0) // once, not at each measurement
})

test('a step of the machine changes nothing but what is reported', async () => {
  const fixture = await startedClock()
  fixture.state.ahead = HOUR
  expect(Math.abs(fixture.error())).toBeLessThanOrEqual(1)
  expect(fixture.warning()).toMatch(/3600\.0 s ahead/)
  await until(() => fixture.lines.length === 1)
  fixture.state.ahead = 0
  await until(() => fixture.lines.length === 2)
  expect(fixture.lines[1]).toBe("info the machine's clock agrees with the database's again")
  expect(fixture.warning()).toBeUndefined()
  expect(Math.abs(fixture.error())).toBeLessThanOrEqual(1)
})

test.each([HOUR, -HOUR, 3_000])('a step of the database by %i ms is followed and logged', async step => {
  const fixture = await startedClock()
  fixture.state.database = step
  await until(() => Math.abs(fixture.error()) <= 1)
  expect(fixture.lines[0]).toMatch(/^warn the database's clock was stepped/)
})

test('a slow response makes the clock no worse, and a slow first one is soon corrected', async () => {
  const quick = await startedClock()
  quick.state.answerMs = 4_000
  await quick.measured()
  expect(Math.abs(quick.error())).toBeLessThan(10)
  const slow = await startedClock({ answerMs: 1_000 })
  expect(Math.abs(slow.error())).toBeLessThanOrEqual(500) // half of the round trip, the best estimate
  slow.state.answerMs = 0
  await slow.measured()
  expect(Math.abs(slow.error())).toBeLessThanOrEqual(1)
})

test('the clock runs on while the database is away', async () => {
  const fixture = await startedClock({ aheadMs: HOUR })
  fixture.state.away = true
  fixture.pass(24 * HOUR)
  await fixture.measured()
  expect(Math.abs(fixture.error())).toBeLessThanOrEqual(1)
  expect(fixture.warning()).toMatch(/ahead/)
})

test('there is no clock without a first answer', async () => {
  const read = () => Promise.reject(new Error('no primary'))
  await expect(startDatabaseClock({ read, log: silentLog, metrics: createMetrics('test') })).rejects.toThrow(
    'no primary',
  )
})

test.each([HOUR, -HOUR])('against a real database, on a machine that is %i ms ahead', async aheadMs => {
  const mongo = await databaseForThisTest()
  const setBack = setMachineClock(aheadMs)
  try {
    const metrics = createMetrics('test')
    const theirs = async () => (await readDatabaseTime(mongo.db)).getTime()
    const began = performance.now()
    const clock = await startDatabaseClock({ read: () => readDatabaseTime(mongo.db), log: silentLog, metrics })
    // A first answer that was slow makes the clock that much worse.
    const inexact = 500 + (performance.now() - began)
    const [before, ours, after] = [await theirs(), clock.now().getTime(), await theirs()]
    await clock.stop()
    expect(ours).toBeGreaterThan(before - inexact)
    expect(ours).toBeLessThan(after + inexact)
    const skewMs = ((await metrics.clockSkew.get()).values[0]?.value ?? Number.NaN) * 1_000
    expect(Math.abs(skewMs - aheadMs)).toBeLessThan(inexact)
  } finally {
    setBack()
  }
})
