/** Subscriptions in the database. Every change is guarded by the version that it was made from. */
import type { mongo } from 'mongoose'
import type { Session } from '../../../platform/database/mongo.ts'
import { afterPosition } from '../../../platform/database/read-page.ts'
import { type DateRange, type Found, nextOf, type Page, positionOf } from '../../rules/paging.ts'
import { STATUS, type Status } from '../../rules/subscription-lifecycle.ts'
import { secondsOf } from '../../rules/time-zone.ts'
import type { Collections } from '../../store/collections.ts'
import type { SubscriptionDoc } from '../../store/documents.ts'
import type { Count } from '../../store/list-totals.ts'

/** Filter of the list of subscriptions. */
export interface SubscriptionFilter {
  userIds?: readonly number[] | undefined
  /** Matches subscriptions of these users, of this payment, or with this id. */
  anyOf?: { userIds: readonly number[]; paymentId: string; id: number } | undefined
  status?: Status | undefined
  planId?: number | undefined
  method?: string | undefined
  autoRenew?: boolean | undefined
  /** Active ones that end within (now, until]. */
  endsUntil?: number | undefined
  created?: DateRange | undefined
}

const NEWEST_FIRST = { created_at: -1, _id: -1 } as const
/** Limit of active records that the expiry job has not reached; more means that it is not running. */
const MAX_LAGGING = 10_000
/** Up to this number of hits, sorting is faster than an index scan. */
const FEW = 2_000

type IndexKey = Record<string, 1 | -1>

/** A query and the index to scan, newest first; without one the planner chooses. */
export interface SubscriptionQuery {
  filter: mongo.Filter<SubscriptionDoc>
  walk: IndexKey | undefined
  /** The index to count with. */
  countBy: IndexKey | undefined
  /** True when the scan reads records that the filter excludes, so that it may be long. */
  residual: boolean
}

/** The query of a filter. Records that have lapsed but are not processed yet count as expired. */
export async function subscriptionQuery(
  collections: Collections,
  appKey: string,
  filter: SubscriptionFilter,
  nowSeconds: number,
): Promise<SubscriptionQuery> {
  const { from, to } = filter.created ?? {}
  const status = await statusQuery(collections, appKey, filter.status, nowSeconds)
  const ending = filter.endsUntil ? { status: STATUS.active, end: { $gt: nowSeconds, $lte: filter.endsUntil } } : {}
  return {
    filter: {
      app_key: appKey,
      ...(filter.userIds ? { user_id: { $in: [...filter.userIds] } } : {}),
      ...(filter.planId ? { plan_id: filter.planId } : {}),
      ...(filter.method ? { payment_method: filter.method } : {}),
      ...(filter.autoRenew === undefined ? {} : { auto_renew: filter.autoRenew }),
      ...(from || to ? { created_at: { ...(from ? { $gte: from } : {}), ...(to ? { $lt: to } : {}) } } : {}),
      $and: [{}, ...(filter.anyOf ? [anyOf(filter.anyOf)] : []), status, ending],
    },
    ...walkOf(filter, '$or' in status),
  }
}

/**
 * Every list names its index: each of the many indexes on `app_key` matches every query, and the planner would race
 * them all, again for every second page. A rare status has priority, then the field that usually excludes most.
 */
function walkOf(filter: SubscriptionFilter, lagging: boolean): Omit<SubscriptionQuery, 'filter'> {
  if (filter.userIds || filter.anyOf) return { walk: undefined, countBy: undefined, residual: false }
  const ending = filter.endsUntil !== undefined
  const fields = indexedFields(ending ? { ...filter, status: STATUS.active } : filter, lagging)
  const [first] = fields
  const walk: IndexKey = { app_key: 1, ...(first === undefined ? {} : { [first]: 1 }), ...NEWEST_FIRST }
  const countBy: IndexKey = ending ? { app_key: 1, status: 1, end: 1 } : walk
  return { walk, countBy: lagging ? undefined : countBy, residual: fields.length > 1 || ending || lagging }
}

