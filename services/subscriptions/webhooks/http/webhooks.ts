/** Webhooks of apps. */
import type Router from '@koa/router'
import { targetFault } from '../../../platform/network/guarded-fetch.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { listWebhooks, recentEvents } from '../../../platform/webhooks/event-queue.ts'
import {
  createWebhookOperation,
  deleteWebhookOperation,
  listWebhooksOperation,
  updateWebhookOperation,
} from '../../catalogue/http/apps-contract.ts'
import { findAppById } from '../../catalogue/store/apps.ts'
import type { Subscriptions } from '../../context.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { fault } from '../../rules/field-errors.ts'
import type { WebhookDoc } from '../../store/documents.ts'
import { createWebhook, deleteWebhook, updateWebhook } from '../manage-webhooks.ts'
import { webhookStore } from '../store/webhooks.ts'

/** Events of a webhook that are shown. */
const RECENT = 10

/** Puts webhooks on the router. */
export function mountWebhooks(router: Router, deps: HttpDeps): void {
  const { s } = deps
  const appKeyOf = async (id: number) => {
    const app = await findAppById(s.c, id)
    if (!app) throw new ProblemError('app_not_found')
    return app.app_key
  }
  const list = async (appKey: string) => ({
    webhooks: await Promise.all((await listWebhooks(webhookStore(s.c), appKey)).map(known => withRecent(s, known))),
  })
  bindAdmin(router, deps, listWebhooksOperation, async ({ params }) => list(await appKeyOf(params.id)))
  bindAdmin(router, deps, createWebhookOperation, async ({ params, body }, { actor }) => {
    assertSafe(s, body.url)
    const spec = { ...body, enabled: body.enabled === '1' }
    const { webhook, secret } = await createWebhook(s, actor, await appKeyOf(params.id), spec)
    return { ...view(s, webhook), secret }
  })
  bindAdmin(router, deps, updateWebhookOperation, async ({ params, body }, { actor }) => {
    if (body.url !== undefined) assertSafe(s, body.url)
    const change = { ...body, enabled: body.enabled === undefined ? undefined : body.enabled === '1' }
    const target = { appKey: await appKeyOf(params.id), id: params.webhook }
    return view(s, await updateWebhook(s, actor, target, change))
  })
  bindAdmin(router, deps, deleteWebhookOperation, async ({ params }, { actor }) => {
    const appKey = await appKeyOf(params.id)
    await deleteWebhook(s, actor, { appKey, id: params.webhook })
    return list(appKey)
  })
}

/** Events tell of users: they go over TLS into the public internet, and no password stands in an address. */
function assertSafe({ config }: Subscriptions, url: string): void {
  const wrong = targetFault(url, { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
  if (wrong) throw new ProblemError('validation_failed', undefined, { faults: [fault('url', wrong)] })
}

function view(s: Subscriptions, { _id, url, events, enabled, created_at, updated_at }: WebhookDoc) {
  return {
    id: _id,
    url,
    events,
    enabled: enabled ? ('1' as const) : ('0' as const),
    created_at: s.zone.format(created_at),
    updated_at: s.zone.format(updated_at),
  }
}

async function withRecent(s: Subscriptions, webhook: WebhookDoc) {
  const events = await recentEvents(s.c.webhookEvents, webhook._id, RECENT)
  const recent = events.map(({ _id, type, state, attempts, result, at }) => ({
    ...{ id: _id, type, state, attempts: String(attempts), result: result ?? '', created_at: s.zone.format(at) },
  }))
  return { ...view(s, webhook), recent }
}
