/** Webhooks of apps. */
import type Router from '@koa/router'
import { findTargetError } from '../../../platform/network/guarded-fetch.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import { latestEvents, listWebhooks } from '../../../platform/webhooks/event-queue.ts'
import { requireApp } from '../../catalogue/manage-apps.ts'
import type { Subscriptions } from '../../context.ts'
import { webhookStore } from '../../events/store/webhooks.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { fieldError } from '../../rules/field-errors.ts'
import type { WebhookDoc } from '../../store/models.ts'
import { createWebhook, deleteWebhook, updateWebhook } from '../manage-webhooks.ts'
import {
  createWebhookOperation,
  deleteWebhookOperation,
  listWebhooksOperation,
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
}

/**
 * Events contain data of users: they are sent over TLS and to public addresses, and the URL must not contain a
 * password.
 */
function assertSafe({ config }: Subscriptions, url: string): void {
  const wrong = findTargetError(url, { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
  if (wrong) throw new ProblemError('validation_failed', undefined, { errors: [fieldError('url', wrong)] })
}

function view(context: Subscriptions, webhook: WebhookDoc) {
  const { _id, url, events, enabled, disabled, failing, created_at, updated_at } = webhook
  return {
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
