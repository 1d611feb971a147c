/** Full recounts, which the nightly repair compares with the running counters. The only aggregations of this module. */

import { addCount } from '../../counters/store/counters.ts'
import { STATUS } from '../../rules/subscription-lifecycle.ts'
import type { Collections } from '../../store/collections.ts'
import type { CounterDoc } from '../../store/documents.ts'

/** Sets the running counters of an app from its records. */
export async function repairCounters(collections: Collections, appKey: string): Promise<void> {
  const [total, active, groups, paying] = await Promise.all([
    collections.users.countDocuments({ app_key: appKey }),
    collections.users.countDocuments({ app_key: appKey, status: '1' }),
    groupSubscriptions(collections, appKey),
    countPaying(collections, appKey),
  ])
  const truth = { users_total: total, users_active: active, users_paying: paying, ...sumUp(groups) }
  await collections.counters.updateOne({ _id: appKey }, { $set: truth }, { upsert: true })
}

interface Group {
  _id: { status: number; plan: number; method: string }
  count: number
  permanent: number
  auto_renew: number
  mrr: number
}

function groupSubscriptions(collections: Collections, appKey: string): Promise<Group[]> {
  const timed = { $and: [{ $ne: ['$end', 0] }, { $gt: ['$plan.duration', 0] }] }
  // Rounds halves up, as the running counters do; $round would round to even.
  const monthly = { $floor: { $add: [{ $divide: [{ $multiply: ['$paid_cents', 3000] }, '$plan.duration'] }, 0.5] } }
  return collections.subscriptions
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

async function countPaying(collections: Collections, appKey: string): Promise<number> {
  const [result] = await collections.subscriptions
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

/** Sets the counters of a day from the records, except logins, which cannot be recounted. */
export async function repairDay(
  collections: Collections,
  appKey: string,
  { day, from, to }: { day: string; from: Date; to: Date },
): Promise<void> {
  const period = { $gte: from, $lt: to }
  const seconds = { $gte: Math.floor(from.getTime() / 1000), $lt: Math.floor(to.getTime() / 1000) }
  const [new_users, ended, rows] = await Promise.all([
    collections.users.countDocuments({ app_key: appKey, created_at: period }),
    collections.subscriptions.countDocuments({ app_key: appKey, ended_at: seconds }),
    collections.payments.find({ app_key: appKey, created_at: period }, { projection: LEDGER }).toArray(),
  ])
  const count = (test: (row: (typeof rows)[number]) => boolean) => rows.filter(test).length
  const counts = {
    new_users,
    ended,
    new_subs: count(row => row.new_period === 'first'),
    renewals: count(row => row.new_period === 'renewal'),
    refunds: count(row => row.kind === 'refund'),
    revenue_cents: rows.reduce((sum, row) => sum + row.amount_cents, 0),
  }
  await collections.days.updateOne(
    { _id: `${appKey}/${day}` },
    { $set: counts, $setOnInsert: { app_key: appKey, day, login_users: 0 } },
    { upsert: true },
  )
}

const LEDGER = { new_period: 1, kind: 1, amount_cents: 1 } as const

/** Stores once how many timed subscriptions existed at the start of a day. */
export async function writeOpening(collections: Collections, appKey: string, day: string): Promise<void> {
  const counters = await collections.counters.findOne({ _id: appKey })
  const opening_timed = (counters?.subs_active ?? 0) - (counters?.subs_permanent ?? 0)
  const _id = `${appKey}/${day}`
  await collections.days.updateOne({ _id }, { $setOnInsert: { app_key: appKey, day } }, { upsert: true })
  await collections.days.updateOne({ _id, opening_timed: { $exists: false } }, { $set: { opening_timed } })
}

/**
 * Removes the data of an app. Its tombstone stays, which reserves the key, and so does the audit log without the
 * contents of records.
 */
export async function purgeApp(collections: Collections, appKey: string): Promise<void> {
  const match = { app_key: appKey }
  for (const collection of [
    collections.users,
    collections.plans,
    collections.subscriptions,
    collections.payments,
    collections.orders,
    collections.paymentEvents,
    collections.switches,
    collections.revisions,
    collections.credentials,
    collections.channels,
    collections.webhooks,
    collections.webhookEvents,
    collections.days,
    collections.reminders,
  ])
    await (collection as typeof collections.users).deleteMany(match)
  await collections.counters.deleteOne({ _id: appKey })
  const withDetails = { $or: [{ changes: { $ne: {} } }, { reason: { $exists: true } }] }
  await collections.audit.updateMany({ ...match, ...withDetails }, { $set: { changes: {} }, $unset: { reason: '' } })
}
