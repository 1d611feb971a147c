/** Counts everything anew: what the nightly repair compares the running figures with. The only aggregations there are. */

import { addCount } from '../../counters/store/counters.ts'
import { STATUS } from '../../rules/period.ts'
import type { Collections } from '../../store/collections.ts'
import type { CounterDoc } from '../../store/documents.ts'

/** Sets the running figures of an app to what the records say. */
export async function repairCounters(c: Collections, appKey: string): Promise<void> {
  const [total, active, groups, paying] = await Promise.all([
    c.users.countDocuments({ app_key: appKey }),
    c.users.countDocuments({ app_key: appKey, status: '1' }),
    groupSubscriptions(c, appKey),
    countPaying(c, appKey),
  ])
  const truth = { users_total: total, users_active: active, users_paying: paying, ...sumUp(groups) }
  await c.counters.updateOne({ _id: appKey }, { $set: truth }, { upsert: true })
}

interface Group {
  _id: { status: number; plan: number; method: string }
  count: number
  permanent: number
  auto_renew: number
  mrr: number
}

function groupSubscriptions(c: Collections, appKey: string): Promise<Group[]> {
  const timed = { $and: [{ $ne: ['$end', 0] }, { $gt: ['$plan.duration', 0] }] }
  // A half goes up as in the running figures; $round would take it to the even number.
  const monthly = { $floor: { $add: [{ $divide: [{ $multiply: ['$paid_cents', 3000] }, '$plan.duration'] }, 0.5] } }
  return c.subscriptions
    .aggregate<Group>(
      [
        { $match: { app_key: appKey } },
        {
          $group: {
            _id: { status: '$status', plan: '$plan_id', method: '$payment_method' },
            count: { $sum: 1 },
            permanent: { $sum: { $cond: [{ $eq: ['$end', 0] }, 1, 0] } },
            auto_renew: { $sum: { $cond: ['$auto_renew', 1, 0] } },
            mrr: { $sum: { $cond: [timed, monthly, 0] } },
          },
        },
      ],
      { allowDiskUse: true },
    )
    .toArray()
}

async function countPaying(c: Collections, appKey: string): Promise<number> {
  const [result] = await c.subscriptions
    .aggregate<{ n: number }>(
      [{ $match: { app_key: appKey, status: STATUS.active } }, { $group: { _id: '$user_id' } }, { $count: 'n' }],
      { allowDiskUse: true },
    )
    .toArray()
  return result?.n ?? 0
}

function sumUp(groups: readonly Group[]): Omit<CounterDoc, '_id' | 'users_total' | 'users_active' | 'users_paying'> {
  const active = groups.filter(({ _id }) => _id.status === STATUS.active)
  const sum = (of: readonly Group[], field: 'count' | 'permanent' | 'auto_renew' | 'mrr') =>
    of.reduce((total, group) => total + group[field], 0)
  const by = (of: readonly Group[], key: (group: Group) => string | number) => {
    const counts: Record<string, number> = {}
    for (const group of of) addCount(counts, String(key(group)), group.count)
    return counts
  }
  return {
    subs_total: sum(groups, 'count'),
    subs_active: sum(active, 'count'),
    subs_permanent: sum(active, 'permanent'),
    subs_auto_renew: sum(active, 'auto_renew'),
    mrr: sum(active, 'mrr'),
    by_plan: by(active, ({ _id }) => _id.plan),
    by_method: by(active, ({ _id }) => _id.method),
    by_status: by(groups, ({ _id }) => _id.status),
  }
}

/** Sets the figures of a day to what the records say; log-ins cannot be counted afterwards and stay. */
export async function repairDay(
  c: Collections,
  appKey: string,
  { day, from, to }: { day: string; from: Date; to: Date },
): Promise<void> {
  const within = { $gte: from, $lt: to }
  const seconds = { $gte: Math.floor(from.getTime() / 1000), $lt: Math.floor(to.getTime() / 1000) }
  const [new_users, ended, rows] = await Promise.all([
    c.users.countDocuments({ app_key: appKey, created_at: within }),
    c.subscriptions.countDocuments({ app_key: appKey, ended_at: seconds }),
    c.payments.find({ app_key: appKey, created_at: within }, { projection: LEDGER }).toArray(),
  ])
  const count = (test: (row: (typeof rows)[number]) => boolean) => rows.filter(test).length
  const figures = {
    new_users,
    ended,
    new_subs: count(row => row.new_period === 'first'),
    renewals: count(row => row.new_period === 'renewal'),
    refunds: count(row => row.kind === 'refund'),
    revenue_cents: rows.reduce((sum, row) => sum + row.amount_cents, 0),
  }
  await c.days.updateOne(
    { _id: `${appKey}/${day}` },
    { $set: figures, $setOnInsert: { app_key: appKey, day, login_users: 0 } },
    { upsert: true },
  )
}

const LEDGER = { new_period: 1, kind: 1, amount_cents: 1 } as const

/** Writes once how many timed subscriptions a day began with. */
export async function writeOpening(c: Collections, appKey: string, day: string): Promise<void> {
  const counters = await c.counters.findOne({ _id: appKey })
  const opening_timed = (counters?.subs_active ?? 0) - (counters?.subs_permanent ?? 0)
  const _id = `${appKey}/${day}`
  await c.days.updateOne({ _id }, { $setOnInsert: { app_key: appKey, day } }, { upsert: true })
  await c.days.updateOne({ _id, opening_timed: { $exists: false } }, { $set: { opening_timed } })
}

/**
 * Removes what an app had. Its tombstone stays, which keeps the key from being used again, and so does who did what to
 * which record; what the records held goes from the log as well.
 */
export async function purgeApp(c: Collections, appKey: string): Promise<void> {
  const match = { app_key: appKey }
  for (const collection of [
    c.users,
    c.plans,
    c.subscriptions,
    c.payments,
    c.orders,
    c.paymentEvents,
    c.switches,
    c.revisions,
    c.credentials,
    c.channels,
    c.webhooks,
    c.webhookEvents,
    c.days,
    c.reminders,
  ])
    await (collection as typeof c.users).deleteMany(match)
  await c.counters.deleteOne({ _id: appKey })
  const told = { $or: [{ changes: { $ne: {} } }, { reason: { $exists: true } }] }
  await c.audit.updateMany({ ...match, ...told }, { $set: { changes: {} }, $unset: { reason: '' } })
}