/** Indexed fields of the filter, the most selective first. */
function indexedFields({ status, planId, method, autoRenew }: SubscriptionFilter, lagging: boolean): string[] {
  const common = status === undefined || lagging || status === STATUS.active || status === STATUS.expired
  const wanted: [string, boolean][] = [
    ['status', !common],
    ['plan_id', planId !== undefined],
    ['payment_method', method !== undefined],
    ['status', common && status !== undefined && !lagging],
    ['auto_renew', autoRenew !== undefined],
  ]
  return wanted.filter(([, given]) => given).map(([field]) => field)
}

function anyOf({ userIds, paymentId, id }: NonNullable<SubscriptionFilter['anyOf']>): mongo.Filter<SubscriptionDoc> {
  return { $or: [{ user_id: { $in: [...userIds] } }, { payment_id: paymentId }, { _id: id }] }
}

async function statusQuery(
  collections: Collections,
  appKey: string,
  status: Status | undefined,
  nowSeconds: number,
): Promise<mongo.Filter<SubscriptionDoc>> {
  if (status === undefined) return {}
  if (status !== STATUS.active && status !== STATUS.expired) return { status }
  const lagging = await collections.subscriptions
    .find(
      { status: STATUS.active, lapse_at: { $gt: 0, $lte: nowSeconds }, app_key: appKey },
      { projection: { _id: 1 } },
    )
    .hint(LAPSE_INDEX)
    .limit(MAX_LAGGING)
    .toArray()
  if (lagging.length === 0) return { status }
  const ids = lagging.map(({ _id }) => _id)
  return status === STATUS.active ? { status, _id: { $nin: ids } } : { $or: [{ status }, { _id: { $in: ids } }] }
}

const LAPSE_INDEX = { status: 1, lapse_at: 1 } as const

/** A page of subscriptions, newest first; `knownTotal` replaces counting where a running counter has the total. */
export async function listSubscriptions(
  collections: Collections,
  count: Count,
  now: Date,
  {
    query: { filter, walk, countBy, residual },
    key,
    page,
    knownTotal,
  }: { query: SubscriptionQuery; key: string; page: Page; knownTotal?: number | undefined },
): Promise<Found<SubscriptionDoc>> {
  const question = { collection: collections.subscriptions, filter, key, ...(countBy ? { hint: countBy } : {}) }
  const counted = knownTotal === undefined ? await count(question, now) : { total: knownTotal }
  if (page.offset >= counted.total) return { items: [], ...counted }
  const wanted = page.after ? { $and: [filter, afterPosition<SubscriptionDoc>(page.after)] } : filter
  const cursor = collections.subscriptions.find(wanted).sort(NEWEST_FIRST).skip(page.offset).limit(page.size)
  if (walk && !(residual && counted.total <= FEW)) cursor.hint(walk)
  const items = await cursor.toArray()
  return { items, ...counted, next: nextOf(items, page, positionOf) }
}

/** All subscriptions of a query, for exports. */
export function streamSubscriptions(
  collections: Collections,
  { filter, walk }: SubscriptionQuery,
): AsyncIterable<SubscriptionDoc> {
  const cursor = collections.subscriptions.find(filter).batchSize(1000)
  return walk ? cursor.hint(walk) : cursor
}

/** The subscription with this id in this app. */
export async function findSubscription(
  collections: Collections,
  appKey: string,
  id: number,
): Promise<SubscriptionDoc | undefined> {
  return (await collections.subscriptions.findOne({ _id: id, app_key: appKey })) ?? undefined
}

/** The record of a user and plan that is not final. */
export async function findCurrent(
  collections: Collections,
  userId: number,
  planId: number,
): Promise<SubscriptionDoc | undefined> {
  return (await collections.subscriptions.findOne({ user_id: userId, plan_id: planId, current: true })) ?? undefined
}

