/** Webhooks of accounts, and their events. */

import * as field from '../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf, type Session } from '../../../platform/database/models.ts'
import { collectionOf, defineCollection } from '../../../platform/database/mongo.ts'
import { readOrdered } from '../../../platform/database/read-page.ts'
import { listManagedBy } from '../../../platform/managed/managed-records.ts'
import type { OrderedPage } from '../../../platform/ordered-pages.ts'
import {
  EVENT_INDEXES,
  type WebhookEvent,
  type WebhookStore,
  webhookFields,
} from '../../../platform/webhooks/event-queue.ts'
import { MAIL_EVENT_TYPES, type MailEventType } from '../rules/mail-event.ts'
import { WEBHOOK_FORMATS } from '../rules/resend-format.ts'
import { ACCOUNT_EVENTS } from './account-events.ts'

/** An address that gets events of an account. Its secrets are sealed with purpose `app-secret`, place `mail_webhooks/<_id>`. */
export const mailWebhooks = defineModel('mail_webhooks', {
  ...webhookFields,
  user_id: field.text,
  /** For people. */
  name: field.text,
  events: field.required([field.oneOf(...MAIL_EVENT_TYPES)]),
  /** Of the requests; absent: that of Standard Webhooks. */
  format: field.optionalOneOf(...WEBHOOK_FORMATS),
  /** Address that gets a notice when the platform disables the webhook. */
  notice_email: field.optional(String),
  /** Domains whose events it gets; empty: all of the account, and events without a domain. */
  domain_ids: field.required([String]),
})
mailWebhooks.schema.index({ user_id: 1, _id: 1 })
// Disabled webhooks whose owners have not been told.
mailWebhooks.schema.index({ 'disabled.notify': 1 }, { sparse: true })
mailWebhooks.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

export type MailWebhookDoc = DocumentOf<typeof mailWebhooks>

/** An event on its way to one webhook. */
export interface MailWebhookEventDoc extends WebhookEvent {
  user_id: string
  type: MailEventType
}

/** Removed 30 days after the event, whatever its state. */
export const MAIL_WEBHOOK_EVENTS = defineCollection<MailWebhookEventDoc>('mail_webhook_events', [
  ...EVENT_INDEXES,
  {
    key: { webhook_id: 1, 'data.email_id': 1, at: -1 },
    partialFilterExpression: { 'data.email_id': { $exists: true } },
  },
])

/** All of them; a main calls ensureIndexes with them. */
export const webhookCollections = [mailWebhooks, MAIL_WEBHOOK_EVENTS, ACCOUNT_EVENTS] as const

/** The webhooks of accounts. Events name recipients as the message log does, and live as long by default. */
export function mailWebhookStore(db: Db): WebhookStore<MailWebhookDoc, MailWebhookEventDoc> {
  const [endpoints, events] = [modelOf(db, mailWebhooks), collectionOf(db, MAIL_WEBHOOK_EVENTS)]
  return { endpoints, events, owner: 'user_id', personal: [] }
}

/** A webhook of this account. */
export async function findMailWebhook(
  db: Db,
  userId: string,
  id: string,
  session?: Session,
): Promise<MailWebhookDoc | undefined> {
  const options = session ? { session } : {}
  return (await modelOf(db, mailWebhooks).findOne({ _id: id, user_id: userId }, null, options).lean()) ?? undefined
}

/** All webhooks of an account, oldest first: they are few. */
export async function webhooksOfAccount(db: Db, userId: string): Promise<MailWebhookDoc[]> {
  return modelOf(db, mailWebhooks).find({ user_id: userId }).sort({ _id: 1 }).lean<MailWebhookDoc[]>()
}

/** The webhooks that the resource with this uid manages, in all accounts. */
export function mailWebhooksOfResource(db: Db, uid: string): Promise<MailWebhookDoc[]> {
  return listManagedBy(modelOf(db, mailWebhooks), uid)
}

/** How many webhooks an account has. */
export async function countMailWebhooks(db: Db, userId: string): Promise<number> {
  return modelOf(db, mailWebhooks).countDocuments({ user_id: userId })
}

/** A page of the webhooks of an account and one more, oldest first. */
export function listMailWebhooks(db: Db, userId: string, page: OrderedPage): Promise<MailWebhookDoc[]> {
  return readOrdered(modelOf(db, mailWebhooks), { user_id: userId }, page)
}

/** Stores a webhook. */
export async function insertMailWebhook(db: Db, webhook: MailWebhookDoc): Promise<void> {
  await modelOf(db, mailWebhooks).insertOne(webhook)
}

/** Changes a webhook and returns it as it is then. */
export async function updateMailWebhook(
  db: Db,
  userId: string,
  id: string,
  change: { $set: Partial<MailWebhookDoc>; $unset?: Partial<Record<keyof MailWebhookDoc, ''>> },
): Promise<MailWebhookDoc | undefined> {
  const filter = { _id: id, user_id: userId }
  return (await modelOf(db, mailWebhooks).findOneAndUpdate(filter, change).lean()) ?? undefined
}

/** Webhooks that the platform disabled and whose owners have not been told. */
export async function findUnannounced(db: Db, limit: number): Promise<MailWebhookDoc[]> {
  return modelOf(db, mailWebhooks).find({ 'disabled.notify': true }).limit(limit).lean<MailWebhookDoc[]>()
}

/** Its owner was told. */
export async function markAnnounced(db: Db, id: string): Promise<void> {
  await modelOf(db, mailWebhooks).updateOne({ _id: id }, { $unset: { 'disabled.notify': '' } })
}

/** The enabled webhooks of these accounts, in one query. */
export async function findEnabledWebhooks(db: Db, userIds: readonly string[]): Promise<MailWebhookDoc[]> {
  return modelOf(db, mailWebhooks)
    .find({ user_id: { $in: [...userIds] }, enabled: true })
    .lean<MailWebhookDoc[]>()
}
