/** Payments and access of one end user. */
import type Router from '@koa/router'
import { planNames } from '../../catalogue/store/plans-and-flags.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { requireUser } from '../../people/manage-end-users.ts'
import { formatCents } from '../../rules/field-schemas.ts'
import { pagination } from '../../rules/paging.ts'
import type { Zone } from '../../rules/time-zone.ts'
import type { PaymentDoc } from '../../store/documents.ts'
import { entitlementOf } from '../entitlement.ts'
import { listPaymentsOfUser } from '../store/payments.ts'
import { getUserEntitlement, listUserPayments } from './user-access-contract.ts'

/** Mounts `GET /user/{id}/payment` and `GET /user/{id}/entitlement`. */
export function mountUserAccess(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindAdmin(router, deps, listUserPayments, async ({ params, query }, { appKey }) => {
    const user = await requireUser(subscriptions, appKey, { user_id: params.id })
    const page = requestedPage(query)
    const found = await listPaymentsOfUser(subscriptions.collections, { appKey, userId: user._id, page })
    const plans = await planNames(subscriptions.collections, [...new Set(found.items.map(({ plan_id }) => plan_id))])
    return {
      payments: found.items.map(payment => view(payment, plans, subscriptions.zone)),
      pagination: pagination(page, found),
    }
  })
  bindAdmin(router, deps, getUserEntitlement, ({ params }, { appKey }) =>
    entitlementOf(subscriptions, appKey, { user_id: params.id }),
  )
}

/** Plans are never removed, so a missing name is one of a purged app. */
function view(payment: PaymentDoc, plans: Map<number, string>, zone: Zone) {
  return {
    id: String(payment._id),
    kind: payment.kind,
    subscription_id: String(payment.subscription_id),
    plan_id: String(payment.plan_id),
    plan_name: plans.get(payment.plan_id) ?? '',
    payment_method: payment.method,
    payment_id: payment.payment_id,
    // Refunds are stored as negative amounts.
    amount: formatCents(Math.abs(payment.amount_cents)),
    refunded_amount: formatCents(payment.refunded_cents),
    new_period: payment.new_period,
    paid_at: zone.format(payment.paid_at),
    created_at: zone.format(payment.created_at),
  }
}
