/** The operations of administrators: the reference's 24 and those beside them, with their schemas. */
import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { MAX_ERRORS } from '../../platform/json/bounded-validation.ts'
import { planFields } from '../catalogue/rules/plan.ts'
import { ROW_LIMITS } from '../rules/csv.ts'
import { choice, flag, id, integer, money, pathId, text } from '../rules/field-schemas.ts'
import { cursorQuery, dateQuery, pageQuery } from '../rules/paging.ts'
import { type Access, EDIT, SUPER, VIEW, VIEW_ANY, VIEW_APPS } from './shared/access.ts'
import * as wire from './shared/record-schemas.ts'

/** One import for clients: the operations on switches have a file of their own only for its length. */
export * from '../flags/http/flags-contract.ts'

const CSV = { 'text/csv': { type: 'string' } }
const OPEN: Access = { kind: 'open' }
const search = text(0, 64).optional()
const version = integer(1, Number.MAX_SAFE_INTEGER).optional()
/** Selects the app. */
const appKey = z.string().min(1)
const params = z.object({ id: pathId })

/** Logs in. */
export const logInOperation = endpoint({
  operationId: 'logIn',
  tag: 'Session',
  method: 'POST',
  path: '/token',
  summary: 'Logs in and gives the token for the header `token`.',
  access: OPEN,
  body: z.object({ username: text(1, 64), password: z.string().min(1).max(128) }),
  bodyBytes: 4_096,
  response: z.object({ admin: wire.admin, token: z.string(), expires_at: z.string() }),
})
/** Who is logged in. */
export const loginStatus = endpoint({
  operationId: 'getLoginStatus',
  tag: 'Session',
  method: 'GET',
  path: '/token',
  summary: 'The administrator of the presented token.',
  access: VIEW_ANY,
  response: z.object({ admin: wire.admin, token: z.string() }),
})
/** Logs out. */
export const logOutOperation = endpoint({
  operationId: 'logOut',
  tag: 'Session',
  method: 'DELETE',
  path: '/token',
  summary: 'Ends the session; with all=1 every session of the administrator.',
  access: VIEW_ANY,
  query: z.object({ all: flag.optional() }),
  response: wire.nothing,
})

const userQuery = {
  search,
  status: choice(['0', '1', '2']).optional(),
  platform: text(0, 32).optional(),
  ...dateQuery,
}
/** Lists users. */
export const listUsersOperation = endpoint({
  operationId: 'listUsers',
  tag: 'Users',
  method: 'GET',
  path: '/user',
  summary: 'Users of an app, newest first; search finds nicknames, phones and emails by their beginning.',
  access: VIEW,
  query: z.object({ app_key: appKey, ...userQuery, ...pageQuery, ...cursorQuery }),
  response: wire.userList,
})
/** Exports users. */
export const exportUsers = endpoint({
  operationId: 'exportUsers',
  tag: 'Users',
  method: 'GET',
  path: '/user/export',
  summary: 'The same users as CSV.',
  access: VIEW,
  query: z.object({ app_key: appKey, ...userQuery }),
  responseContent: CSV,
})
/** One user. */
export const getUserOperation = endpoint({
  operationId: 'getUser',
  tag: 'Users',
  method: 'GET',
  path: '/user/{id}',
  summary: 'One user, in the shape of the list.',
  access: VIEW,
  params,
  query: z.object({ app_key: appKey }),
  response: wire.userList,
})
/** Changes a user. */
export const updateUserOperation = endpoint({
  operationId: 'updateUser',
  tag: 'Users',
  method: 'PUT',
  path: '/user/{id}',
  summary: 'Disables a user (0), allows it again (1) or marks it for deletion (2).',
  access: EDIT,
  params,
  query: z.object({ app_key: appKey }),
  body: z.object({ status: choice(['0', '1', '2']) }),
  response: wire.user,
})
/** Erases a user. */
export const eraseUserOperation = endpoint({
  operationId: 'eraseUser',
  tag: 'Users',
  method: 'DELETE',
  path: '/user/{id}',
  summary: 'Erases what names the person; payments stay.',
  access: EDIT,
  params,
  query: z.object({ app_key: appKey }),
  response: wire.nothing,
})
/** Figures of users. */
export const userStatisticsOperation = endpoint({
  operationId: 'getUserStatistics',
  tag: 'Statistics',
  method: 'GET',
  path: '/user_stats',
  summary: 'Figures of users of one app or of all in scope.',
  access: VIEW_APPS,
  query: z.object({
    app_key: appKey.optional(),
    type: z.enum(['overview', 'trend', 'platform']).default('overview'),
    days: integer(1, 90).default(30),
  }),
  response: wire.statistics,
})

