/** Webhooks of an app: created with a secret that is shown once, changed, removed. */
import type { Session } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { findTargetError } from '../../platform/network/guarded-fetch.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { findWebhook, listWebhooks, removeWebhook } from '../../platform/webhooks/event-queue.ts'
import { makeSecret, rotateSecret } from '../../platform/webhooks/webhook-secret.ts'
import { record } from '../audit/record-change.ts'
import { assertUnmanaged } from '../catalogue/manage-plans.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { webhookStore } from '../events/store/webhooks.ts'
import { fieldError } from '../rules/field-errors.ts'
import type { WebhookDoc } from '../store/models.ts'

/** What a webhook is made of. */
export type WebhookSpec = Pick<WebhookDoc, 'url' | 'events' | 'enabled'>

/** Largest number of webhooks of an app: each event is stored once per webhook. */
const MAX_WEBHOOKS = 5

/** The sealing context of a webhook's secret. */
export const webhookPlace = (id: string) => `sub_webhooks/${id}`

/** Creates a webhook and returns its secret, this once. Throws `transition_refused` when the app has five. */
export async function createWebhook(
  context: Subscriptions,
  actor: Actor,
  appKey: string,
  spec: WebhookSpec,
  managedBy?: ManagedBy,
): Promise<{ webhook: WebhookDoc; secret: string }> {
  if ((await listWebhooks(webhookStore(context.collections), appKey)).length >= MAX_WEBHOOKS)
    throw new ProblemError('transition_refused', sentence('detail.webhooks', { count: MAX_WEBHOOKS }))
  const now = context.clock.now()
  const _id = newId('wh', now.getTime())
  const secret = makeSecret()
  const sealed = context.secrets.seal('app-secret', webhookPlace(_id), secret)
  const webhook: WebhookDoc = {
    ...{ _id, app_key: appKey, ...spec, sealed },
    ...(managedBy && { managed_by: managedBy }),
    ...{ created_at: now, updated_at: now },
  }
  await record(context, actor, async session => {
    await context.collections.webhooks.insertOne(webhook, { session })
    return { result: undefined, event: auditEventOf('webhook.create', undefined, webhook) }
  })
  context.memory.webhooks.delete(appKey)
  return { webhook, secret }
}

/** Changes a webhook; parallel changes of other fields are kept. Throws `record_not_found`, `managed_by_resource`. */
export async function updateWebhook(
  context: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: string },
  change: { [K in keyof WebhookSpec]?: WebhookSpec[K] | undefined },
): Promise<WebhookDoc> {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after = await record(context, actor, async session => {
    const before = await requireUnmanaged(context, { appKey, id }, undefined, session)
    const { failing, disabled, ...known } = before
    const startsAgain = change.enabled === true
    const noted = startsAgain ? {} : { ...(failing && { failing }), ...(disabled && { disabled }) }
    const result: WebhookDoc = { ...known, ...noted, ...given, updated_at: context.clock.now() }
    await context.collections.webhooks.replaceOne({ _id: id }, result, { session })
    return { result, event: auditEventOf('webhook.update', before, result) }
  })
  context.memory.webhooks.delete(appKey)
  return after
}

/**
 * Gives a webhook a new secret, returned this once; the one before signs as well for a day. Throws `record_not_found`, and
 * `managed_by_resource` unless `by` manages it.
 */
export async function rotateWebhookSecret(
  context: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: string },
  by?: ManagedBy,
): Promise<{ webhook: WebhookDoc; secret: string }> {
  const seal = (secret: string) => context.secrets.seal('app-secret', webhookPlace(id), secret)
  const rotated = await record(context, actor, async session => {
    const before = await requireUnmanaged(context, { appKey, id }, by, session)
    const { secret, change } = rotateSecret(before, seal, context.clock.now())
    const webhook: WebhookDoc = { ...before, ...change }
    await context.collections.webhooks.replaceOne({ _id: id }, webhook, { session })
    return { result: { webhook, secret }, event: auditEventOf('webhook.rotate', before, webhook) }
  })
  context.memory.webhooks.delete(appKey)
  return rotated
}

/** Removes a webhook and its waiting events. Throws `record_not_found`, and `managed_by_resource` unless `by` manages it. */
export async function deleteWebhook(
  context: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: string },
  by?: ManagedBy,
): Promise<void> {
  await record(context, actor, async session => {
    const before = await requireUnmanaged(context, { appKey, id }, by, session)
    await removeWebhook(webhookStore(context.collections), id, session)
    return { result: undefined, event: auditEventOf('webhook.delete', before, undefined) }
  })
  context.memory.webhooks.delete(appKey)
}

/** The webhook with this id in this app. Throws `record_not_found`. */
export async function requireWebhook(
  context: Subscriptions,
  { appKey, id }: { appKey: string; id: string },
  session?: Session,
): Promise<WebhookDoc> {
  const webhook = await findWebhook(webhookStore(context.collections), id, session)
  if (webhook?.app_key !== appKey) throw new ProblemError('record_not_found')
  return webhook
}

async function requireUnmanaged(
  context: Subscriptions,
  target: { appKey: string; id: string },
  by: ManagedBy | undefined,
  session: Session,
): Promise<WebhookDoc> {
  const webhook = await requireWebhook(context, target, session)
  assertUnmanaged(webhook, by)
  return webhook
}

/**
 * Throws `validation_failed` for an address that is not allowed. Events contain data of users: they are sent over TLS and to
 * public addresses, and the URL must not contain a password.
 */
export function assertSafe({ config }: Subscriptions, url: string): void {
  const wrong = findTargetError(url, { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
  if (wrong) throw new ProblemError('validation_failed', undefined, { errors: [fieldError('url', wrong)] })
}

/** What a change records. The log never holds a secret, sealed or not. */
export function auditEventOf(action: string, before: WebhookDoc | undefined, after: WebhookDoc | undefined) {
  const shown = (known: WebhookDoc | undefined) =>
    known && { url: known.url, events: known.events, enabled: known.enabled }
  const { _id, app_key } = (after ?? before) as WebhookDoc
  return { action, appKey: app_key, target: { kind: 'webhook', id: _id }, before: shown(before), after: shown(after) }
}
