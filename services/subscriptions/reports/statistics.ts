/** Statistics of users and subscriptions, from running counters and daily counters: no request reads all users. */

import { DAY_SECONDS } from '../../platform/durations.ts'
import { countSwitches, planNames } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import { countersOf, openDaysOf, totalOf } from '../counters/running-counters.ts'
import { type DayCounts, emptyDay, readDays } from '../counters/store/counters.ts'
import { countEnded, countEnding, countLagging } from '../lifecycle/store/subscriptions.ts'
import { countPlatforms } from '../people/store/end-users.ts'
import { addDays, daysBetween, monthStart, secondsOf } from '../rules/time-zone.ts'
import { growth, round2, share } from './rules/growth.ts'

/** Days that may still change: today, and yesterday for requests in flight at midnight. */
const OPEN_DAYS = 1

/** Counters of days, and their sums. */
interface Calendar {
  today: string
  day(day: string): DayCounts
  /** Sums a field over days, both inclusive. */
  sum(field: keyof DayCounts, first: string, last: string): number
}

async function calendar(context: Subscriptions, appKeys: readonly string[], back: number): Promise<Calendar> {
  const today = context.zone.day(context.clock.now())
  const lastMonth = monthStart(today, -1)
  const earliest = addDays(today, -back)
  const first = earliest < lastMonth ? earliest : lastMonth
  const open = addDays(today, -OPEN_DAYS)
  const last = addDays(open, -1)
  const [past, recent] = await Promise.all([
    context.memory.days.get(`${first} ${last} ${appKeys.join(' ')}`, () =>
      readDays(context.collections, appKeys, first, last),
    ),
    openDaysOf(context, appKeys, open, today),
  ])
  const day = (name: string) => recent.get(name) ?? past.get(name) ?? emptyDay()
  return {
    today,
    day,
    sum: (field, first, last) => sumOf(past, field, first, last) + sumOf(recent, field, first, last),
  }
}

/** Days are compared as text, without a date object for each. */
function sumOf(days: Map<string, DayCounts>, field: keyof DayCounts, first: string, last: string): number {
  let sum = 0
  for (const [name, dayCounts] of days) if (name >= first && name <= last) sum += dayCounts[field]
  return sum
}

/** The eleven values of the reference, and growth compared like for like. */
export async function userStatistics(context: Subscriptions, appKeys: readonly string[]) {
  const [counters, days] = await Promise.all([countersOf(context, appKeys), calendar(context, appKeys, 0)])
  const { today } = days
  const users = windows(days, 'new_users')
  return {
    total_users: counters.users_total,
    active_users: counters.users_active,
    inactive_users: counters.users_total - counters.users_active,
    today_new_users: users.today,
    yesterday_new_users: users.yesterday,
    this_month_new_users: users.thisMonth,
    last_month_new_users: users.lastMonth,
    today_login_users: days.day(today).login_users,
    daily_growth_rate: growth(users.today, users.yesterday),
    monthly_growth_rate: growth(users.thisMonth, users.lastMonth),
    active_rate: share(counters.users_active, counters.users_total),
    monthly_growth_rate_like_for_like: growth(users.thisMonth, users.lastMonthSoFar),
  }
}

/** The same values with one entry per day. */
export async function userTrend(context: Subscriptions, appKeys: readonly string[], days: number) {
  const known = await calendar(context, appKeys, days)
  const trend = daysBetween(addDays(known.today, 1 - days), known.today).map(date => {
    const { new_users, login_users } = known.day(date)
    return { date, new_users, login_users }
  })
  return { ...(await userStatistics(context, appKeys)), trend }
}

/** The same values with the users of each platform, the largest first. */
export async function usersByPlatform(context: Subscriptions, appKeys: readonly string[]) {
  const [dayCounts, counts] = await Promise.all([
    userStatistics(context, appKeys),
    countPlatforms(context.collections, context.count, appKeys, context.clock.now()),
  ])
  const total = counts.reduce((sum, { users }) => sum + users, 0)
  const platforms = counts
    .toSorted((a, b) => b.users - a.users)
    .map(({ platform, users }) => ({ platform, total_users: users, share: share(users, total) }))
  return { ...dayCounts, platforms }
}

/** Today, yesterday, this month, last month, and last month up to the same day of the month. */
function windows(days: Calendar, field: keyof DayCounts) {
  const { today } = days
  const [first, previous] = [monthStart(today), monthStart(today, -1)]
  const lastOfPrevious = addDays(first, -1)
  const sameDay = addDays(previous, Number(today.slice(8)) - 1)
  return {
    today: days.day(today)[field],
    yesterday: days.day(addDays(today, -1))[field],
    thisMonth: days.sum(field, first, today),
    lastMonth: days.sum(field, previous, lastOfPrevious),
    lastMonthSoFar: days.sum(field, previous, sameDay < lastOfPrevious ? sameDay : lastOfPrevious),
  }
}

