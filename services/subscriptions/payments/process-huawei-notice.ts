/** Applies a notice of Huawei: it is only the trigger; what happened is asked of Huawei itself. */

import { findPlan } from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { changePeriod } from '../lifecycle/change-subscription.ts'
import { subscribe } from '../lifecycle/start-or-renew.ts'
import { findByChannelRef } from '../lifecycle/store/subscriptions.ts'
import { cancel, endNow, STATUS, type Step, setAutoRenew, setEnd } from '../rules/period.ts'
import type { OrderDoc, PaymentEventDoc, PlanDoc, SubscriptionDoc } from '../store/documents.ts'
import { loadChannel } from './channel-settings.ts'
import { confirmHuawei, type HuaweiSettings, type HuaweiStatus, queryHuawei } from './channels/huawei.ts'
import type { Notice } from './channels/notice.ts'
import { refundSubscription } from './refund.ts'
import { NotYet } from './retry-later.ts'
import { findOrder, findPayment } from './store/payments-and-orders.ts'

type Applied = { state: 'applied' | 'ignored' | 'rejected'; reason: string }
type Changed = Extract<Notice, { kind: 'changed' }>

/** Of {@link HuaweiStatus}. */
const ACTIVE = '1'

const applied: Applied = { state: 'applied', reason: '' }

/** Applies it. Throws {@link NotYet} when the record it is about is not there yet, and what Huawei's answer throws. */
export async function applyHuawei(
  s: Subscriptions,
  actor: Actor,
  { app_key: appKey, attempts }: PaymentEventDoc,
  notice: Changed,
): Promise<Applied> {
  const settings = await loadChannel(s, appKey, 'huawei')
  if (!settings) return { state: 'rejected', reason: 'the channel is not set up' }
  const status = await queryHuawei(s.post, settings, notice, s.clock.now())
  if (notice.type === 'DID_NEW_TRANSACTION')
    return bought(s, actor, { appKey, settings, interrupted: attempts > 1 }, status)
  const subscription = await findByChannelRef(s.c, appKey, status.purchaseToken)
  if (!subscription) throw new NotYet('the purchase has not been noticed yet')
  if (notice.type === 'REVOKE' && notice.subtype === 'REFUND_TRANSACTION')
    return refunded(s, actor, subscription, notice.purchaseOrderId)
  const decide = STEPS[notice.type]
  if (!decide) return { state: 'ignored', reason: notice.type }
  // A late notice of an end, overtaken by a renewal.
  if (notice.type === 'EXPIRE' && status.status === ACTIVE && status.expiresTime > s.clock.now().getTime())
    return { state: 'ignored', reason: 'active at Huawei' }
  const target = { appKey, id: subscription._id }
  await changePeriod(s, actor, target, `subscription.${notice.type.toLowerCase()}`, (period, plan, now) =>
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

/** A purchase or renewal: book it, take Huawei's end, confirm the delivery. */
async function bought(
  s: Subscriptions,
  actor: Actor,
  { appKey, settings, interrupted }: { appKey: string; settings: HuaweiSettings; interrupted: boolean },
  status: HuaweiStatus,
): Promise<Applied> {
  const { lastPurchaseOrder: bill, purchaseToken } = status
  const { order, plan, userId } = await partiesOf(s, appKey, status)
  if (order && order.amount_cents !== bill.price) return { state: 'rejected', reason: 'amount_mismatch' }
  const { subscription, repeated } = await subscribe(s, actor, {
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
  // An earlier try may have booked it and died before this; a notice that comes once more changes nothing.
  const mayLack = !repeated || (interrupted && subscription.status === STATUS.active)
  if (mayLack && subscription.end !== 0 && subscription.end !== end)
    await changePeriod(s, actor, { appKey, id: subscription._id }, 'subscription.set_end', (period, sold, now) =>
      setEnd(period, sold, end, now),
    )
  await confirmHuawei(s.post, settings, bill, s.clock.now())
  return repeated ? { state: 'ignored', reason: 'paid before' } : applied
}

/** The order that the app named in developerPayload, or the record that the token belongs to. */
async function partiesOf(
  s: Subscriptions,
  appKey: string,
  { lastPurchaseOrder, purchaseToken }: HuaweiStatus,
): Promise<{ order?: OrderDoc; plan: PlanDoc; userId: number }> {
  const known = await findByChannelRef(s.c, appKey, purchaseToken)
  const order = known ? undefined : await findOrder(s.c, appKey, lastPurchaseOrder.developerPayload)
  const ordered = known ?? order
  const plan = ordered && (await findPlan(s.c, appKey, ordered.plan_id))
  if (!ordered || !plan) throw new NotYet('no order has this developerPayload')
  return { ...(order ? { order } : {}), plan, userId: ordered.user_id }
}

async function refunded(
  s: Subscriptions,
  actor: Actor,
  subscription: SubscriptionDoc,
  purchaseOrderId: string,
): Promise<Applied> {
  const { app_key: appKey, _id } = subscription
  const payment = await findPayment(s.c, { payment_key: `${appKey}/huawei/${purchaseOrderId}` })
  if (!payment) throw new NotYet('the payment has not been noticed yet')
  const request = { appKey, subscriptionId: _id, refundId: purchaseOrderId, payment, byChannel: true as const }
  const { repeated } = await refundSubscription(s, actor, request)
  return repeated ? { state: 'ignored', reason: 'booked before' } : applied
}
