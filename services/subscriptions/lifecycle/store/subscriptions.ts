/** Subscriptions in the database. Every change is guarded by the version that it was made from. */
import type { mongo } from 'mongoose'
import type { Session } from '../../../platform/database/mongo.ts'
import { afterPosition } from '../../../platform/database/read-page.ts'
import { type DateRange, type Found, nextOf, type Page, positionOf } from '../../rules/paging.ts'
import { STATUS, type Status } from '../../rules/period.ts'
import { secondsOf } from '../../rules/time-zone.ts'
import type { Collections } from '../../store/collections.ts'
import type { SubscriptionDoc } from '../../store/documents.ts'
import type { Count } from '../../store/list-totals.ts'

/** What a list of subscriptions filters by. */
export interface SubscriptionFilter {
  userIds?: readonly number[] | undefined
  /** Finds a user's or this payment's or record's subscriptions. */
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
/** Active records that the sweep has not reached are few; more than this and it is not running. */
const MAX_LAGGING = 10_000
/** So many hits are better sorted than looked for along an index. */
const FEW = 2_000

type IndexKey = Record<string, 1 | -1>

/** A query, and the index to walk for it, newest first; without one the planner chooses. */
export interface SubscriptionQuery {
  filter: mongo.Filter<SubscriptionDoc>
  walk: IndexKey | undefined
  /** The index to count along. */
  countBy: IndexKey | undefined
  /** True when the walk meets records that the filter leaves out, so that it may be long. */
  residual: boolean
}

/** The query of a filter. Records that have lapsed but were not swept yet count as expired. */
export async function subscriptionQuery(
  c: Collections,
  appKey: string,
  filter: SubscriptionFilter,
  nowSeconds: number,
): Promise<SubscriptionQuery> {
  const { from, to } = filter.created ?? {}
  const status = await statusQuery(c, appKey, filter.status, nowSeconds)
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
 * Every list names its index: each of the many indexes on `app_key` fits every query, and the planner would try them all
 * against each other, again for every other page. A rare status comes first, then what usually leaves out most.
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

/** Fields of the filter that have an index, those first that leave out most. */
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
  c: Collections,
  appKey: string,
  status: Status | undefined,
  nowSeconds: number,
): Promise<mongo.Filter<SubscriptionDoc>> {
  if (status === undefined) return {}
  if (status !== STATUS.active && status !== STATUS.expired) return { status }
  const lagging = await c.subscriptions
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

/** A page of subscriptions, newest first; `knownTotal` spares the count where a running figure says it. */
export async function listSubscriptions(
  c: Collections,
  count: Count,
  now: Date,
  {
    query: { filter, walk, countBy, residual },
    key,
    page,
    knownTotal,
  }: { query: SubscriptionQuery; key: string; page: Page; knownTotal?: number | undefined },
): Promise<Found<SubscriptionDoc>> {
  const question = { collection: c.subscriptions, filter, key, ...(countBy ? { hint: countBy } : {}) }
  const counted = knownTotal === undefined ? await count(question, now) : { total: knownTotal }
  if (page.offset >= counted.total) return { items: [], ...counted }
  const wanted = page.after ? { $and: [filter, afterPosition<SubscriptionDoc>(page.after)] } : filter
  const cursor = c.subscriptions.find(wanted).sort(NEWEST_FIRST).skip(page.offset).limit(page.size)
  if (walk && !(residual && counted.total <= FEW)) cursor.hint(walk)
  const items = await cursor.toArray()
  return { items, ...counted, next: nextOf(items, page, positionOf) }
}

/** All subscriptions of a query, for exports. */
export function streamSubscriptions(
  c: Collections,
  { filter, walk }: SubscriptionQuery,
): AsyncIterable<SubscriptionDoc> {
  const cursor = c.subscriptions.find(filter).batchSize(1000)
  return walk ? cursor.hint(walk) : cursor
}

/** The subscription with this id in this app. */
export async function findSubscription(
  c: Collections,
  appKey: string,
  id: number,
): Promise<SubscriptionDoc | undefined> {
  return (await c.subscriptions.findOne({ _id: id, app_key: appKey })) ?? undefined
}

/** The record of a user and plan that is not final. */
export async function findCurrent(
  c: Collections,
  userId: number,
  planId: number,
): Promise<SubscriptionDoc | undefined> {
  return (await c.subscriptions.findOne({ user_id: userId, plan_id: planId, current: true })) ?? undefined
}

/** The record that a channel names by its own token; of several the newest. */
export async function findByChannelRef(
  c: Collections,
  appKey: string,
  channelRef: string,
): Promise<SubscriptionDoc | undefined> {
  const query = { channel_ref: channelRef, app_key: appKey }
  return (await c.subscriptions.findOne(query, { sort: NEWEST_FIRST })) ?? undefined
}

/** True when the user has an active record besides this one. */
export async function hasOtherActive(c: Collections, subscription: SubscriptionDoc): Promise<boolean> {
  const { app_key, user_id, _id } = subscription
  const query = { app_key, user_id, status: STATUS.active, _id: { $ne: _id } }
  return (await c.subscriptions.countDocuments(query, { limit: 1 })) > 0
}

/** Stores a new subscription. Throws the duplicate-key error when the user has one of this plan. */
export async function insertSubscription(
  c: Collections,
  subscription: SubscriptionDoc,
  session: Session,
): Promise<void> {
  await c.subscriptions.insertOne(subscription, { session })
}

/** Puts `after` in the place of the version before it; false when somebody else changed it meanwhile. */
export async function replaceSubscription(c: Collections, after: SubscriptionDoc, session: Session): Promise<boolean> {
  const result = await c.subscriptions.replaceOne({ _id: after._id, version: after.version - 1 }, after, { session })
  return result.matchedCount === 1
}

/** Active records past end and grace, oldest first. */
export function findLapsed(c: Collections, nowSeconds: number, limit: number): Promise<SubscriptionDoc[]> {
  return c.subscriptions
    .find({ status: STATUS.active, lapse_at: { $gt: 0, $lte: nowSeconds } })
    .sort({ lapse_at: 1 })
    .limit(limit)
    .toArray()
}

/** Active records of any app whose end lies in [from, to), in the order of their ends. */
export function streamEnding(c: Collections, from: number, to: number): AsyncIterable<SubscriptionDoc> {
  return c.subscriptions
    .find({ status: STATUS.active, end: { $gte: from, $lt: to } })
    .sort({ end: 1 })
    .batchSize(500)
}

/** Number of active records of apps that end within so many seconds. The hint is there because the planner misses the index at times. */
export async function countEnding(
  c: Collections,
  count: Count,
  appKeys: readonly string[],
  now: Date,
  withinSeconds: number,
): Promise<number> {
  const from = secondsOf(now)
  const end = { $gt: from, $lte: from + withinSeconds }
  const question = {
    collection: c.subscriptions,
    filter: { app_key: { $in: [...appKeys] }, status: STATUS.active, end },
    key: `ending ${withinSeconds} ${appKeys.join(' ')}`,
    hint: { app_key: 1, status: 1, end: 1 } as const,
  }
  return (await count(question, now)).total
}

/** Number of active records of an app that have lapsed and wait for the sweep. */
export function countLagging(c: Collections, appKeys: readonly string[], nowSeconds: number): Promise<number> {
  return c.subscriptions.countDocuments(
    {
      status: STATUS.active,
      lapse_at: { $gt: 0, $lte: nowSeconds },
      app_key: { $in: [...appKeys] },
    },
    { hint: LAPSE_INDEX },
  )
}

/** Number of records that were there before `since` and ended since then. */
export async function countEnded(
  c: Collections,
  count: Count,
  appKeys: readonly string[],
  now: Date,
  since: number,
): Promise<number> {
  const question = {
    collection: c.subscriptions,
    filter: { app_key: { $in: [...appKeys] }, ended_at: { $gte: since }, since: { $lt: since } },
    key: `ended ${since} ${appKeys.join(' ')}`,
    hint: { app_key: 1, ended_at: 1, since: 1 } as const,
  }
  return (await count(question, now)).total
}

/** True while an app has a subscription that gives access or waits for payment. */
export async function hasLiveSubscriptions(c: Collections, appKey: string): Promise<boolean> {
  const query = { app_key: appKey, status: { $in: [STATUS.pending, STATUS.active] } }
  return (await c.subscriptions.countDocuments(query, { limit: 1 })) > 0
}
