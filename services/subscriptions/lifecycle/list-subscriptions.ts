/** Reads subscriptions as the API returns them: with the names of their users, filtered and searched. */
import { DAY_SECONDS } from '../../platform/durations.ts'
import type { Subscriptions } from '../context.ts'
import { countersOf } from '../counters/running-counters.ts'
import { findContacts, findNamedUsers, findUserIds } from '../people/store/end-users.ts'
import type { Lang } from '../rules/language.ts'
import type { DateRange, Found, Page } from '../rules/paging.ts'
import { viewSubscription } from '../rules/record-views.ts'
import type { Status } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { SubscriptionDoc } from '../store/documents.ts'
import {
  listSubscriptions,
  type SubscriptionFilter,
  streamSubscriptions,
  subscriptionQuery,
} from './store/subscriptions.ts'

/** Filters of a request. */
export interface SubscriptionSearch {
  search?: string | undefined
  status?: string | undefined
  plan_id?: number | undefined
  user_id?: number | undefined
  payment_method?: string | undefined
  auto_renew?: string | undefined
  expiring?: string | undefined
  created: DateRange
}

/** A subscription on the wire. */
export type SubscriptionView = ReturnType<typeof viewSubscription>

/** Largest number of matching users of a search. */
const MAX_FOUND_USERS = 1_000

async function filterOf(
  context: Subscriptions,
  appKey: string,
  given: SubscriptionSearch,
): Promise<SubscriptionFilter> {
  const search = given.search ?? ''
  return {
    ...(given.user_id ? { userIds: [given.user_id] } : {}),
    ...(search === ''
      ? {}
      : {
          anyOf: {
            userIds: await usersOf(context, appKey, search),
            paymentId: search,
            id: /^[1-9]\d{0,14}$/.test(search) ? Number(search) : 0,
          },
        }),
    status: given.status === undefined ? undefined : (Number(given.status) as Status),
    planId: given.plan_id,
    method: given.payment_method || undefined,
    autoRenew: given.auto_renew === undefined ? undefined : given.auto_renew === '1',
    endsUntil:
      given.expiring === '1'
        ? secondsOf(context.clock.now()) + context.config.EXPIRING_SOON_DAYS * DAY_SECONDS
        : undefined,
    created: given.created,
  }
}

/** Users whose keys start with the text, or whom it names exactly. */
async function usersOf({ collections }: Subscriptions, appKey: string, search: string): Promise<number[]> {
  const [starting, named] = await Promise.all([
    findUserIds(collections, appKey, search, MAX_FOUND_USERS),
    findNamedUsers(collections, appKey, search),
  ])
  return [...starting, ...named]
}

/** A page of subscriptions. */
export async function pageOfSubscriptions(
  context: Subscriptions,
  { appKey, given, page, lang }: { appKey: string; given: SubscriptionSearch; page: Page; lang: Lang },
): Promise<Found<SubscriptionView>> {
  const now = context.clock.now()
  const filter = await filterOf(context, appKey, given)
  const query = await subscriptionQuery(context.collections, appKey, filter, secondsOf(now))
  const knownTotal = await totalOf(context, appKey, filter)
  const key = `subscriptions ${appKey} ${questionOf(given)}`
  const found = await listSubscriptions(context.collections, context.count, now, { query, key, page, knownTotal })
  return { ...found, items: await withUsers(context, appKey, found.items, lang) }
}

/** Cache key of the total. It is not the query, which contains the current second. */
function questionOf(given: SubscriptionSearch): string {
  const { search, status, plan_id, user_id, payment_method, auto_renew, expiring, created } = given
  return JSON.stringify({ search, status, plan_id, user_id, payment_method, auto_renew, expiring, created })
}

/**
 * Running counters contain the total without filters; a status may be outdated until the expiry job runs, so it is
 * counted.
 */
async function totalOf(
  context: Subscriptions,
  appKey: string,
  filter: SubscriptionFilter,
): Promise<number | undefined> {
  const { created, ...rest } = filter
  const filtered = created?.from ?? created?.to ?? Object.values(rest).find(value => value !== undefined)
  return filtered === undefined ? (await countersOf(context, [appKey])).subs_total : undefined
}

/** One subscription. */
export async function viewOne(
  context: Subscriptions,
  subscription: SubscriptionDoc,
  lang: Lang,
): Promise<SubscriptionView> {
  const users = await findContacts(context.collections, subscription.app_key, [subscription.user_id])
  return viewSubscription(subscription, users.get(subscription.user_id), viewContext(context, lang))
}

/** All results of the filter, in batches. */
export async function* streamViews(
  context: Subscriptions,
  { appKey, given, lang }: { appKey: string; given: SubscriptionSearch; lang: Lang },
): AsyncIterable<SubscriptionView[]> {
  const filter = await filterOf(context, appKey, given)
  const query = await subscriptionQuery(context.collections, appKey, filter, secondsOf(context.clock.now()))
  let batch: SubscriptionDoc[] = []
  for await (const subscription of streamSubscriptions(context.collections, query)) {
    batch.push(subscription)
    if (batch.length < BATCH) continue
    yield await withUsers(context, appKey, batch, lang)
    batch = []
  }
  yield await withUsers(context, appKey, batch, lang)
}

const BATCH = 500

async function withUsers(
  context: Subscriptions,
  appKey: string,
  subscriptions: readonly SubscriptionDoc[],
  lang: Lang,
): Promise<SubscriptionView[]> {
  const ids = [...new Set(subscriptions.map(({ user_id }) => user_id))]
  const users = ids.length === 0 ? new Map() : await findContacts(context.collections, appKey, ids)
  const view = viewContext(context, lang)
  return subscriptions.map(known => viewSubscription(known, users.get(known.user_id), view))
}

function viewContext(context: Subscriptions, lang: Lang) {
  return {
    lang,
    zone: context.zone,
    nowSeconds: secondsOf(context.clock.now()),
    soonDays: context.config.EXPIRING_SOON_DAYS,
  }
}
