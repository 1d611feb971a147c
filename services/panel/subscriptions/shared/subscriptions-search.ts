/**
 * Search parameters of the subscription pages: the filters that the lists of the API have. Unknown values are dropped; pages read
 * their address with these functions again, because the router adds the parameters that no route knows.
 */
import { pageNumber } from '../../ui/layout/page-number.ts'
import { stringParams } from '../../ui/layout/search-params.ts'

/** Parameters that every list has. */
export interface ListSearch {
  search?: string
  page?: number
}

/** Apps, administrators. */
export interface SubscriptionsSearch extends ListSearch {
  status?: '0' | '1'
}

/** `plan`: the only one that is shown. */
export interface PlansSearch extends SubscriptionsSearch {
  plan?: string
}

/** Bounds on the day of creation, both inclusive. */
interface Days {
  start_date?: string
  end_date?: string
}

export interface UsersSearch extends ListSearch, Days {
  status?: (typeof USER_STATUSES)[number]
  /** By the time of creation; newest first without it. */
  order?: 'asc'
  platform?: string
}

/** `subscription`: the only one that is shown. */
export interface SubscriptionListSearch extends ListSearch, Days {
  subscription?: string
  status?: (typeof SUBSCRIPTION_STATUSES)[number]
  plan_id?: string
  user_id?: string
  payment_method?: string
  auto_renew?: '0' | '1'
  expiring?: '1'
}

export interface SwitchesSearch extends ListSearch {
  type?: (typeof SWITCH_TYPES)[number]
}

/** Changes of an app, or of one subscription or user by its id. */
export interface ChangesSearch {
  subscription?: string
  user?: string
  target_kind?: (typeof TARGET_KINDS)[number]
  action?: string
  actor?: string
  page?: number
}

const ON_OFF = ['1', '0'] as const
export const USER_STATUSES = ['1', '0', '2'] as const
export const SUBSCRIPTION_STATUSES = ['0', '1', '2', '3', '4'] as const
export const SWITCH_TYPES = ['boolean', 'number', 'string', 'json', 'changelog'] as const
/** Kinds of records that the change history names. */
export const TARGET_KINDS = [
  'subscription',
  'order',
  'user',
  'plan',
  'switch',
  'app',
  'credential',
  'channel',
  'webhook',
  'admin',
] as const

type Raw = Record<string, unknown>

/** The parameters whose value is one of the choices. */
function choices<A extends Record<string, readonly string[]>>(raw: Raw, allowed: A): { [N in keyof A]?: A[N][number] } {
  const found = Object.entries(stringParams(raw, Object.keys(allowed))) as [string, string][]
  const known = found.filter(([name, value]) => allowed[name]?.includes(value))
  return Object.fromEntries(known) as { [N in keyof A]?: A[N][number] }
}

function page(raw: Raw): { page?: number } {
  const number = pageNumber(raw.page)
  return number ? { page: number } : {}
}

/** The texts that match a pattern. */
function matching<K extends string>(raw: Raw, names: readonly K[], pattern: RegExp): { [N in K]?: string } {
  const found = Object.entries(stringParams(raw, names)) as [K, string][]
  return Object.fromEntries(found.filter(([, value]) => pattern.test(value))) as { [N in K]?: string }
}

const days = (raw: Raw): Days => matching(raw, ['start_date', 'end_date'], /^\d{4}-\d\d-\d\d$/)
const ID = /^[1-9]\d{0,14}$/

/** Reads {@link ChangesSearch}. */
export function changesSearch(raw: Raw): ChangesSearch {
  return {
    ...matching(raw, ['subscription', 'user'], ID),
    ...choices(raw, { target_kind: TARGET_KINDS }),
    ...stringParams(raw, ['action', 'actor']),
    ...page(raw),
  }
}

/** Changes of all apps, and of administrators, which belong to no app. `app`: key of an app, which may be deleted. */
export interface AllChangesSearch extends Omit<ChangesSearch, 'subscription' | 'user'> {
  app?: string
}

/** Reads {@link AllChangesSearch}. */
export function allChangesSearch(raw: Raw): AllChangesSearch {
  const { subscription: _, user: __, ...rest } = changesSearch(raw)
  return { ...rest, ...stringParams(raw, ['app']) }
}

/** Reads {@link SubscriptionsSearch}. */
export function subscriptionsSearch(raw: Raw): SubscriptionsSearch {
  return { ...stringParams(raw, ['search']), ...choices(raw, { status: ON_OFF }), ...page(raw) }
}

/** Reads {@link PlansSearch}. */
export function plansSearch(raw: Raw): PlansSearch {
  return { ...subscriptionsSearch(raw), ...matching(raw, ['plan'], ID) }
}

/** Reads {@link UsersSearch}. */
export function usersSearch(raw: Raw): UsersSearch {
  return {
    ...stringParams(raw, ['search', 'platform']),
    ...choices(raw, { status: USER_STATUSES, order: ['asc'] as const }),
    ...days(raw),
    ...page(raw),
  }
}

/** Reads {@link SubscriptionListSearch}. */
export function subscriptionListSearch(raw: Raw): SubscriptionListSearch {
  return {
    ...stringParams(raw, ['search', 'payment_method']),
    ...choices(raw, { status: SUBSCRIPTION_STATUSES, auto_renew: ON_OFF, expiring: ['1'] as const }),
    ...matching(raw, ['plan_id', 'user_id', 'subscription'], ID),
    ...days(raw),
    ...page(raw),
  }
}

/** Reads {@link SwitchesSearch}. */
export function switchesSearch(raw: Raw): SwitchesSearch {
  return { ...stringParams(raw, ['search']), ...choices(raw, { type: SWITCH_TYPES }), ...page(raw) }
}
