/** `/webhooks`: those that are made here send in the format of Resend. A secret is shown once, when it is made. */
import {
  createMailWebhookOperation,
  deleteMailWebhookOperation,
  getMailWebhookOperation,
  listMailWebhooksOperation,
  patchMailWebhookOperation,
  rotateMailWebhookOperation,
} from '../../webhooks/http/webhooks-contract.ts'
import { toListedWebhook, toOwnWebhook } from '../rules/webhook.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage, pageOf } from './pages.ts'

/** Adds the addresses. */
export function addWebhookRoutes(deps: ForeignDeps): void {
  const params = (request: ForeignRequest) => ({ id: request.params.id })
  addForeignRoutes(deps, [
    {
      ...{ method: 'POST', path: '/webhooks', operation: createMailWebhookOperation, status: 201 },
      async handle({ body, own }) {
        const settings = { ...toOwnWebhook(body), format: 'resend' }
        const { id, secret } = await own(createMailWebhookOperation, { body: settings })
        return { object: 'webhook', id, signing_secret: secret }
      },
    },
    {
      ...{ method: 'GET', path: '/webhooks', operation: listMailWebhooksOperation },
      handle: request =>
        listPage(request, async page =>
          pageOf(await request.own(listMailWebhooksOperation, { query: page }), toListedWebhook),
        ),
    },
    {
      ...{ method: 'GET', path: '/webhooks/:id', operation: getMailWebhookOperation },
      async handle(request) {
        const webhook = await request.own(getMailWebhookOperation, { params: params(request) })
        return { object: 'webhook', ...toListedWebhook(webhook) }
      },
    },
    {
      ...{ method: 'PATCH', path: '/webhooks/:id', operation: patchMailWebhookOperation },
      async handle(request) {
        const change = { params: params(request), body: toOwnWebhook(request.body) }
        const { id } = await request.own(patchMailWebhookOperation, change)
        return { object: 'webhook', id }
      },
    },
    {
      ...{ method: 'DELETE', path: '/webhooks/:id', operation: deleteMailWebhookOperation },
      async handle(request) {
        await request.own(deleteMailWebhookOperation, { params: params(request) })
        return { object: 'webhook', id: request.params.id, deleted: true }
      },
    },
    {
      ...{ method: 'POST', path: '/webhooks/:id/signing-secret/rotate', operation: rotateMailWebhookOperation },
      async handle(request) {
        const { id, secret } = await request.own(rotateMailWebhookOperation, { params: params(request) })
        return { object: 'webhook', id, signing_secret: secret }
      },
    },
  ])
}
