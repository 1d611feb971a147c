/** The operation that lists the Kubernetes resources that own records. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { VIEW_APPS } from '../../http/shared/access.ts'
import { appKey } from '../../http/shared/contract-fields.ts'
import { managedResource } from './managed-resource-schemas.ts'

/** Lists the resources that own records. */
export const listResourcesOperation = endpoint({
  operationId: 'listResources',
  tag: 'Resources',
  method: 'GET',
  path: '/resource',
  summary: 'The Kubernetes resources that own apps, plans, switches and webhooks in scope, with their conditions.',
  access: VIEW_APPS,
  query: z.object({ app_key: appKey.optional() }),
  response: z.object({
    resources: z.array(managedResource),
    has_more: z
      .boolean()
      .describe('True when more than 1,000 apps, plans, switches or webhooks have a resource; kubectl lists all.'),
  }),
})