/** Lists plans. */
export const listPlansOperation = endpoint({
  operationId: 'listPlans',
  tag: 'Plans',
  method: 'GET',
  path: '/subscription_plan',
  summary: 'Plans of an app by sort_order.',
  access: VIEW,
  query: z.object({ app_key: appKey, search, status: flag.optional(), ...pageQuery }),
  response: wire.planList,
})
/** One plan. */
export const getPlan = endpoint({
  operationId: 'getPlan',
  tag: 'Plans',
  method: 'GET',
  path: '/subscription_plan/{id}',
  summary: 'One plan.',
  access: VIEW,
  params,
  query: z.object({ app_key: appKey }),
  response: wire.plan,
})
const newPlan = z
  .object({
    ...planFields,
    name: text(1, 64),
    price: planFields.price.unwrap(),
    duration: planFields.duration.unwrap(),
    features: planFields.features.unwrap(),
  })
  .refine(plan => plan.original_price === undefined || plan.original_price >= plan.price, {
    path: ['original_price'],
    message: 'original_price',
  })
/** Creates a plan. */
export const createPlanOperation = endpoint({
  operationId: 'createPlan',
  tag: 'Plans',
  method: 'POST',
  path: '/subscription_plan',
  summary: 'Creates a plan; its address stands in the header Location, the record with Prefer: return=representation.',
  access: EDIT,
  query: z.object({ app_key: appKey }),
  headers: z.object({
    Prefer: z.string().optional().describe('`return=representation`: the answer has the plan.'),
  }),
  body: newPlan,
  responseHeaders: { Location: { description: 'Address of the plan.', schema: { type: 'string' }, required: true } },
  response: z.union([wire.plan, wire.nothing]),
})
/** Changes a plan. */
export const updatePlanOperation = endpoint({
  operationId: 'updatePlan',
  tag: 'Plans',
  method: 'PUT',
  path: '/subscription_plan/{id}',
  summary: 'Changes a plan; holders keep what they bought.',
  access: EDIT,
  params,
  query: z.object({ app_key: appKey }),
  body: z.object({ ...planFields, version }),
  response: wire.plan,
})
/** Former states of a plan. */
export const planHistory = endpoint({
  operationId: 'listPlanRevisions',
  tag: 'Plans',
  method: 'GET',
  path: '/subscription_plan/{id}/history',
  summary: 'Former states of a plan, newest first.',
  access: VIEW,
  params,
  query: z.object({ app_key: appKey }),
  response: wire.revisions,
})
const revision = z.object({ revision: integer(1, Number.MAX_SAFE_INTEGER) })
/** Restores a plan. */
export const restorePlanOperation = endpoint({
  operationId: 'restorePlan',
  tag: 'Plans',
  method: 'POST',
  path: '/subscription_plan/{id}/restore',
  summary: 'Puts a plan back into a former state.',
  access: EDIT,
  params,
  query: z.object({ app_key: appKey }),
  body: revision,
  response: wire.plan,
})

