/**
 * The documents that the subscription module stores through the driver; the others are models (`models.ts`). What the API
 * shows of a record is next to the rule that shows it (`Stored…`); here is the rest. Records that the reference shows have
 * decimal ids (`_id` is a number); money is in cents; starts and ends are Unix seconds.
 */
import type { TEST_EVENT, WebhookEvent } from '../../platform/webhooks/event-queue.ts'
import type { EventType } from '../events/rules/event-types.ts'
import type { StoredSubscription, StoredUser } from '../rules/record-views.ts'
import type { ChannelDoc } from './models.ts'

/** An event on its way to one webhook. */
export interface WebhookEventDoc extends WebhookEvent {
  app_key: string
  type: EventType | typeof TEST_EVENT
}

/** An end user of an app. */
export interface EndUserDoc extends StoredUser {
  app_key: string
  /** Lower-cased nickname, phone and email: what search looks at. */
  search_keys: string[]
  deletion_requested_at?: Date
  /** With the wish for deletion: an administrator had disabled the user before. */
  was_disabled?: true
  erased_at?: Date
}

/** A subscription: one record per user and plan as long as it is not final (status 3 or 4). */
export interface SubscriptionDoc extends StoredSubscription {
  app_key: string
  /** True until the status is final; the unique index (user, plan) looks at it. */
  current?: true
  /** What was last paid, in cents; 0 for trials and gifts. */
  paid_cents: number
  trial?: true
  /** Token of the channel's own subscription, by which its notices name it. */
  channel_ref?: string
  /** First start: shows whether it existed at the start of a month. */
  since: number
}

/** Money that came or went, or a period that was granted: the ledger. A repeat finds its row here. */
export interface PaymentDoc {
  _id: number
  app_key: string
  subscription_id: number
  user_id: number
  plan_id: number
  kind: 'payment' | 'refund'
  method: string
  /** `<app_key>/<method>/<payment id>`, only of real channels; unique. */
  payment_key?: string
  /** `<app_key>/<client_ref>`; unique. */
  client_key?: string
  payment_id: string
  amount_cents: number
  paid_at: Date
  /** Sum of refunds of a payment. */
  refunded_cents: number
  new_period: 'first' | 'renewal' | 'none'
  /** Days that a grant (method `manual`) asked for; null: those of the plan. Absent in rows of earlier releases. */
  days?: number | null
  created_at: Date
}

/** An order that waits for its payment: what a notice is compared with. `_id` is `<app_key>/<out_trade_no>`. */
export interface OrderDoc {
  _id: string
  app_key: string
  out_trade_no: string
  user_id: number
  plan_id: number
  subscription_id: number
  method: string
  amount_cents: number
  auto_renew: boolean
  status: 'open' | 'paid' | 'closed'
  created_at: Date
}

/** A notice of a payment channel, stored before it is answered. `_id` is `<channel>/<app_key>/<event id>`. */
export interface PaymentEventDoc {
  _id: string
  app_key: string
  channel: ChannelDoc['channel']
  /** What the notice says, in our words. */
  notice: object
  state: 'waiting' | 'applied' | 'ignored' | 'rejected'
  reason?: string
  attempts: number
  due: Date
  received_at: Date
  applied_at?: Date
}

/** A former state of a switch or plan, for restore. `_id` is `<kind>/<id>/<revision>`. */
export interface RevisionDoc {
  _id: string
  kind: 'switch' | 'plan'
  app_key: string
  record_id: number
  name: string
  revision: number
  /** True when the record was deleted in this state. */
  deleted: boolean
  document: object
  by: string
  at: Date
}

/** Who did what to which record; changes are `field: [old, new]`. */
export interface AuditDoc {
  _id: number
  app_key: string
  actor: { kind: 'admin' | 'app' | 'operator' | 'channel' | 'system'; id: string; name: string }
  action: string
  target: { kind: string; id: string }
  changes: Record<string, [unknown, unknown]>
  /** What the actor gave as the reason of an action on a subscription. */
  reason?: string
  request_id: string
  ip: string
  at: Date
}

/** Running counters of an app, changed by `$inc` after each write and repaired each night. `_id` is the app_key. */
export interface CounterDoc {
  _id: string
  users_total: number
  users_active: number
  /** Users with access to anything. */
  users_paying: number
  subs_total: number
  subs_active: number
  subs_permanent: number
  subs_auto_renew: number
  /** Hundredths of a cent that active timed paid subscriptions bring in 30 days. */
  mrr: number
  /** Active subscriptions by plan id and by payment method. */
  by_plan: Record<string, number>
  by_method: Record<string, number>
  by_status: Record<string, number>
}

/** Counters of one day of one app. `_id` is `<app_key>/<day>`. */
export interface DayDoc {
  _id: string
  app_key: string
  day: string
  new_users: number
  login_users: number
  new_subs: number
  renewals: number
  ended: number
  refunds: number
  revenue_cents: number
  /** Timed subscriptions that were active when the day began; written once. */
  opening_timed?: number
  /** Reminders that were mailed, notices of automatic renewals not counted. */
  reminders?: number
}

/** A stored answer of an idempotent request. */
export interface IdempotencyDoc {
  _id: string
  hash: string
  /** changed: something was stored, and the answer is not there (yet). */
  state: 'running' | 'changed' | 'done'
  /** Sealed with purpose `app-secret`: answers may show a new secret. */
  answer?: string
  started_at: Date
  exp: Date
}

/** A reminder that was handed over: `<subscription>/<end>/<kind>` happens once. */
export interface ReminderDoc {
  _id: string
  app_key: string
  subscription_id: number
  state: 'claimed' | 'sent' | 'failed'
  at: Date
}

/** The next free number of each kind. */
export interface SequenceDoc {
  _id: string
  next: number
}

/** A nonce of a signed request, remembered as long as its time stamp is accepted. */
export interface NonceDoc {
  _id: string
  exp: Date
}

/** Requests of a caller in a minute, over all processes; `_id` is a hash, because the caller may be a token. */
export interface RateWindowDoc {
  _id: string
  requests: number
  exp: Date
}
