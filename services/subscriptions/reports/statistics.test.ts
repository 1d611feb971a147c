/** Statistics over ends of months and years, and over days on which the clock changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { emptyDay } from '../counters/store/counters.ts'
import { addDays } from '../rules/time-zone.ts'
import { overview, userStatistics, userTrend } from './statistics.ts'

const HOUR_MS = 3_600_000

/** A shop with one new user, subscription and yuan on each of 900 days; `noonOf` turns the clock. */
async function busyShop(env: Record<string, string> = {}, closing?: (close: () => Promise<void>) => void) {
  const { context, clock } = await openSubscriptionsModule(env, closing)
  const counts = { ...emptyDay(), new_users: 1, new_subs: 1, revenue_cents: 100 }
  const days = Array.from({ length: 900 }, (_, n) => addDays('2026-01-01', n))
  await context.collections.days.insertMany(days.map(day => ({ _id: `shop/${day}`, app_key: 'shop', day, ...counts })))
  const noonOf = (day: string) =>
    clock.advance(context.zone.startOf(day).getTime() + 12 * HOUR_MS - clock.now().getTime())
  return { context, noonOf }
}

let shop: Awaited<ReturnType<typeof busyShop>>
let close: () => Promise<void>
beforeAll(async () => {
  shop = await busyShop({}, stop => {
    close = stop
  })
})
afterAll(() => close())

describe('with one new user a day', () => {
  test.each<[string, thisMonth: number, lastMonth: number, soFar: number]>([
    ['2027-03-01', 1, 28, 1],
    ['2027-03-28', 28, 28, 28],
    ['2027-03-31', 31, 28, 28],
    ['2028-03-29', 29, 29, 29],
    ['2028-03-31', 31, 29, 29],
    ['2028-02-29', 29, 31, 29],
    ['2027-01-01', 1, 31, 1],
    ['2027-01-31', 31, 31, 31],
    ['2026-12-31', 31, 30, 30],
    ['2027-05-31', 31, 30, 30],
  ])('on %s this month has %i, last month %i, and by the same day %i', async (day, thisMonth, lastMonth, soFar) => {
    const { context, noonOf } = shop
    noonOf(day)
    expect(await userStatistics(context, ['shop'])).toMatchObject({
      ...{ today_new_users: 1, yesterday_new_users: 1, this_month_new_users: thisMonth },
      ...{ last_month_new_users: lastMonth, daily_growth_rate: 0 },
      monthly_growth_rate: round(((thisMonth - lastMonth) / lastMonth) * 100),
      monthly_growth_rate_like_for_like: round(((thisMonth - soFar) / soFar) * 100),
    })
    expect(await overview(context, ['shop'], 3)).toMatchObject({
      ...{ this_month_revenue: thisMonth, last_month_revenue: lastMonth, today_revenue: 1 },
      ...{ this_month_new_subscriptions: thisMonth, last_month_new_subscriptions: lastMonth },
    })
  })

  const round = (value: number) => Math.round(value * 100) / 100 + 0
})

describe('a trend', () => {
  const everyDay = (trend: readonly { date: string; new_users: number }[]) => {
    expect(trend.every(({ new_users }) => new_users === 1)).toBe(true)
    expect(new Set(trend.map(({ date }) => date)).size).toBe(trend.length)
  }

  test.each<[string, number, string]>([
    ['2028-03-01', 2, '2028-02-29'],
    ['2027-03-01', 2, '2027-02-28'],
    ['2027-01-01', 90, '2026-10-04'],
    ['2026-11-21', 1, '2026-11-21'],
  ])('up to %s over %i days begins on %s', async (last, count, first) => {
    const { context, noonOf } = shop
    noonOf(last)
    const { trend } = await userTrend(context, ['shop'], count)
    expect([trend.length, trend[0]?.date, trend.at(-1)?.date]).toEqual([count, first, last])
    everyDay(trend)
    expect((await overview(context, ['shop'], count)).trend.map(({ date }) => date)).toEqual(
      trend.map(({ date }) => date),
    )
  })

  test.each([
    ['America/New_York', '2026-11-02'],
    ['America/Santiago', '2026-09-07'],
    ['Australia/Lord_Howe', '2026-10-05'],
  ])('in %s has each day once although the clock changes', async (tz, last) => {
    const { context, noonOf } = await busyShop({ BUSINESS_TZ: tz })
    noonOf(last)
    const { trend } = await userTrend(context, ['shop'], 30)
    expect([trend.length, trend.at(-1)?.date]).toEqual([30, last])
    everyDay(trend)
  })
})

test('without apps and on the first day all values are finite', async () => {
  const { context } = await openSubscriptionsModule()
  for (const appKeys of [[], ['unknown']]) {
    const counts = { ...(await overview(context, appKeys, 1)), ...(await userStatistics(context, appKeys)) }
    const numbers = Object.values(counts).filter(value => typeof value === 'number')
    expect(numbers.length).toBeGreaterThan(20)
    expect(numbers.every(Number.isFinite)).toBe(true)
    expect(counts.churn_rate).toBe(0)
  }
})

test('the churn of a past month is computed from current subscriptions', async () => {
  const { context, clock, giveApp, giveUser, givePlan, pay } = await openSubscriptionsModule()
  await giveApp('shop')
  const plan = await givePlan('shop', { duration: 5 })
  const advanceTo = (at: string) => clock.advance(new Date(at).getTime() - clock.now().getTime())
  // The last second of November and the first of December, in Shanghai.
  advanceTo('2026-11-30T15:59:59Z')
  await pay(await giveUser('shop'), plan)
  advanceTo('2026-11-30T16:00:00Z')
  await pay(await giveUser('shop'), plan, { amountCents: 50 })
  expect(await overview(context, ['shop'], 2)).toMatchObject({
    ...{ last_month_revenue: 19.9, this_month_revenue: 0.5, today_revenue: 0.5 },
    ...{ yesterday_new_subscriptions: 1, today_new_subscriptions: 1, active_subscriptions: 2, churn_rate: 0 },
    trend: [
      { date: '2026-11-30', revenue: 19.9, new_users: 1 },
      { date: '2026-12-01', revenue: 0.5, new_users: 1 },
    ],
  })
  // Both are over, and the sweep has not been there: they count as expired, as each of them is shown.
  advanceTo('2026-12-05T16:00:00Z')
  expect(await overview(context, ['shop'], 1)).toMatchObject({ active_subscriptions: 0, expired_subscriptions: 2 })
})
