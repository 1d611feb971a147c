/** Operations on subscriptions, including import, export and batches. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { MAX_ERRORS } from '../../../platform/json/bounded-validation.ts'
import { ROW_LIMITS } from '../../../platform/tables/rules/csv.ts'
import { EDIT, VIEW } from '../../http/shared/access.ts'
import { appKey, CSV, params, version } from '../../http/shared/contract-fields.ts'
import { choice, flag, id, integer, money, text } from '../../rules/field-schemas.ts'
import { cursorQuery, dateQuery, pageQuery } from '../../rules/paging.ts'
import { subscriptionList, subscriptionRecord } from './subscription-schemas.ts'

/** Filters of the list of subscriptions. */
export const subscriptionFilters = {
  /** As long as the longest identity of a user. */
  search: text(0, 128).optional(),
  status: choice(['0', '1', '2', '3', '4']).optional(),
  plan_id: id.optional(),
  user_id: id.optional(),
  payment_method: text(0, 32).optional(),
  auto_renew: flag.optional(),
  expiring: flag.optional(),
  ...dateQuery,
}
/** Lists subscriptions. */
export const listSubscriptionsOperation = endpoint({
  operationId: 'listSubscriptions',
  tag: 'Subscriptions',
  method: 'GET',
  path: '/subscription',
  summary: 'Subscriptions of an app, newest first.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  query: z.object({ app_key: appKey, ...subscriptionFilters, ...pageQuery, ...cursorQuery }),
  response: subscriptionList,
})
/** Exports subscriptions. */
export const exportSubscriptions = endpoint({
  operationId: 'exportSubscriptions',
  tag: 'Subscriptions',
  method: 'GET',
  path: '/subscription/export',
  summary: 'The same subscriptions as CSV.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  query: z.object({ app_key: appKey, ...subscriptionFilters }),
  responseContent: CSV,
})
const imported = z.object({
  total: z.number().int(),
  imported: z.number().int(),
  /** Rows whose client_ref was granted before with the same values. */
  repeated: z.number().int(),
  /** Empty rows. */
  skipped: z.number().int(),
  dry_run: z.boolean(),
  encoding: z.enum(['utf-8', 'utf-16le', 'utf-16be', 'gb18030', '']),
  separator: z.string(),
  errors: z
    .array(
      z.object({
        row: z.number().int(),
        /** Column of the cell, from 1, for errors of the file itself. */
        column: z.number().int().optional(),
        field: z.string(),
        rule: z.string(),
        code: z.string(),
        params: z.string().optional(),
        message: z.string(),
      }),
    )
    .max(MAX_ERRORS),
})
/** Imports subscriptions. */
export const importSubscriptionsOperation = endpoint({
  operationId: 'importSubscriptions',
  tag: 'Subscriptions',
  method: 'POST',
  path: '/subscription/import',
  summary: `Grants periods from a table (columns user_id, plan_id, days, client_ref) in UTF-8, UTF-16 or GB18030, separated by comma, semicolon or tab: as the body (text/csv) or as the file of a form. A row has at most ${ROW_LIMITS.cells} cells and ${ROW_LIMITS.chars} characters, and no more filled cells than the heading. All rows or none: with errors it is 422 with the same data. With dry_run=1 it only checks.`,
  access: EDIT,
  example: {
    query: { app_key: 'demo' },
    content: { type: 'text/csv', text: 'user_id,plan_id,days,client_ref\n1001,2001,30,import-1\n' },
  },
  query: z.object({ app_key: appKey, dry_run: flag.default('0') }),
  requestContent: CSV,
  response: imported,
  alternative: {
    status: 422,
    description: 'Rows are wrong and nothing was stored, or the request itself is not valid.',
    response: z.union([
      imported,
      z.object({
        errors: z
          .array(
            z.object({
              ...{ field: z.string(), rule: z.string() },
              ...{ code: z.string(), params: z.string().optional(), message: z.string() },
            }),
          )
          .optional(),
      }),
    ]),
  },
})
/** One subscription. */
export const getSubscription = endpoint({
  operationId: 'getSubscription',
  tag: 'Subscriptions',
  method: 'GET',
  path: '/subscription/{id}',
  summary: 'One subscription.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey }),
  response: subscriptionRecord,
})
/** Grants a subscription. */
export const grantSubscription = endpoint({
  operationId: 'grantSubscription',
  tag: 'Subscriptions',
  method: 'POST',
  path: '/subscription',
  summary: 'Grants a period of a plan by hand (payment_method manual).',
  access: EDIT,
  example: {
    query: { app_key: 'demo' },
    body: { user_id: '1001', plan_id: '2001', days: 30, client_ref: 'support-4711' },
  },
  query: z.object({ app_key: appKey }),
  body: z.object({
    user_id: id,
    plan_id: id,
    days: integer(0, 36_500).optional(),
    client_ref: text(1, 64).optional(),
  }),
  response: subscriptionRecord,
})
const action = {
  action: z.enum(['extend', 'cancel', 'refund', 'set_auto_renew']),
  days: integer(1, 36_500).optional(),
  at: z.enum(['now', 'period_end']).default('period_end'),
  auto_renew: flag.optional(),
  amount: money.optional(),
  reason: text(0, 200).optional(),
}
/** Required fields of some actions as JSON Schema: conditions do not affect generated types. */
const needs = {
  if: {
    anyOf: [
      { properties: { action: { enum: ['cancel', 'refund'] } } },
      { properties: { action: { const: 'extend' }, days: {} }, required: ['days'] },
      { properties: { action: { const: 'set_auto_renew' }, auto_renew: {} }, required: ['auto_renew'] },
    ],
  },
  else: { properties: { days: {}, auto_renew: {} }, required: ['days', 'auto_renew'] },
}
/** Fields of an action on a subscription, parsed. */
export const subscriptionAction = z.object({ ...action, version }).meta(needs)
/** Runs one action on a subscription. */
export const actOnSubscription = endpoint({
  operationId: 'actOnSubscription',
  tag: 'Subscriptions',
  method: 'PUT',
  path: '/subscription/{id}',
  summary: 'Extends, cancels or refunds a subscription, or sets its automatic renewal.',
  access: EDIT,
  example: { query: { app_key: 'demo' }, body: { action: 'extend', days: 7, reason: 'Outage of last week' } },
  params,
  query: z.object({ app_key: appKey }),
  body: subscriptionAction,
  response: subscriptionRecord,
})
/** Runs one action on up to 500 subscriptions. */
export const actOnSubscriptions = endpoint({
  operationId: 'actOnSubscriptions',
  tag: 'Subscriptions',
  method: 'POST',
  path: '/subscription/batch',
  summary: 'The same for up to 500 subscriptions, with one result each.',
  access: EDIT,
  example: {
    query: { app_key: 'demo' },
    body: { ids: ['3001'], action: 'extend', days: 7, reason: 'Outage of last week' },
  },
  query: z.object({ app_key: appKey }),
  body: z.object({ ids: z.array(id).min(1).max(500), ...action }).meta(needs),
  response: z.object({ results: z.array(z.object({ id: z.string(), code: z.number().int(), message: z.string() })) }),
})
