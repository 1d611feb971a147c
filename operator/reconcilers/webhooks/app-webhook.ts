/** The webhook of an app that a WebhookEndpoint declares. */
import { type AppDoc, findAppByKey } from '../../../services/subscriptions/catalogue/find-records.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import {
  appWebhooksOfResource,
  type DeclaredAppWebhook,
  declareAppWebhook,
  leaveAppWebhook,
  withdrawAppWebhooks,
} from '../../../services/subscriptions/kubernetes/declare-webhook.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import type { WebhookEndpoint } from '../../resources/webhook-endpoint.ts'
import { withdrawnEvent } from '../shared/namespace-entitlement.ts'
import { wantsToAdopt } from '../shared/namespace-owners.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'
import { appKeyOf, mayManage } from '../subscriptions/app-ref.ts'
import type { WebhookTarget } from './webhook-target.ts'

/** The app of a resource with an appRef, or why it cannot be used yet. */
export async function appTarget(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: WebhookEndpoint,
  appName: string,
): Promise<WebhookTarget | { outcome: Outcome }> {
  const { spec, metadata } = resource
  const app = await appKeyOf(context, subscriptions, metadata, appName)
  if ('outcome' in app) return app
  const { url, enabled, events } = spec
  const wanted = { url, enabled, events: events && ([...new Set(events)] as DeclaredAppWebhook['events']) }
  return {
    owner: app.appKey,
    declare: requests =>
      declareAppWebhook(subscriptions, managedBy(resource), app.appKey, wanted, {
        ...requests,
        adopt: wantsToAdopt(metadata),
      }),
  }
}

/**
 * Disables the webhooks of apps that the namespace may not manage any more, and leaves them to the administrators: the
 * namespace knows the address and the secret, and its right may end without the App resource, such as after its deletion.
 */
export async function leaveLostApps(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: WebhookEndpoint,
): Promise<EventInput[]> {
  const { name, uid, namespace, deletionTimestamp } = resource.metadata
  const events: EventInput[] = []
  for (const webhook of await appWebhooksOfResource(subscriptions, uid)) {
    const app = await findAppByKey(subscriptions, webhook.app_key)
    // The webhook of a deleted app is deleted with its resource. Until then its key may become that of another app.
    const isKept = app ? await isOfNamespace(context, namespace, app) : deletionTimestamp !== undefined
    if (isKept) continue
    await leaveAppWebhook(subscriptions, managedBy(resource), webhook)
    const note = `The webhook of ${name}, disabled, was left to the administrators of the app ${webhook.app_key}.`
    events.push(withdrawnEvent(note))
  }
  return events
}

/** True for an app that a resource of the namespace manages, or that one created and released: the namespace may declare it again. */
async function isOfNamespace(context: OperatorContext, namespace: string, app: AppDoc): Promise<boolean> {
  const owner = app.managed_by ?? app.released_by
  return owner?.namespace === namespace && (await mayManage(context, namespace, app))
}

/** Removes the webhooks of the resource, or returns them to the administrators. */
export function withdrawApp(
  subscriptions: Subscriptions,
  resource: WebhookEndpoint,
  how: 'Delete' | 'Retain',
): Promise<void> {
  return withdrawAppWebhooks(subscriptions, managedBy(resource), how)
}
