/** The server API for the apps' own back ends, with its schemas. */

import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { reason } from '../../platform/sentences/issue-reason.ts'
import { subscriptionRecord } from '../lifecycle/http/subscription-schemas.ts'
import { entitlementRecord } from '../lifecycle/http/user-access-schemas.ts'
import { userRecord } from '../people/http/end-user-schemas.ts'
import { hasIdentity, IDENTITIES, identityFields, profileFields } from '../rules/end-user.ts'
import { flag, id, integer, money, text } from '../rules/field-schemas.ts'
import { APP } from './shared/access.ts'
import { params } from './shared/contract-fields.ts'

const who = { user_id: id.optional(), ...identityFields }
const named = <T extends { user_id?: number | undefined } & Parameters<typeof hasIdentity>[0]>(given: T) =>
  given.user_id !== undefined || hasIdentity(given)
const METHOD = /^[a-z][a-z0-9_]*$/
const method = text(1, 32)
  .refine(value => METHOD.test(value), reason('field.payment_method'))
  .meta({ pattern: METHOD.source })
const ORDER = /^[A-Za-z0-9_-]+$/
// The refinements as JSON Schema: conditions do not affect generated types.
const has = (...names: string[]) => ({
  properties: Object.fromEntries(names.map(name => [name, {}])),
  required: names,
})
const hasAnIdentity = { anyOf: IDENTITIES.map(name => has(name)) }
const isNamed = { anyOf: [has('user_id'), hasAnIdentity] }
const isPaid = {
  anyOf: [has('payment_id'), { properties: { payment_method: { const: 'trial' } } }],
}
const NAMED = { if: isNamed, else: has('user_id') }
const PAID = { if: { allOf: [isNamed, isPaid] }, else: has('user_id', 'payment_id') }
const seconds = integer(1, 99_999_999_999)

