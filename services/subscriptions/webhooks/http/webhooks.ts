/** Webhooks of apps. */
import type Router from '@koa/router'
import { managedText } from '../../../platform/managed/rules/managed-by.ts'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import { latestEvents, listEvents, listWebhooks } from '../../../platform/webhooks/event-queue.ts'
import { showLog, showResult } from '../../../platform/webhooks/http/show-attempts.ts'
import { sendTest } from '../../../platform/webhooks/replay-events.ts'
import {
  type DeliveryRefusals,
  replayDeliveries,
  replayDelivery,
  requireDelivery,
} from '../../../platform/webhooks/requested-deliveries.ts'
import { requireApp } from '../../catalogue/manage-apps.ts'
import type { Subscriptions } from '../../context.ts'
import { webhookStore } from '../../events/store/webhooks.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import type { WebhookEventDoc } from '../../store/documents.ts'
import type { WebhookDoc } from '../../store/models.ts'
import {
  assertSafe,
  createWebhook,
  deleteWebhook,
  requireWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from '../manage-webhooks.ts'
import { dataOfEvent, webhookSending } from '../send-webhooks.ts'
import {
  createWebhookOperation,
  deleteWebhookOperation,
  getDeliveryOperation,
  listDeliveriesOperation,
  listWebhooksOperation,
  replayDeliveryOperation,
  replayWebhookOperation,
  rotateWebhookOperation,
  testWebhookOperation,
  updateWebhookOperation,
} from './webhooks-contract.ts'

/** Number of latest events in the view of a webhook. */
const RECENT = 10

/** Mounts the operations on webhooks. */
export function mountWebhooks(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const appKeyOf = async (id: number) => (await requireApp(subscriptions, id)).app_key
  const list = async (appKey: string) => ({
    webhooks: await Promise.all(
      (await listWebhooks(webhookStore(subscriptions.collections), appKey)).map(known =>
        withLatestEvents(subscriptions, known),
      ),
    ),
  })
  bindAdmin(router, deps, listWebhooksOperation, async ({ params }) => list(await appKeyOf(params.id)))
  bindAdmin(router, deps, createWebhookOperation, async ({ params, body }, { actor }) => {
    assertSafe(subscriptions, body.url)
    const spec = { ...body, enabled: body.enabled === '1' }
    const { webhook, secret } = await createWebhook(subscriptions, actor, await appKeyOf(params.id), spec)
    return { ...view(subscriptions, webhook), secret }
  })
  bindAdmin(router, deps, updateWebhookOperation, async ({ params, body }, { actor }) => {
    if (body.url !== undefined) assertSafe(subscriptions, body.url)
    const change = { ...body, enabled: body.enabled === undefined ? undefined : body.enabled === '1' }
    const target = { appKey: await appKeyOf(params.id), id: params.webhook }
    return view(subscriptions, await updateWebhook(subscriptions, actor, target, change))
  })
  bindAdmin(router, deps, deleteWebhookOperation, async ({ params }, { actor }) => {
    const appKey = await appKeyOf(params.id)
    await deleteWebhook(subscriptions, actor, { appKey, id: params.webhook })
    return list(appKey)
  })
  bindAdmin(router, deps, rotateWebhookOperation, async ({ params }, { actor }) => {
    const target = { appKey: await appKeyOf(params.id), id: params.webhook }
    const { webhook, secret } = await rotateWebhookSecret(subscriptions, actor, target)
    return { ...view(subscriptions, webhook), secret }
  })
  mountDeliveries(router, deps)
}

const REFUSALS: DeliveryRefusals = { unknown: 'record_not_found', conflict: 'transition_refused' }

/** Default number of deliveries in a page. */
const PAGE = 20

/** The operations on the delivery log of a webhook. */
function mountDeliveries(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const sending = webhookSending(subscriptions)
  const { events } = sending.store
  const webhookOf = async ({ id, webhook }: { id: number; webhook: string }) =>
    requireWebhook(subscriptions, { appKey: (await requireApp(subscriptions, id)).app_key, id: webhook })
  bindAdmin(router, deps, testWebhookOperation, async ({ params }) => {
    const webhook = await webhookOf(params)
    return deliveryDetailView(subscriptions, await sendTest(sending, webhook, { app_key: webhook.app_key }))
  })
  bindAdmin(router, deps, listDeliveriesOperation, async ({ params, query }) => {
    const { _id } = await webhookOf(params)
    const { state, type, after, order, page_size: limit = PAGE } = query
    const found = await listEvents(events, _id, { state, type }, { after, limit, order })
    const deliveries = found.slice(0, limit).map(event => deliveryView(subscriptions, event))
    return { deliveries, has_more: found.length > limit ? ('1' as const) : ('0' as const) }
  })
  bindAdmin(router, deps, getDeliveryOperation, async ({ params }) => {
    const { _id } = await webhookOf(params)
    return deliveryDetailView(subscriptions, await requireDelivery(sending.store, _id, params.delivery, REFUSALS))
  })
  bindAdmin(router, deps, replayDeliveryOperation, async ({ params }) => {
    const event = await replayDelivery(sending, await webhookOf(params), params.delivery, REFUSALS)
    return deliveryDetailView(subscriptions, event)
  })
  bindAdmin(router, deps, replayWebhookOperation, async ({ params, body: { since, until, failed_only } }) => {
    const range = {
      since: new Date(since * 1000),
      until: until === undefined ? undefined : new Date(until * 1000),
      failedOnly: failed_only === '1',
    }
    const { replayed, next } = await replayDeliveries(sending, await webhookOf(params), range, REFUSALS)
    const next_since = next ? String(Math.floor(next.getTime() / 1000)) : ''
    return { replayed: String(replayed), has_more: next ? ('1' as const) : ('0' as const), next_since }
  })
}

function view(context: Subscriptions, webhook: WebhookDoc) {
  const { _id, url, events, enabled, disabled, failing, previous, managed_by, created_at, updated_at } = webhook
  return {
    ...(previous &&
      previous.until > context.clock.now() && { previous_secret_until: context.zone.format(previous.until) }),
    ...(disabled && {
      disabled_at: context.zone.format(disabled.at),
      disabled_reason: inEnglish(disabled.reason),
      disabled_reason_code: disabled.reason.code,
    }),
    ...(failing && { failing_since: context.zone.format(failing.since) }),
    id: _id,
    url,
    events,
    enabled: enabled ? ('1' as const) : ('0' as const),
    ...(managed_by && { managed_by: managedText(managed_by) }),
    created_at: context.zone.format(created_at),
    updated_at: context.zone.format(updated_at),
  }
}

async function withLatestEvents(context: Subscriptions, webhook: WebhookDoc) {
  const events = await latestEvents(context.collections.webhookEvents, webhook._id, RECENT)
  const latest = events.map(({ _id, type, state, attempts, result, reason, at }) => ({
    ...(reason && { result_code: reason.code }),
    ...{ id: _id, type, state, attempts: String(attempts), result: result ?? '', created_at: context.zone.format(at) },
  }))
  return { ...view(context, webhook), recent: latest }
}

function deliveryView({ zone }: Subscriptions, event: WebhookEventDoc) {
  const { _id, webhook_id, type, state, attempts, due, at } = event
  return {
    ...(state === 'waiting' && { next_attempt_at: zone.format(due) }),
    ...{ id: _id, webhook_id, type, state, attempts: String(attempts), created_at: zone.format(at) },
    ...showResult(event),
  }
}

function deliveryDetailView(context: Subscriptions, event: WebhookEventDoc) {
  const log = showLog(event, { data: dataOfEvent(event) }, at => context.zone.format(at))
  return { ...deliveryView(context, event), ...log }
}
