/** Webhooks of apps declared by custom resources. */
import { listManagedBy } from '../../platform/managed/managed-records.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import {
  applyDeclaration,
  type DeclarationRequest,
  type DeclaredWebhook,
  webhookOfResource,
} from '../../platform/webhooks/declared-webhook.ts'
import { listWebhooks } from '../../platform/webhooks/event-queue.ts'
import { record } from '../audit/record-change.ts'
import type { Subscriptions } from '../context.ts'
import type { EventType } from '../events/rules/event-types.ts'
import { webhookStore } from '../events/store/webhooks.ts'
import type { WebhookDoc } from '../store/models.ts'
import {
  assertSafe,
  auditEventOf,
  createWebhook,
  deleteWebhook,
  requireWebhook,
  rotateWebhookSecret,
  webhookPlace,
} from '../webhooks/manage-webhooks.ts'
import { operatorActor, requireApp, type Withdrawal } from './declared-record.ts'

/** What a resource declares; what is absent keeps its value, or gets the default of the API. */
export interface DeclaredAppWebhook {
  url: string
  events?: EventType[] | undefined
  enabled?: boolean | undefined
}

/**
 * Creates the webhook of a resource, or makes it as declared. Throws `validation_failed` for an address that is not allowed,
 * and `transition_refused` when the app has too many webhooks.
 */
export async function declareAppWebhook(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  declared: DeclaredAppWebhook,
  request: DeclarationRequest,
): Promise<DeclaredWebhook<WebhookDoc>> {
  await requireApp(context, appKey)
  assertSafe(context, declared.url)
  const actor = operatorActor(by)
  const all = await listWebhooks(webhookStore(context.collections), appKey)
  const known = webhookOfResource(all, by, declared.url, request.adopt)
  if (!known) {
    const { url, events = [], enabled = true } = declared
    const made = await createWebhook(context, actor, appKey, { url, events, enabled }, by)
    return { ...made, outcome: 'created', rotated: true, enabledAgain: false }
  }
  return applyDeclaration(known, declared, by, request, {
    open: ({ _id }, sealed) => context.secrets.open('app-secret', webhookPlace(_id), sealed),
    write: (webhook, change) => write(context, by, webhook, change),
    rotate: ({ _id: id }) => rotateWebhookSecret(context, actor, { appKey, id }, by),
    now: context.clock.now(),
  })
}

/** The webhooks of a resource, in all apps. */
export function appWebhooksOfResource({ collections }: Subscriptions, uid: string): Promise<WebhookDoc[]> {
  return listManagedBy(collections.webhooks, uid)
}

/** Removes the webhooks of a resource, or returns them to the administrators. */
export async function withdrawAppWebhooks(context: Subscriptions, by: ManagedBy, how: Withdrawal): Promise<void> {
  for (const webhook of await appWebhooksOfResource(context, by.uid))
    if (how === 'Retain') await write(context, by, webhook, { set: { released_by: by }, remove: ['managed_by', 'k8s'] })
    else await deleteWebhook(context, operatorActor(by), { appKey: webhook.app_key, id: webhook._id }, by)
}

/** Leaves a webhook to an app that the resource may not manage any more, disabled. */
export async function leaveAppWebhook(context: Subscriptions, by: ManagedBy, webhook: WebhookDoc): Promise<void> {
  await write(context, by, webhook, { set: { enabled: false }, remove: ['managed_by', 'k8s'] })
}

function write(
  context: Subscriptions,
  by: ManagedBy,
  { _id, app_key: appKey }: WebhookDoc,
  { set, remove }: { set: Partial<WebhookDoc>; remove: readonly (keyof WebhookDoc)[] },
): Promise<WebhookDoc> {
  context.memory.webhooks.delete(appKey)
  return record(context, operatorActor(by), async session => {
    const before = await requireWebhook(context, { appKey, id: _id }, session)
    const after = { ...before, ...set, updated_at: context.clock.now() }
    for (const field of remove) delete after[field]
    await context.collections.webhooks.replaceOne({ _id }, after, { session })
    return { result: after, event: auditEventOf('webhook.update', before, after) }
  })
}
