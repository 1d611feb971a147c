/** Operations on the payments and the access of one end user. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { VIEW } from '../../http/shared/access.ts'
import { appKey, params } from '../../http/shared/contract-fields.ts'
import { pagination } from '../../http/shared/wire-values.ts'
import { pageQuery } from '../../rules/paging.ts'
import { entitlementRecord, paymentRecord } from './user-access-schemas.ts'

/** Lists the payments of a user. */
export const listUserPayments = endpoint({
  operationId: 'listUserPayments',
  tag: 'Users',
  method: 'GET',
  path: '/user/{id}/payment',
  summary: 'Payments, refunds and granted periods of a user, newest first.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey, ...pageQuery }),
  response: z.object({ payments: z.array(paymentRecord), pagination }),
})
/** The access of a user. */
export const getUserEntitlement = endpoint({
  operationId: 'getUserEntitlement',
  tag: 'Users',
  method: 'GET',
  path: '/user/{id}/entitlement',
  summary: 'What a user may use right now: the answer that the server API gives to the back end of the app.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey }),
  response: entitlementRecord,
})
