/** Webhooks over HTTP. */
import { bind, type WebContext } from '../../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../../platform/ordered-pages.ts'
import { listEvents } from '../../../platform/webhooks/event-queue.ts'
import { sendTest } from '../../../platform/webhooks/replay-events.ts'
import {
  type DeliveryRefusals,
  replayDeliveries,
  replayDelivery,
  requireDelivery,
} from '../../../platform/webhooks/requested-deliveries.ts'
import { findOwnDomainIds } from '../../domains/store/domains.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import {
  changeMailWebhook,
  createMailWebhook,
  getMailWebhook,
  removeMailWebhook,
  rotateWebhookSecret,
  type WebhookDeps,
} from '../manage-webhooks.ts'
import { mailWebhookSending } from '../send-mail-webhooks.ts'
import { listMailWebhooks, type MailWebhookDoc, mailWebhookStore } from '../store/webhook-collections.ts'
import { showDelivery, showDeliveryDetail, showWebhook } from './webhook-views.ts'
import {
  createMailWebhookOperation,
  DELIVERY_ORDERS,
  deleteMailWebhookOperation,
  getMailWebhookOperation,
  getWebhookDeliveryOperation,
  listMailWebhooksOperation,
  listWebhookDeliveriesOperation,
  patchMailWebhookOperation,
  replayWebhookDeliveryOperation,
  replayWebhookOperation,
  rotateMailWebhookOperation,
  testMailWebhookOperation,
  WEBHOOK_ORDERS,
} from './webhooks-contract.ts'

const REFUSALS: DeliveryRefusals = { unknown: 'not_found', conflict: 'conflict' }

/** Puts the operations on webhooks on the router. */
export function mountMailWebhooks(router: Router, deps: MailHttpDeps): void {
  const { authorise, clock, mongo } = deps
  const useCase: WebhookDeps = { ...deps, ownDomains: (userId, ids) => findOwnDomainIds(mongo.db, userId, ids) }
  const show = (webhook: MailWebhookDoc) => showWebhook(webhook, clock.now())
  const audit = (caller: Principal, context: WebContext, verb: string, { _id, name, url }: MailWebhookDoc) =>
    deps.audit(caller, context, { action: `webhook.${verb}`, target: { type: 'webhook', id: _id, name: name || url } })

  bind(router, authorise, listMailWebhooksOperation, async ({ query }, { account }) => {
    const rows = await listMailWebhooks(mongo.db, account.id, orderedPage(WEBHOOK_ORDERS, query))
    return toOrderedPage(WEBHOOK_ORDERS, query, rows, show)
  })

  bind(router, authorise, createMailWebhookOperation, async ({ body }, caller, context) => {
    const { webhook, secret } = await createMailWebhook(useCase, caller.account.id, body)
    await audit(caller, context, 'created', webhook)
    context.set('Location', `/api/v1/webhooks/${webhook._id}`)
    return { ...show(webhook), secret }
  })

  bind(router, authorise, getMailWebhookOperation, async ({ params }, { account }) =>
    show(await getMailWebhook(useCase, account.id, params.id)),
  )

  bind(router, authorise, patchMailWebhookOperation, async ({ params, body }, caller, context) => {
    const webhook = await changeMailWebhook(useCase, caller.account.id, params.id, body)
    await audit(caller, context, 'updated', webhook)
    return show(webhook)
  })

  bind(router, authorise, deleteMailWebhookOperation, async ({ params }, caller, context) => {
    await audit(caller, context, 'removed', await removeMailWebhook(useCase, caller.account.id, params.id))
  })

  bind(router, authorise, rotateMailWebhookOperation, async ({ params }, caller, context) => {
    const { webhook, secret } = await rotateWebhookSecret(useCase, caller.account.id, params.id)
    await audit(caller, context, 'rotated', webhook)
    return { ...show(webhook), secret }
  })

  mountDeliveries(router, deps, useCase)
}

/** The operations on the deliveries of a webhook. */
function mountDeliveries(router: Router, deps: MailHttpDeps, useCase: WebhookDeps): void {
  const { authorise, mongo } = deps
  const store = mailWebhookStore(mongo.db)
  const sending = mailWebhookSending(deps)

  bind(router, authorise, testMailWebhookOperation, async ({ params }, { account }) => {
    const webhook = await getMailWebhook(useCase, account.id, params.id)
    return showDeliveryDetail(webhook, await sendTest(sending, webhook, { user_id: account.id }))
  })

  bind(router, authorise, listWebhookDeliveriesOperation, async ({ params, query }, { account }) => {
    await getMailWebhook(useCase, account.id, params.id)
    const { state, type, email_id } = query
    const filter = {
      ...{ type, state: state === 'delivered' ? ('done' as const) : state },
      ...(email_id !== undefined && { fields: { 'data.email_id': email_id } }),
    }
    const { limit, order, position: [after] = [] } = orderedPage(DELIVERY_ORDERS, query)
    const rows = await listEvents(store.events, params.id, filter, { limit, order, after })
    return toOrderedPage(DELIVERY_ORDERS, query, rows, showDelivery)
  })

  bind(router, authorise, getWebhookDeliveryOperation, async ({ params }, { account }) => {
    const webhook = await getMailWebhook(useCase, account.id, params.id)
    return showDeliveryDetail(webhook, await requireDelivery(store, params.id, params.delivery, REFUSALS))
  })

  bind(router, authorise, replayWebhookDeliveryOperation, async ({ params }, { account }) => {
    const webhook = await getMailWebhook(useCase, account.id, params.id)
    return showDeliveryDetail(webhook, await replayDelivery(sending, webhook, params.delivery, REFUSALS))
  })

  bind(router, authorise, replayWebhookOperation, async ({ params, body }, { account }) => {
    const webhook = await getMailWebhook(useCase, account.id, params.id)
    const range = { since: body.since, until: body.until, failedOnly: body.failed_only }
    const { replayed, next } = await replayDeliveries(sending, webhook, range, REFUSALS)
    const next_since = next?.toISOString() ?? null
    return { object: 'webhook_replay' as const, replayed, has_more: next !== undefined, next_since }
  })
}
