/**
 * The models of the subscription module (ADR 3): administrators, apps with their settings, plans and switches. Records that
 * the reference shows have decimal ids (`_id` is a number); money is in cents.
 */
import * as field from '../../platform/database/fields.ts'
import { type DocumentOf, defineModel } from '../../platform/database/models.ts'
import { managed, managedBy, releasedBy } from '../../platform/managed/managed-fields.ts'
import { webhookFields } from '../../platform/webhooks/event-queue.ts'
import { EVENT_TYPES } from '../events/rules/event-types.ts'
import type { SwitchRule, SwitchSpec } from '../flags/rules/flag-spec.ts'
import { type LogEntry, SWITCH_TYPES } from '../flags/rules/flag-value.ts'

/** Rights of a panel account. */
export const admins = defineModel('sub_admins', {
  _id: field.number,
  /** The account in `services/accounts`. */
  account_id: field.text,
  username: field.text,
  name: field.text,
  email: field.text,
  role: field.oneOf('super', 'operator', 'viewer'),
  /** Apps in scope; `*` means all. */
  app_keys: field.required([String]),
  status: field.oneOf('0', '1'),
  last_login_at: field.optional(Date),
  last_login_ip: field.optional(String),
  ...field.times,
})
admins.schema.index({ account_id: 1 }, { unique: true })

/** A session of the header `token`; `_id` is the HMAC-SHA-256 of the token in hex, under the key `session`. */
export const adminSessions = defineModel('sub_sessions', {
  _id: field.text,
  admin_id: field.number,
  account_id: field.text,
  /** `passwordMark` of the password of the login; absent in sessions of releases that did not write it. */
  password: field.optional(String),
  created_at: field.date,
  /** Last time that the idle end was moved. */
  seen_at: field.date,
  /** Idle end, at most created_at + 7 days. */
  expires_at: field.date,
})
adminSessions.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })
adminSessions.schema.index({ account_id: 1, created_at: 1 })

/** An application. `app_key` is never used again, so deleted ones stay as tombstones. */
export const apps = defineModel('sub_apps', {
  _id: field.number,
  app_key: field.text,
  app_name: field.text,
  app_description: field.text,
  status: field.oneOf('0', '1'),
  /** Set: the app's back end must sign its requests, a Bearer secret is not enough. */
  require_signature: field.optional(Boolean),
  /** Sender of the reminders of this app; absent: the platform's own. */
  mail_from: field.optional(String),
  version: field.number,
  ...managed,
  /** The resource in `managed_by` took over an app that existed: it keeps it only while its Namespace lists the key. */
  adopted: field.optional(Boolean),
  released_by: releasedBy,
  /** True until it is deleted; the unique index on names looks at it. */
  live: field.optional(Boolean),
  ...field.times,
  deleted_at: field.optional(Date),
  purged_at: field.optional(Date),
})
apps.schema.index({ app_key: 1 }, { unique: true })
// One live app per name: two parallel creations cannot both win.
apps.schema.index({ app_name: 1 }, { unique: true, partialFilterExpression: { live: true } })

/** A way for an app to prove who it is. `_id` is the key id inside the credential. */
export const credentials = defineModel('sub_credentials', {
  _id: field.text,
  app_key: field.text,
  kind: field.oneOf('publishable', 'secret', 'hmac'),
  /** publishable: the key itself, which is public. */
  key: field.optional(String),
  /** secret: SHA-256 of its last part. */
  secret_hash: field.optional(String),
  /** hmac: sealed with purpose `app-secret`, place `sub_credentials/<_id>`. */
  sealed: field.optional(String),
  /** secret of a resource's app, sealed in the same way until its Kubernetes Secret has it; then only the hash stays. */
  undelivered: field.optional(String),
  managed_by: managedBy,
  created_at: field.date,
  revoked_at: field.optional(Date),
})
credentials.schema.index({ app_key: 1, kind: 1 })
credentials.schema.index({ key: 1 }, { unique: true, sparse: true })

/** Settings of a payment channel of an app; `sealed` is a JSON object with the secret ones. `_id` is `<app_key>/<channel>`. */
export const channels = defineModel('sub_channels', {
  _id: field.text,
  app_key: field.text,
  channel: field.oneOf('alipay', 'wechat', 'huawei'),
  enabled: field.flag,
  settings: field.unchecked<Record<string, string>>(),
  sealed: field.optional(String),
  updated_at: field.date,
})
channels.schema.index({ app_key: 1 })

/** A plan. Plans that were sold stay, hidden, when their resource is deleted. */
export const plans = defineModel('sub_plans', {
  _id: field.number,
  app_key: field.text,
  name: field.text,
  description: field.text,
  price_cents: field.number,
  original_price_cents: field.number,
  /** Days; 0 = permanent. */
  duration: field.number,
  features: field.required([String]),
  sort_order: field.number,
  /** 1 = for sale. */
  status: field.oneOf('0', '1'),
  trial_days: field.number,
  grace_days: field.number,
  auto_renew_allowed: field.flag,
  /** Raised when price, duration or features change. */
  version: field.number,
  /** Raised with every change. */
  edits: field.number,
  ...managed,
  released_by: releasedBy,
  ...field.times,
  deleted_at: field.optional(Date),
})
plans.schema.index({ app_key: 1, name: 1 }, { unique: true })
plans.schema.index({ app_key: 1, sort_order: 1, _id: 1 })
plans.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

/** A switch. */
export const switches = defineModel('sub_switches', {
  _id: field.number,
  app_key: field.text,
  name: field.text,
  description: field.text,
  type: field.oneOf(...SWITCH_TYPES),
  /** The text of the request. */
  value: field.text,
  title: field.text,
  logs: field.unchecked<LogEntry[]>(),
  /** 0 = killed. */
  enabled: field.oneOf('0', '1'),
  /** Publishable keys see it. */
  client_visible: field.oneOf('0', '1'),
  /** Share of the users in percent, three decimals. */
  rollout: field.number,
  rules: field.unchecked<SwitchRule[]>(),
  schedules: field.unchecked<SwitchSpec['schedules']>(),
  version: field.number,
  ...managed,
  released_by: releasedBy,
  created_by: field.text,
  updated_by: field.text,
  ...field.times,
})
switches.schema.index({ app_key: 1, name: 1 }, { unique: true })
switches.schema.index({ app_key: 1, updated_at: -1, _id: -1 })
switches.schema.index({ 'schedules.at': 1 }, { sparse: true })
switches.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

/** An address of an app's back end that gets events. Its secret is sealed with purpose `app-secret`, place `sub_webhooks/<_id>`. */
export const webhooks = defineModel('sub_webhooks', {
  ...webhookFields,
  app_key: field.text,
  events: field.required([field.oneOf(...EVENT_TYPES)]),
})
webhooks.schema.index({ app_key: 1 })
webhooks.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

export type AdminDoc = DocumentOf<typeof admins>
export type AdminSessionDoc = DocumentOf<typeof adminSessions>
export type AppDoc = DocumentOf<typeof apps>
export type CredentialDoc = DocumentOf<typeof credentials>
export type ChannelDoc = DocumentOf<typeof channels>
export type PlanDoc = DocumentOf<typeof plans>
export type SwitchDoc = DocumentOf<typeof switches>
export type WebhookDoc = DocumentOf<typeof webhooks>
