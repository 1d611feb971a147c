/** Applies a notice of Huawei: it is only a trigger; the state is queried from Huawei. */

import { findPlan } from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { changePeriod } from '../lifecycle/change-subscription.ts'
import { refundSubscription } from '../lifecycle/refund.ts'
import { findPayment } from '../lifecycle/store/payments.ts'
import { findByChannelRef } from '../lifecycle/store/subscriptions.ts'
import { cancel, endNow, STATUS, type Step, setAutoRenew, setEnd } from '../rules/subscription-lifecycle.ts'
import type { OrderDoc, PaymentEventDoc, SubscriptionDoc } from '../store/documents.ts'
import type { PlanDoc } from '../store/models.ts'
import { loadChannel } from './channel-settings.ts'
import { confirmHuawei, type HuaweiSettings, type HuaweiStatus, queryHuawei } from './channels/huawei.ts'
import type { Notice } from './channels/notice.ts'
import { bookPayment } from './orders.ts'
import { NotYet } from './retry-later.ts'
import { findOrder } from './store/orders.ts'

type Applied = { state: 'applied' | 'ignored' | 'rejected'; reason: string }
type Changed = Extract<Notice, { kind: 'changed' }>

/** Status of {@link HuaweiStatus}. */
const ACTIVE = '1'

const applied: Applied = { state: 'applied', reason: '' }

/** Applies a notice. Throws {@link NotYet} when its record does not exist yet, and the errors of the query. */
export async function applyHuawei(
  context: Subscriptions,
  actor: Actor,
  { app_key: appKey, attempts }: PaymentEventDoc,
  notice: Changed,
): Promise<Applied> {
  const settings = await loadChannel(context, appKey, 'huawei')
  if (!settings) return { state: 'rejected', reason: 'the channel is not set up' }
  const status = await queryHuawei(context.post, settings, notice, context.clock.now())
  if (notice.type === 'DID_NEW_TRANSACTION')
    return bought(context, actor, { appKey, settings, interrupted: attempts > 1 }, status)
  const subscription = await findByChannelRef(context.collections, appKey, status.purchaseToken)
  if (!subscription) throw new NotYet('the purchase has not been noticed yet')
  if (notice.type === 'REVOKE' && notice.subtype === 'REFUND_TRANSACTION')
    return refunded(context, actor, subscription, notice.purchaseOrderId)
  const decide = STEPS[notice.type]
  if (!decide) return { state: 'ignored', reason: notice.type }
  // A late notice of an expiry after a renewal.
  if (notice.type === 'EXPIRE' && status.status === ACTIVE && status.expiresTime > context.clock.now().getTime())
    return { state: 'ignored', reason: 'active at Huawei' }
  const target = { appKey, id: subscription._id }
  await changePeriod(context, actor, target, `subscription.${notice.type.toLowerCase()}`, (period, plan, now) =>
    decide({ period, plan, now, status }),
  )
  return applied
}

interface Situation {
  period: SubscriptionDoc
  plan: SubscriptionDoc['plan']
  now: number
  status: HuaweiStatus
}

const STEPS: Readonly<Record<string, (situation: Situation) => Step>> = {
  DID_CHANGE_RENEWAL_STATUS: ({ period, status }) =>
    setAutoRenew(period, status.renewalInfo.autoRenewStatusCode === '1'),
  REVOKE: ({ period, now }) => cancel(period, 'now', now),
  EXPIRE: ({ period, now }) => endNow(period, now),
  RENEWAL_TIME_MODIFIED: ({ period, plan, now, status }) =>
    setEnd(period, plan, Math.floor(status.expiresTime / 1000), now),
}

/** A purchase or renewal: books it, stores Huawei's end, confirms the delivery. */
async function bought(
  context: Subscriptions,
  actor: Actor,
  { appKey, settings, interrupted }: { appKey: string; settings: HuaweiSettings; interrupted: boolean },
  status: HuaweiStatus,
): Promise<Applied> {
  const { lastPurchaseOrder: bill, purchaseToken } = status
  const { order, plan, userId } = await partiesOf(context, appKey, status)
  if (order && order.amount_cents !== bill.price) return { state: 'rejected', reason: 'amount_mismatch' }
  const { subscription, repeated } = await bookPayment(context, actor, {
    appKey,
    userId,
    plan,
    method: 'huawei',
    paymentId: bill.purchaseOrderId,
    amountCents: bill.price,
    paidAt: new Date(bill.purchaseTime),
    autoRenew: status.renewalInfo.autoRenewStatusCode === '1',
    channelRef: purchaseToken,
    order,
  })
  const end = Math.floor(status.expiresTime / 1000)
  // An earlier attempt may have booked it and stopped before the next step; a repeated notice changes nothing.
  const mayLack = !repeated || (interrupted && subscription.status === STATUS.active)
  if (mayLack && subscription.end !== 0 && subscription.end !== end)
    await changePeriod(context, actor, { appKey, id: subscription._id }, 'subscription.set_end', (period, sold, now) =>
      setEnd(period, sold, end, now),
    )
  await confirmHuawei(context.post, settings, bill, context.clock.now())
  return repeated ? { state: 'ignored', reason: 'paid before' } : applied
}

/** The order that the app named in developerPayload, or the record of the token. */
async function partiesOf(
  context: Subscriptions,
  appKey: string,
  { lastPurchaseOrder, purchaseToken }: HuaweiStatus,
): Promise<{ order?: OrderDoc; plan: PlanDoc; userId: number }> {
  const known = await findByChannelRef(context.collections, appKey, purchaseToken)
  const order = known ? undefined : await findOrder(context.collections, appKey, lastPurchaseOrder.developerPayload)
  const ordered = known ?? order
  const plan = ordered && (await findPlan(context.collections, appKey, ordered.plan_id))
  if (!ordered || !plan) throw new NotYet('no order has this developerPayload')
  return { ...(order ? { order } : {}), plan, userId: ordered.user_id }
}

async function refunded(
  context: Subscriptions,
  actor: Actor,
  subscription: SubscriptionDoc,
  purchaseOrderId: string,
): Promise<Applied> {
  const { app_key: appKey, _id } = subscription
  const payment = await findPayment(context.collections, { payment_key: `${appKey}/huawei/${purchaseOrderId}` })
  if (!payment) throw new NotYet('the payment has not been noticed yet')
  const request = { appKey, subscriptionId: _id, refundId: purchaseOrderId, payment, byChannel: true as const }
  const { repeated } = await refundSubscription(context, actor, request)
  return repeated ? { state: 'ignored', reason: 'booked before' } : applied
}