/** The overview of one app or of several. */
export async function overview(context: Subscriptions, appKeys: readonly string[], trendDays: number) {
  const now = context.clock.now()
  const nowSeconds = secondsOf(now)
  const monthFirst = monthStart(context.zone.day(now))
  const monthSeconds = secondsOf(context.zone.startOf(monthFirst))
  const soonSeconds = context.config.EXPIRING_SOON_DAYS * DAY_SECONDS
  const total = (what: string, count: () => Promise<number>) => totalOf(context, appKeys, what, count)
  const [counters, days, switches, enabledSwitches, lagging, soon, endedThisMonth] = await Promise.all([
    countersOf(context, appKeys),
    calendar(context, appKeys, trendDays),
    total('switches', () => countSwitches(context.collections, appKeys)),
    total('enabled switches', () => countSwitches(context.collections, appKeys, '1')),
    total('lagging', () => countLagging(context.collections, appKeys, nowSeconds)),
    total('ending', () => countEnding(context.collections, context.count, appKeys, now, soonSeconds)),
    total('ended', () => countEnded(context.collections, context.count, appKeys, now, monthSeconds)),
  ])
  const subscriptions = windows(days, 'new_subs')
  const revenue = windows(days, 'revenue_cents')
  const active = counters.subs_active - lagging
  const timed = active - counters.subs_permanent
  const opening = days.day(monthFirst).opening_timed
  return {
    total_apps: appKeys.length,
    total_users: counters.users_total,
    today_new_users: days.day(days.today).new_users,
    today_login_users: days.day(days.today).login_users,
    active_subscriptions: active,
    permanent_subscriptions: counters.subs_permanent,
    timed_subscriptions: timed,
    expiring_soon_subscriptions: soon,
    expired_subscriptions: (counters.by_status['2'] ?? 0) + lagging,
    auto_renew_subscriptions: counters.subs_auto_renew,
    today_new_subscriptions: subscriptions.today,
    yesterday_new_subscriptions: subscriptions.yesterday,
    this_month_new_subscriptions: subscriptions.thisMonth,
    last_month_new_subscriptions: subscriptions.lastMonth,
    today_revenue: yuan(revenue.today),
    this_month_revenue: yuan(revenue.thisMonth),
    last_month_revenue: yuan(revenue.lastMonth),
    mrr: round2(counters.mrr / 10_000),
    // Without an opening count, the month began with the current subscriptions and those that have ended since.
    churn_rate: share(endedThisMonth, opening > 0 ? opening : timed + endedThisMonth),
    renewal_rate: share(
      days.sum('renewals', monthFirst, days.today),
      days.sum('renewals', monthFirst, days.today) + days.sum('ended', monthFirst, days.today),
    ),
    paying_rate: share(counters.users_paying, counters.users_total),
    subscription_daily_growth_rate: growth(subscriptions.today, subscriptions.yesterday),
    subscription_monthly_growth_rate: growth(subscriptions.thisMonth, subscriptions.lastMonth),
    total_switches: switches,
    enabled_switches: enabledSwitches,
    plans: await planShares(context, counters.by_plan, active),
    payment_methods: Object.entries(counters.by_method)
      .filter(([, count]) => count > 0)
      .map(([payment_method, count]) => ({ payment_method, active_subscriptions: count, share: share(count, active) })),
    trend: daysBetween(addDays(days.today, 1 - trendDays), days.today).map(date => trendDay(date, days.day(date))),
    generated_at: context.zone.format(now),
  }
}

async function planShares(context: Subscriptions, byPlan: Record<string, number>, active: number) {
  const sold = Object.entries(byPlan).filter(([, count]) => count > 0)
  const ids = sold.map(([id]) => Number(id))
  const names = await context.memory.planNames.get(ids.join(' '), () => planNames(context.collections, ids))
  return sold.map(([id, count]) => ({
    plan_id: id,
    plan_name: names.get(Number(id)) ?? '',
    active_subscriptions: count,
    share: share(count, active),
  }))
}

function trendDay(date: string, dayCounts: DayCounts) {
  const { new_users, login_users, new_subs, renewals, ended, refunds, revenue_cents } = dayCounts
  return {
    date,
    new_users,
    login_users,
    new_subscriptions: new_subs,
    renewals,
    ended,
    refunds,
    revenue: yuan(revenue_cents),
  }
}

const yuan = (cents: number): number => round2(cents / 100)
