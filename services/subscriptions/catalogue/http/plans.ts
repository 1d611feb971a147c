/** Plans. */
import type Router from '@koa/router'
import { ProblemError } from '../../../platform/problems.ts'
import { countersOf } from '../../counters/running-counters.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { fieldError } from '../../rules/field-errors.ts'
import { pagination } from '../../rules/paging.ts'
import type { PlanDoc } from '../../store/models.ts'
import { createPlan, planKey, restorePlan, updatePlan } from '../manage-plans.ts'
import { mergePlan, viewPlan } from '../rules/plan.ts'
import { findPlan, listPlans, listRevisions } from '../store/plans-and-flags.ts'
import {
  createPlanOperation,
  getPlan,
  listPlansOperation,
  planHistory,
  restorePlanOperation,
  updatePlanOperation,
} from './plans-contract.ts'
import { viewRevisions } from './revisions.ts'

/** Mounts the operations on plans. */
export function mountPlans(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const views = async (appKey: string, plans: readonly PlanDoc[]) => {
    const { by_plan } = await countersOf(subscriptions, [appKey])
    return plans.map(plan => viewPlan(plan, by_plan[String(plan._id)] ?? 0, subscriptions.zone))
  }
  const view = async (plan: PlanDoc) => {
    const { by_plan } = await countersOf(subscriptions, [plan.app_key])
    return viewPlan(plan, by_plan[String(plan._id)] ?? 0, subscriptions.zone)
  }
  bindAdmin(router, deps, listPlansOperation, async ({ query }, { appKey }) => {
    const page = requestedPage(query)
    const found = await listPlans(subscriptions.collections, appKey, query, page)
    return {
      plans: await views(appKey, found.items),
      pagination: pagination(page, found),
      filters: { search: query.search ?? '', status: query.status ?? '' },
    }
  })
  bindAdmin(router, deps, getPlan, async ({ params }, { appKey }) => {
    const plan = await findPlan(subscriptions.collections, appKey, params.id)
    if (!plan) throw new ProblemError('plan_not_found')
    return view(plan)
  })
  bindAdmin(router, deps, createPlanOperation, async ({ body }, { appKey, actor, context }) => {
    const plan = await createPlan(subscriptions, actor, appKey, mergePlan(undefined, body))
    context.set('Location', `/subscription_plan/${plan._id}`)
    return /\breturn=representation\b/.test(context.get('prefer')) ? view(plan) : {}
  })
  bindAdmin(router, deps, updatePlanOperation, async ({ params, body }, { appKey, actor }) => {
    const { version, ...fields } = body
    const target = { appKey, id: params.id }
    const before = await findPlan(subscriptions.collections, appKey, params.id)
    if (before) {
      const merged = mergePlan(before, fields)
      if (fields.original_price !== undefined && merged.original_price_cents < merged.price_cents)
        throw new ProblemError('validation_failed', undefined, {
          errors: [fieldError('original_price', 'original_price')],
        })
    }
    return view(await updatePlan(subscriptions, actor, target, { fields, version }))
  })
  bindAdmin(router, deps, planHistory, async ({ params }, { appKey }) => {
    const revisions = await listRevisions(subscriptions.collections, appKey, 'plan', planKey(params.id))
    if (revisions.length === 0 && !(await findPlan(subscriptions.collections, appKey, params.id)))
      throw new ProblemError('plan_not_found')
    return viewRevisions(revisions, subscriptions.zone)
  })
  bindAdmin(router, deps, restorePlanOperation, async ({ params, body }, { appKey, actor }) =>
    view(await restorePlan(subscriptions, actor, { appKey, id: params.id }, body.revision)),
  )
}
