/** The collections of the subscription module and their indexes, each with its query. */
import { type Model, type ModelDefinition, modelOf } from '../../platform/database/models.ts'
import { type Collection, type CollectionDefinition, type Db, defineCollection } from '../../platform/database/mongo.ts'
import { DAY_SECONDS } from '../../platform/durations.ts'
import { EVENT_INDEXES } from '../../platform/webhooks/event-queue.ts'
import type * as doc from './documents.ts'
import * as models from './models.ts'

const definitions = {
  ...models,
  users: defineCollection<doc.EndUserDoc>('sub_users', [
    { key: { app_key: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, status: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, platform: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, last_login_at: 1 } },
    { key: { app_key: 1, search_keys: 1 } },
    { key: { app_key: 1, openid: 1 }, unique: true, partialFilterExpression: { openid: { $exists: true } } },
    {
      key: { app_key: 1, huawei_openid: 1 },
      unique: true,
      partialFilterExpression: { huawei_openid: { $exists: true } },
    },
    { key: { app_key: 1, unionid: 1 }, partialFilterExpression: { unionid: { $exists: true } } },
    { key: { app_key: 1, huawei_unionid: 1 }, partialFilterExpression: { huawei_unionid: { $exists: true } } },
    { key: { deletion_requested_at: 1 }, partialFilterExpression: { deletion_requested_at: { $exists: true } } },
  ]),
  subscriptions: defineCollection<doc.SubscriptionDoc>('sub_subscriptions', [
    { key: { app_key: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, status: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, status: 1, end: 1 } },
    { key: { app_key: 1, plan_id: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, payment_method: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, auto_renew: 1, created_at: -1, _id: -1 } },
    { key: { app_key: 1, user_id: 1, status: 1 } },
    { key: { app_key: 1, payment_id: 1 } },
    { key: { app_key: 1, ended_at: 1, since: 1 }, partialFilterExpression: { ended_at: { $exists: true } } },
    { key: { status: 1, lapse_at: 1 }, partialFilterExpression: { lapse_at: { $gt: 0 } } },
    { key: { status: 1, end: 1 }, partialFilterExpression: { end: { $gt: 0 } } },
    // One record per user and plan that is not final: two sources cannot both create one.
    { key: { user_id: 1, plan_id: 1 }, unique: true, partialFilterExpression: { current: true } },
    { key: { channel_ref: 1 }, sparse: true },
  ]),
  payments: defineCollection<doc.PaymentDoc>('sub_payments', [
    { key: { payment_key: 1 }, unique: true, sparse: true },
    { key: { client_key: 1 }, unique: true, sparse: true },
    { key: { subscription_id: 1, _id: 1 } },
    { key: { app_key: 1, paid_at: 1 } },
  ]),
  orders: defineCollection<doc.OrderDoc>('sub_orders', [
    { key: { user_id: 1, plan_id: 1 }, unique: true, partialFilterExpression: { status: 'open' } },
    { key: { status: 1, created_at: 1 } },
    { key: { app_key: 1 } },
  ]),
  paymentEvents: defineCollection<doc.PaymentEventDoc>('sub_payment_events', [
    { key: { state: 1, due: 1 } },
    { key: { app_key: 1, received_at: -1 } },
    // Waiting notices have no such time. A notice repeated after this time finds its payment in the ledger.
    { key: { applied_at: 1 }, expireAfterSeconds: 90 * DAY_SECONDS },
  ]),
  revisions: defineCollection<doc.RevisionDoc>('sub_revisions', [
    { key: { app_key: 1, kind: 1, name: 1, at: -1 } },
    { key: { deleted: 1, at: 1 } },
  ]),
  audit: defineCollection<doc.AuditDoc>('sub_audit', [
    { key: { at: -1, _id: -1 } },
    { key: { app_key: 1, at: -1, _id: -1 } },
    { key: { 'target.kind': 1, 'target.id': 1, at: -1, _id: -1 } },
  ]),
  counters: defineCollection<doc.CounterDoc>('sub_counters'),
  days: defineCollection<doc.DayDoc>('sub_days', [{ key: { app_key: 1, day: 1 } }]),
  webhookEvents: defineCollection<doc.WebhookEventDoc>('sub_webhook_events', [
    ...EVENT_INDEXES,
    { key: { app_key: 1 } },
  ]),
  idempotency: defineCollection<doc.IdempotencyDoc>('sub_idempotency', [{ key: { exp: 1 }, expireAfterSeconds: 0 }]),
  reminders: defineCollection<doc.ReminderDoc>('sub_reminders', [
    { key: { at: 1 }, expireAfterSeconds: 730 * DAY_SECONDS },
  ]),
  sequences: defineCollection<doc.SequenceDoc>('sub_sequences'),
  nonces: defineCollection<doc.NonceDoc>('sub_nonces', [{ key: { exp: 1 }, expireAfterSeconds: 0 }]),
  rateWindows: defineCollection<doc.RateWindowDoc>('sub_rate_windows', [{ key: { exp: 1 }, expireAfterSeconds: 0 }]),
} as const

/** All collections of this module, for `ensureIndexes`. */
export const subscriptionCollections = Object.values(definitions)

type Opened<D> =
  D extends ModelDefinition<infer T> ? Model<T> : D extends CollectionDefinition<infer T> ? Collection<T> : never

/** Models of the control plane, and the driver's collections of the rest. */
export type Collections = { [K in keyof typeof definitions]: Opened<(typeof definitions)[K]> }

/** The open collections of this module. */
export function openCollections(db: Db): Collections {
  const open = Object.entries(definitions).map(([name, definition]) => [
    name,
    'schema' in definition ? modelOf(db, definition as ModelDefinition<object>) : db.collection(definition.name),
  ])
  return Object.fromEntries(open) as Collections
}
