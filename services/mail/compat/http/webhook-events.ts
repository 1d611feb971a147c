/** `/webhooks/{id}/events`: the delivery log of a webhook. */
import {
  getWebhookDeliveryOperation,
  listWebhookDeliveriesOperation,
  replayWebhookDeliveryOperation,
} from '../../webhooks/http/webhooks-contract.ts'
import { toAttempts, toListedEvent, toShownEvent } from '../rules/webhook.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage } from './pages.ts'

const PATH = '/webhooks/:id/events'

/** Adds the addresses. */
export function addWebhookEventRoutes(deps: ForeignDeps): void {
  const params = ({ params: { id, delivery } }: ForeignRequest) => ({ id, delivery })
  addForeignRoutes(deps, [
    {
      ...{ method: 'GET', path: PATH, operation: listWebhookDeliveriesOperation },
      handle: request =>
        listPage(request, async page => {
          const input = { params: { id: request.params.id }, query: page }
          const { data, has_more } = await request.own(listWebhookDeliveriesOperation, input)
          return { data: data.map(toListedEvent), has_more, next: data.at(-1)?.id }
        }),
    },
    {
      ...{ method: 'GET', path: `${PATH}/:delivery`, operation: getWebhookDeliveryOperation },
      handle: async request =>
        toShownEvent(await request.own(getWebhookDeliveryOperation, { params: params(request) })),
    },
    {
      ...{ method: 'GET', path: `${PATH}/:delivery/attempts`, operation: getWebhookDeliveryOperation },
      async handle(request) {
        const delivery = await request.own(getWebhookDeliveryOperation, { params: params(request) })
        return { object: 'list', has_more: false, data: toAttempts(delivery) }
      },
    },
    {
      ...{ method: 'POST', path: `${PATH}/:delivery/replay`, operation: replayWebhookDeliveryOperation },
      async handle(request) {
        const { id } = await request.own(replayWebhookDeliveryOperation, { params: params(request) })
        return { object: 'webhook_event', id }
      },
    },
  ])
}
