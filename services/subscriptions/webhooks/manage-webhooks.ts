/** Webhooks of an app: made with a secret that is shown once, changed, removed. */
import { randomBytes } from 'node:crypto'
import type { Session } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { ProblemError } from '../../platform/problems.ts'
import { findWebhook, listWebhooks, removeWebhook } from '../../platform/webhooks/event-queue.ts'
import { SECRET_PREFIX } from '../../platform/webhooks/rules/standard-webhooks.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { WebhookDoc } from '../store/documents.ts'
import type { EventType } from './rules/webhook.ts'
import { insertWebhook, replaceWebhook, webhookStore } from './store/webhooks.ts'

/** What a webhook is made of. */
export interface WebhookSpec {
  url: string
  /** None means all. */
  events: EventType[]
  enabled: boolean
}

/** Webhooks that an app may have: each event is stored once for each of them. */
const MAX_WEBHOOKS = 5

/** Where the secret of a webhook is sealed to. */
export const webhookPlace = (id: string) => `sub_webhooks/${id}`

/** Makes a webhook; its secret is known only now. Throws `transition_refused` when the app has five. */
export async function createWebhook(
  s: Subscriptions,
  actor: Actor,
  appKey: string,
  spec: WebhookSpec,
): Promise<{ webhook: WebhookDoc; secret: string }> {
  if ((await listWebhooks(webhookStore(s.c), appKey)).length >= MAX_WEBHOOKS)
    throw new ProblemError('transition_refused', `An app has at most ${MAX_WEBHOOKS} webhooks.`)
  const now = s.clock.now()
  const _id = newId('wh', now.getTime())
  const secret = SECRET_PREFIX + randomBytes(32).toString('base64')
  const sealed = s.secrets.seal('app-secret', webhookPlace(_id), secret)
  const webhook: WebhookDoc = { _id, app_key: appKey, ...spec, sealed, created_at: now, updated_at: now }
  await record(s, actor, async session => {
    await insertWebhook(s.c, webhook, session)
    return { result: undefined, deed: deedOf('webhook.create', undefined, webhook) }
  })
  s.memory.webhooks.delete(appKey)
  return { webhook, secret }
}

/** Changes a webhook; changes of other fields in the same moment stay. Throws `record_not_found`. */
export async function updateWebhook(
  s: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: string },
  change: { [K in keyof WebhookSpec]?: WebhookSpec[K] | undefined },
): Promise<WebhookDoc> {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after = await record(s, actor, async session => {
    const before = await requireWebhook(s, { appKey, id }, session)
    const result: WebhookDoc = { ...before, ...given, updated_at: s.clock.now() }
    await replaceWebhook(s.c, result, session)
    return { result, deed: deedOf('webhook.update', before, result) }
  })
  s.memory.webhooks.delete(appKey)
  return after
}

/** Removes a webhook with what waits for it. Throws `record_not_found`. */
export async function deleteWebhook(
  s: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: string },
): Promise<void> {
  await record(s, actor, async session => {
    const before = await requireWebhook(s, { appKey, id }, session)
    await removeWebhook(webhookStore(s.c), id, session)
    return { result: undefined, deed: deedOf('webhook.delete', before, undefined) }
  })
  s.memory.webhooks.delete(appKey)
}

/** The webhook with this id in this app. Throws `record_not_found`. */
async function requireWebhook(
  s: Subscriptions,
  { appKey, id }: { appKey: string; id: string },
  session: Session,
): Promise<WebhookDoc> {
  const webhook = await findWebhook(webhookStore(s.c), id, session)
  if (webhook?.app_key !== appKey) throw new ProblemError('record_not_found')
  return webhook
}

/** The log never holds a secret, sealed or not. */
function deedOf(action: string, before: WebhookDoc | undefined, after: WebhookDoc | undefined) {
  const shown = (known: WebhookDoc | undefined) =>
    known && { url: known.url, events: known.events, enabled: known.enabled }
  const { _id, app_key } = (after ?? before) as WebhookDoc
  return { action, appKey: app_key, target: { kind: 'webhook', id: _id }, before: shown(before), after: shown(after) }
}