/** The record with this token of a channel; of several the newest. */
export async function findByChannelRef(
  collections: Collections,
  appKey: string,
  channelRef: string,
): Promise<SubscriptionDoc | undefined> {
  const query = { channel_ref: channelRef, app_key: appKey }
  return (await collections.subscriptions.findOne(query, { sort: NEWEST_FIRST })) ?? undefined
}

/** True when the user has an active record besides this one. */
export async function hasOtherActive(collections: Collections, subscription: SubscriptionDoc): Promise<boolean> {
  const { app_key, user_id, _id } = subscription
  const query = { app_key, user_id, status: STATUS.active, _id: { $ne: _id } }
  return (await collections.subscriptions.countDocuments(query, { limit: 1 })) > 0
}

/** Stores a new subscription. Throws the duplicate-key error when the user has one of this plan. */
export async function insertSubscription(
  collections: Collections,
  subscription: SubscriptionDoc,
  session: Session,
): Promise<void> {
  await collections.subscriptions.insertOne(subscription, { session })
}

/** Replaces the previous version with `after`; false when the stored version is another one. */
export async function replaceSubscription(
  collections: Collections,
  after: SubscriptionDoc,
  session: Session,
): Promise<boolean> {
  const result = await collections.subscriptions.replaceOne({ _id: after._id, version: after.version - 1 }, after, {
    session,
  })
  return result.matchedCount === 1
}

/** Active records past end and grace, oldest first. */
export function findLapsed(collections: Collections, nowSeconds: number, limit: number): Promise<SubscriptionDoc[]> {
  return collections.subscriptions
    .find({ status: STATUS.active, lapse_at: { $gt: 0, $lte: nowSeconds } })
    .sort({ lapse_at: 1 })
    .limit(limit)
    .toArray()
}

/** Active records of any app whose end lies in [from, to), in the order of their ends. */
export function streamEnding(collections: Collections, from: number, to: number): AsyncIterable<SubscriptionDoc> {
  return collections.subscriptions
    .find({ status: STATUS.active, end: { $gte: from, $lt: to } })
    .sort({ end: 1 })
    .batchSize(500)
}

/**
 * Number of active records of apps that end within so many seconds. The hint exists because the planner sometimes
 * misses the index.
 */
export async function countEnding(
  collections: Collections,
  count: Count,
  appKeys: readonly string[],
  now: Date,
  withinSeconds: number,
): Promise<number> {
  const from = secondsOf(now)
  const end = { $gt: from, $lte: from + withinSeconds }
  const question = {
    collection: collections.subscriptions,
    filter: { app_key: { $in: [...appKeys] }, status: STATUS.active, end },
    key: `ending ${withinSeconds} ${appKeys.join(' ')}`,
    hint: { app_key: 1, status: 1, end: 1 } as const,
  }
  return (await count(question, now)).total
}

/** Number of active records of an app that have lapsed and wait for the expiry job. */
export function countLagging(
  collections: Collections,
  appKeys: readonly string[],
  nowSeconds: number,
): Promise<number> {
  return collections.subscriptions.countDocuments(
    {
      status: STATUS.active,
      lapse_at: { $gt: 0, $lte: nowSeconds },
      app_key: { $in: [...appKeys] },
    },
    { hint: LAPSE_INDEX },
  )
}

/** Number of records that existed before `since` and ended since then. */
export async function countEnded(
  collections: Collections,
  count: Count,
  appKeys: readonly string[],
  now: Date,
  since: number,
): Promise<number> {
  const question = {
    collection: collections.subscriptions,
    filter: { app_key: { $in: [...appKeys] }, ended_at: { $gte: since }, since: { $lt: since } },
    key: `ended ${since} ${appKeys.join(' ')}`,
    hint: { app_key: 1, ended_at: 1, since: 1 } as const,
  }
  return (await count(question, now)).total
}
