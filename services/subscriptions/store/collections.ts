/** The collections of the subscription half and their indexes, with the query that each index is for. */
import { collectionOf, type Db, defineCollection } from '../../platform/database/mongo.ts'
import { DAY_SECONDS } from '../../platform/durations.ts'
import type * as doc from './documents.ts'

const definitions = {
  admins: defineCollection<doc.AdminDoc>('sub_admins', [{ key: { account_id: 1 }, unique: true }]),
  adminSessions: defineCollection<doc.AdminSessionDoc>('sub_sessions', [
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
    { key: { account_id: 1, created_at: 1 } },
  ]),
  apps: defineCollection<doc.AppDoc>('sub_apps', [
    { key: { app_key: 1 }, unique: true },
    // One live app per name: two parallel creations cannot both win.
    { key: { app_name: 1 }, unique: true, partialFilterExpression: { live: true } },
  ]),
  credentials: defineCollection<doc.CredentialDoc>('sub_credentials', [
    { key: { app_key: 1, kind: 1 } },
    { key: { key: 1 }, unique: true, sparse: true },
  ]),
  channels: defineCollection<doc.ChannelDoc>('sub_channels', [{ key: { app_key: 1 } }]),
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
  plans: defineCollection<doc.PlanDoc>('sub_plans', [
    { key: { app_key: 1, name: 1 }, unique: true },
    { key: { app_key: 1, sort_order: 1, _id: 1 } },
    { key: { 'managed_by.uid': 1 }, sparse: true },
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
    // One record per user and plan that is not final: two intake paths cannot both create one.
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
    // Those that wait have no such time. What comes once more after so long meets its payment in the ledger.
    { key: { applied_at: 1 }, expireAfterSeconds: 90 * DAY_SECONDS },
  ]),
  switches: defineCollection<doc.SwitchDoc>('sub_switches', [
    { key: { app_key: 1, name: 1 }, unique: true },
    { key: { app_key: 1, updated_at: -1, _id: -1 } },
    { key: { 'schedules.at': 1 }, sparse: true },
    { key: { 'managed_by.uid': 1 }, sparse: true },
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
  webhooks: defineCollection<doc.WebhookDoc>('sub_webhooks', [{ key: { app_key: 1 } }]),
  webhookEvents: defineCollection<doc.WebhookEventDoc>('sub_webhook_events', [
    { key: { state: 1, due: 1 } },
    // For claims that leave some apps out: their documents are not read.
    { key: { due: 1, app_key: 1 }, partialFilterExpression: { state: 'waiting' } },
    { key: { webhook_id: 1, at: -1 } },
    { key: { app_key: 1 } },
    { key: { at: 1 }, expireAfterSeconds: 30 * DAY_SECONDS },
  ]),
  idempotency: defineCollection<doc.IdempotencyDoc>('sub_idempotency', [{ key: { exp: 1 }, expireAfterSeconds: 0 }]),
  reminders: defineCollection<doc.ReminderDoc>('sub_reminders', [
    { key: { at: 1 }, expireAfterSeconds: 730 * DAY_SECONDS },
  ]),
  sequences: defineCollection<doc.SequenceDoc>('sub_sequences'),
  nonces: defineCollection<doc.NonceDoc>('sub_nonces', [{ key: { exp: 1 }, expireAfterSeconds: 0 }]),
  rateWindows: defineCollection<doc.RateWindowDoc>('sub_rate_windows', [{ key: { exp: 1 }, expireAfterSeconds: 0 }]),
} as const

/** All collections of this half, for `ensureIndexes`. */
export const subscriptionCollections = Object.values(definitions)

/** The open collections of this half. */
export function openCollections(db: Db) {
  return {
    admins: collectionOf(db, definitions.admins),
    adminSessions: collectionOf(db, definitions.adminSessions),
    apps: collectionOf(db, definitions.apps),
    credentials: collectionOf(db, definitions.credentials),
    channels: collectionOf(db, definitions.channels),
    users: collectionOf(db, definitions.users),
    plans: collectionOf(db, definitions.plans),
    subscriptions: collectionOf(db, definitions.subscriptions),
    payments: collectionOf(db, definitions.payments),
    orders: collectionOf(db, definitions.orders),
    paymentEvents: collectionOf(db, definitions.paymentEvents),
    switches: collectionOf(db, definitions.switches),
    revisions: collectionOf(db, definitions.revisions),
    audit: collectionOf(db, definitions.audit),
    counters: collectionOf(db, definitions.counters),
    days: collectionOf(db, definitions.days),
    webhooks: collectionOf(db, definitions.webhooks),
    webhookEvents: collectionOf(db, definitions.webhookEvents),
    idempotency: collectionOf(db, definitions.idempotency),
    reminders: collectionOf(db, definitions.reminders),
    sequences: collectionOf(db, definitions.sequences),
    nonces: collectionOf(db, definitions.nonces),
    rateWindows: collectionOf(db, definitions.rateWindows),
  }
}

/** The collections as one value. */
export type Collections = ReturnType<typeof openCollections>
