/** Operations on the plans of an app. */

import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { EDIT, VIEW } from '../../http/shared/access.ts'
import { appKey, params, revision, search, version } from '../../http/shared/contract-fields.ts'
import { empty, revisions } from '../../http/shared/wire-values.ts'
import { flag, text } from '../../rules/field-schemas.ts'
import { pageQuery } from '../../rules/paging.ts'
import { planFields } from '../rules/plan.ts'
import { planList, planRecord } from './plan-schemas.ts'

/** Lists plans. */
export const listPlansOperation = endpoint({
  operationId: 'listPlans',
  tag: 'Plans',
  method: 'GET',
  path: '/subscription_plan',
  summary: 'Plans of an app by sort_order.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  query: z.object({ app_key: appKey, search, status: flag.optional(), ...pageQuery }),
  response: planList,
})
/** One plan. */
export const getPlan = endpoint({
  operationId: 'getPlan',
  tag: 'Plans',
  method: 'GET',
  path: '/subscription_plan/{id}',
  summary: 'One plan.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey }),
  response: planRecord,
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
    message: reason('field.original_price'),
  })
/** Creates a plan. */
export const createPlanOperation = endpoint({
  operationId: 'createPlan',
  tag: 'Plans',
  method: 'POST',
  path: '/subscription_plan',
  summary:
    'Creates a plan; the header Location has its address; the body has the record with Prefer: return=representation.',
  access: EDIT,
  example: {
    query: { app_key: 'demo' },
    body: { name: 'Pro, monthly', price: 19.9, duration: 30, features: '{"features":["export"]}', trial_days: 7 },
  },
  query: z.object({ app_key: appKey }),
  headers: z.object({
    Prefer: z.string().optional().describe('`return=representation`: the answer has the plan.'),
  }),
  body: newPlan,
  responseHeaders: { Location: { description: 'Address of the plan.', schema: { type: 'string' }, required: true } },
  response: z.union([planRecord, empty]),
})
/** Changes a plan. */
export const updatePlanOperation = endpoint({
  operationId: 'updatePlan',
  tag: 'Plans',
  method: 'PUT',
  path: '/subscription_plan/{id}',
  summary: 'Changes a plan; holders keep what they bought.',
  access: EDIT,
  example: { query: { app_key: 'demo' }, body: { price: 24.9, description: 'All functions' } },
  params,
  query: z.object({ app_key: appKey }),
  body: z.object({ ...planFields, version }),
  response: planRecord,
})
/** Former states of a plan, newest first. */
export const planHistory = endpoint({
  operationId: 'listPlanRevisions',
  tag: 'Plans',
  method: 'GET',
  path: '/subscription_plan/{id}/history',
  summary: 'Former states of a plan, newest first.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  params,
  query: z.object({ app_key: appKey }),
  response: revisions,
})
/** Restores a plan. */
export const restorePlanOperation = endpoint({
  operationId: 'restorePlan',
  tag: 'Plans',
  method: 'POST',
  path: '/subscription_plan/{id}/restore',
  summary: 'Puts a plan back into a former state.',
  access: EDIT,
  example: { query: { app_key: 'demo' }, body: { revision: 1 } },
  params,
  query: z.object({ app_key: appKey }),
  body: revision,
  response: planRecord,
})