/** What subscriptions are filtered by. */
export const subscriptionFilters = {
  search,
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
  query: z.object({ app_key: appKey, ...subscriptionFilters, ...pageQuery, ...cursorQuery }),
  response: wire.subscriptionList,
})
/** Exports subscriptions. */
export const exportSubscriptions = endpoint({
  operationId: 'exportSubscriptions',
  tag: 'Subscriptions',
  method: 'GET',
  path: '/subscription/export',
  summary: 'The same subscriptions as CSV.',
  access: VIEW,
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
        /** Of the cell, from 1, where the fault is one of the file. */
        column: z.number().int().optional(),
        field: z.string(),
        rule: z.string(),
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
  summary: `Grants periods from a table (columns user_id, plan_id, days, client_ref) in UTF-8, UTF-16 or GB18030, separated by comma, semicolon or tab: as the body (text/csv) or as the file of a form. A row has at most ${ROW_LIMITS.cells} cells and ${ROW_LIMITS.chars} characters, and no more filled cells than the heading. All rows or none: with faults it is 422 with the same data. With dry_run=1 it only checks.`,
  access: EDIT,
  query: z.object({ app_key: appKey, dry_run: flag.default('0') }),
  requestContent: CSV,
  response: imported,
  alternative: {
    status: 422,
    description: 'Rows are wrong and nothing was stored, or the request itself is not valid.',
    response: z.union([
      imported,
      z.object({
        errors: z.array(z.object({ field: z.string(), rule: z.string(), message: z.string() })).optional(),
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
  params,
  query: z.object({ app_key: appKey }),
  response: wire.subscription,
})
/** Grants a subscription. */
export const grantSubscription = endpoint({
  operationId: 'grantSubscription',
  tag: 'Subscriptions',
  method: 'POST',
  path: '/subscription',
  summary: 'Grants a period of a plan by hand (payment_method manual).',
  access: EDIT,
  query: z.object({ app_key: appKey }),
  body: z.object({
    user_id: id,
    plan_id: id,
    days: integer(0, 36_500).optional(),
    client_ref: text(1, 64).optional(),
  }),
  response: wire.subscription,
})
const action = {
  action: z.enum(['extend', 'cancel', 'refund', 'set_auto_renew']),
  days: integer(1, 36_500).optional(),
  at: z.enum(['now', 'period_end']).default('period_end'),
  auto_renew: flag.optional(),
  amount: money.optional(),
  reason: text(0, 200).optional(),
}
/** What some actions need, as JSON Schema: conditions do not disturb generated types. */
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
/** Acts on a subscription. */
export const actOnSubscription = endpoint({
  operationId: 'actOnSubscription',
  tag: 'Subscriptions',
  method: 'PUT',
  path: '/subscription/{id}',
  summary: 'Extends, cancels or refunds a subscription, or sets its automatic renewal.',
  access: EDIT,
  params,
  query: z.object({ app_key: appKey }),
  body: subscriptionAction,
  response: wire.subscription,
})
/** Acts on many subscriptions. */
export const actOnSubscriptions = endpoint({
  operationId: 'actOnSubscriptions',
  tag: 'Subscriptions',
  method: 'POST',
  path: '/subscription/batch',
  summary: 'The same for up to 500 subscriptions, with one result each.',
  access: EDIT,
  query: z.object({ app_key: appKey }),
  body: z.object({ ids: z.array(id).min(1).max(500), ...action }).meta(needs),
  response: z.object({ results: z.array(z.object({ id: z.string(), code: z.number().int(), message: z.string() })) }),
})
/** The overview. */
export const overviewOperation = endpoint({
  operationId: 'getOverview',
  tag: 'Statistics',
  method: 'GET',
  path: '/overview',
  summary: 'Figures of one app or of all in scope.',
  access: VIEW_APPS,
  query: z.object({ app_key: appKey.optional(), days: integer(1, 90).default(30) }),
  response: wire.overview,
})

/** Reads the audit log. */
export const auditLog = endpoint({
  operationId: 'listAuditLogs',
  tag: 'Audit log',
  method: 'GET',
  path: '/audit_log',
  summary: 'Who did what, newest first.',
  access: VIEW_APPS,
  query: z.object({
    app_key: appKey.optional(),
    target_kind: text(0, 32).optional(),
    target_id: text(0, 64).optional(),
    action: text(0, 64).optional(),
    actor: text(0, 64).optional(),
    ...pageQuery,
    ...cursorQuery,
  }),
  response: z.object({ audit_logs: z.array(wire.auditEntry), pagination: wire.pagination }),
})

/** Lists the resources that own records. */
export const listResourcesOperation = endpoint({
  operationId: 'listResources',
  tag: 'Resources',
  method: 'GET',
  path: '/resource',
  summary: 'The Kubernetes resources that own apps, plans and switches in scope, with their conditions.',
  access: VIEW_APPS,
  query: z.object({ app_key: appKey.optional() }),
  response: z.object({
    resources: z.array(wire.managedResource),
    has_more: z
      .boolean()
      .describe('True when more than 1,000 apps, plans or switches have a resource; kubectl lists all.'),
  }),
})

const rights = {
  role: z.enum(['super', 'operator', 'viewer']),
  app_keys: z.array(z.string().trim().max(32)).max(500),
  name: text(0, 64),
  email: z.union([z.literal(''), z.email().max(254)]),
}
/** Lists administrators. */
export const listAdminsOperation = endpoint({
  operationId: 'listAdmins',
  tag: 'Administrators',
  method: 'GET',
  path: '/admin',
  summary: 'Administrators, oldest first.',
  access: SUPER,
  query: z.object({ ...pageQuery }),
  response: z.object({ admins: z.array(wire.admin), pagination: wire.pagination }),
})
/** Makes an administrator. */
export const createAdminOperation = endpoint({
  operationId: 'createAdmin',
  tag: 'Administrators',
  method: 'POST',
  path: '/admin',
  summary: 'Makes somebody an administrator; creates the account when there is none of that name.',
  access: SUPER,
  body: z.object({
    username: text(1, 64),
    password: z.string().min(12).max(128),
    role: rights.role,
    app_keys: rights.app_keys.default([]),
    name: rights.name.default(''),
    email: rights.email.default(''),
  }),
  response: wire.admin,
})
/** Changes the own password. */
export const changePasswordOperation = endpoint({
  operationId: 'changePassword',
  tag: 'Session',
  method: 'PUT',
  path: '/admin/password',
  summary: 'Changes the own password and ends all sessions.',
  access: VIEW_ANY,
  body: z.object({ current: z.string().min(1).max(128), password: z.string().min(12).max(128) }),
  bodyBytes: 4_096,
  response: wire.nothing,
})
/** Changes an administrator. */
export const updateAdminOperation = endpoint({
  operationId: 'updateAdmin',
  tag: 'Administrators',
  method: 'PUT',
  path: '/admin/{id}',
  summary: 'Changes rights and particulars of an administrator, or disables it.',
  access: SUPER,
  params,
  body: z.object({
    role: rights.role.optional(),
    app_keys: rights.app_keys.optional(),
    name: rights.name.optional(),
    email: rights.email.optional(),
    status: flag.optional(),
  }),
  response: wire.admin,
})