/** Creates or recognises a user. */
export const upsertUserOperation = endpoint({
  operationId: 'upsertUser',
  tag: 'Server',
  method: 'POST',
  path: '/server/user',
  summary: 'A user logged in at the app: creates it, or counts the login of the one that the identities name.',
  access: APP,
  example: { body: { openid: 'wx-openid-1', nickname: 'Ann', email: 'ann@example.net', login_ip: '192.0.2.1' } },
  body: z
    .object({
      ...identityFields,
      ...profileFields,
      /** Whether the user receives mail before a subscription ends; absent: unchanged. */
      reminder_mail: flag.optional(),
      login_ip: z.union([z.ipv4(), z.ipv6()], reason('field.ip')).optional(),
    })
    .refine(hasIdentity, reason('field.identity'))
    .meta({ if: hasAnIdentity, else: has('openid') }),
  response: userRecord.extend({ created: z.boolean() }),
})
/** Marks a user for deletion, or withdraws the mark. */
export const requestDeletion = endpoint({
  operationId: 'requestUserDeletion',
  tag: 'Server',
  method: 'PUT',
  path: '/server/user/{id}',
  summary: 'The user asks for deletion (status 2), or changes his mind within 15 days (status 1).',
  access: APP,
  example: { body: { status: '2' } },
  params,
  body: z.object({
    status: z.union([
      z.literal('1'),
      z.literal('2'),
      z.literal(1).transform(() => '1' as const),
      z.literal(2).transform(() => '2' as const),
    ]),
  }),
  response: userRecord,
})
/** Opens an order. */
export const openOrderOperation = endpoint({
  operationId: 'openOrder',
  tag: 'Server',
  method: 'POST',
  path: '/server/order',
  summary: 'Opens an order, so that the notice of its payment can be checked; one per user and plan.',
  access: APP,
  example: { body: { user_id: '1001', plan_id: '2001', payment_method: 'alipay', out_trade_no: 'order-4711' } },
  body: z
    .object({
      ...who,
      plan_id: id,
      payment_method: z.enum(['alipay', 'wechat', 'huawei']),
      out_trade_no: text(1, 64)
        .refine(value => ORDER.test(value), reason('field.order_number'))
        .meta({ pattern: ORDER.source }),
      auto_renew: flag.default('0'),
    })
    .refine(named, reason('field.user'))
    .meta(NAMED),
  response: z.object({
    out_trade_no: z.string(),
    amount: z.string(),
    status: z.string(),
    repeated: z.boolean(),
    subscription: subscriptionRecord,
  }),
})
/** Books a payment that the app has verified, or starts a trial. */
export const subscribeOperation = endpoint({
  operationId: 'subscribe',
  tag: 'Server',
  method: 'POST',
  path: '/server/subscription',
  summary: 'A payment was made: starts or prolongs the subscription. The same payment again gives the same answer.',
  access: APP,
  example: {
    body: {
      user_id: '1001',
      plan_id: '2001',
      payment_method: 'alipay',
      payment_id: '2026112022001400001',
      amount: 19.9,
    },
  },
  body: z
    .object({
      ...who,
      plan_id: id,
      payment_method: method,
      payment_id: text(1, 128).optional(),
      amount: money.optional(),
      paid_at: seconds.optional(),
      auto_renew: flag.optional(),
      client_ref: text(1, 64).optional(),
    })
    .refine(named, reason('field.user'))
    .refine(body => body.payment_id !== undefined || body.payment_method === 'trial', {
      path: ['payment_id'],
      message: reason('field.required'),
    })
    .meta(PAID),
  response: z.object({ subscription: subscriptionRecord, repeated: z.boolean() }),
})
/** Prolongs one subscription. */
export const renewOperation = endpoint({
  operationId: 'renewSubscription',
  tag: 'Server',
  method: 'POST',
  path: '/server/subscription/{id}/renew',
  summary: 'A payment was made for this subscription.',
  access: APP,
  example: { body: { payment_method: 'alipay', payment_id: '2026112022001400002', amount: 19.9 } },
  params,
  body: z.object({
    payment_method: method.optional(),
    payment_id: text(1, 128),
    amount: money.optional(),
    client_ref: text(1, 64).optional(),
  }),
  response: z.object({ subscription: subscriptionRecord, repeated: z.boolean() }),
})
/** Cancels one subscription. */
export const cancelOperation = endpoint({
  operationId: 'cancelSubscription',
  tag: 'Server',
  method: 'POST',
  path: '/server/subscription/{id}/cancel',
  summary: 'Cancels at the end of the period, or now.',
  access: APP,
  example: { body: { at: 'period_end' } },
  params,
  body: z.object({ at: z.enum(['now', 'period_end']).default('period_end') }),
  response: subscriptionRecord,
})
/** Books a refund. */
export const refundOperation = endpoint({
  operationId: 'refundSubscription',
  tag: 'Server',
  method: 'POST',
  path: '/server/subscription/{id}/refund',
  summary: 'Money was given back; in part, the access stays unless revoke=1.',
  access: APP,
  example: { body: { refund_id: 'refund-4711', amount: 5, revoke: '0' } },
  params,
  body: z.object({ refund_id: text(1, 128), amount: money.optional(), revoke: flag.default('0') }),
  response: z.object({ subscription: subscriptionRecord, repeated: z.boolean() }),
})
/** The access of a user now. */
export const entitlementOperation = endpoint({
  operationId: 'getEntitlement',
  tag: 'Server',
  method: 'GET',
  path: '/server/entitlement',
  summary: 'What a user may use right now; may be kept for 30 seconds.',
  access: APP,
  example: { query: { user_id: '1001' } },
  headers: z.object({ 'If-None-Match': z.string().optional().describe('ETag of an earlier answer.') }),
  notModified: true,
  responseHeaders: { ETag: { description: 'Tag of this answer.', schema: { type: 'string' }, required: true } },
  query: z.object(who).refine(named, reason('field.user')),
  response: entitlementRecord,
})
/** Restores purchases stored on a device. */
export const localSync = endpoint({
  operationId: 'syncPurchases',
  tag: 'Server',
  method: 'POST',
  path: '/server/local_sync',
  summary: 'Restores purchases kept on a device; never shortens a paid period.',
  access: APP,
  example: {
    body: {
      purchases: [{ user_id: '1001', plan_id: '2001', client_ref: 'device-1', start_date: 1_763_596_800, end_date: 0 }],
    },
  },
  body: z.object({
    purchases: z
      .array(
        z
          .object({
            ...who,
            plan_id: id,
            client_ref: text(1, 64),
            start_date: seconds,
            end_date: integer(0, 99_999_999_999),
          })
          .refine(named, reason('field.user'))
          .meta(NAMED),
      )
      .min(1)
      .max(200),
  }),
  bodyBytes: 1024 * 1024,
  response: z.object({
    results: z.array(z.object({ client_ref: z.string(), subscription_id: z.string(), repeated: z.boolean() })),
  }),
})
