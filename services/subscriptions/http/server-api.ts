/** The server API: operations for the back ends of apps. */
import type Router from '@koa/router'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { changePeriod } from '../lifecycle/change-subscription.ts'
import { entitlementOf } from '../lifecycle/entitlement.ts'
import { requirePlan } from '../lifecycle/http/subscriptions.ts'
import { viewOne } from '../lifecycle/list-subscriptions.ts'
import { restorePurchase } from '../lifecycle/local-sync.ts'
import { refundSubscription } from '../lifecycle/refund.ts'
import { NO_PAYMENT_ID, type Purchase, type Subscribed, UNPAID } from '../lifecycle/start-or-renew.ts'
import { findPaymentOf } from '../lifecycle/store/payments.ts'
import { findSubscription } from '../lifecycle/store/subscriptions.ts'
import { bookPayment, openOrder, orderFor } from '../payments/orders.ts'
import { requireUser, setDeletionWish, upsertUser } from '../people/manage-end-users.ts'
import { fieldError } from '../rules/field-errors.ts'
import { formatCents } from '../rules/field-schemas.ts'
import { viewUser } from '../rules/record-views.ts'
import { cancel } from '../rules/subscription-lifecycle.ts'
import type { EndUserDoc } from '../store/documents.ts'
import type { PlanDoc } from '../store/models.ts'
import {
  cancelOperation,
  entitlementOperation,
  localSync,
  openOrderOperation,
  refundOperation,
  renewOperation,
  requestDeletion,
  subscribeOperation,
  upsertUserOperation,
} from './server-contract.ts'
import { bindApp, type HttpDeps } from './shared/bind.ts'
import { isUnchanged } from './shared/etag.ts'

/** Mounts the server API. */
export function mountServerApi(router: Router, deps: HttpDeps): void {
  mountServerUsers(router, deps)
  mountServerSubscriptions(router, deps)
}

function mountServerUsers(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindApp(router, deps, upsertUserOperation, async ({ body }, { app }) => {
    const { openid, unionid, huawei_openid, huawei_unionid, login_ip, reminder_mail, ...profile } = body
    const identities = { openid, unionid, huawei_openid, huawei_unionid }
    const login = { identities, profile, ip: login_ip, reminderMail: flagOf(reminder_mail) }
    const { user, created } = await upsertUser(subscriptions, app.app_key, login)
    return { ...viewUser(user, subscriptions.zone), created }
  })
  bindApp(router, deps, requestDeletion, async ({ params, body }, { app, actor }) =>
    viewUser(
      await setDeletionWish(subscriptions, actor, { appKey: app.app_key, id: params.id }, body.status),
      subscriptions.zone,
    ),
  )
  bindApp(router, deps, entitlementOperation, async ({ query }, { app, context }) => {
    const data = await entitlementOf(subscriptions, app.app_key, query)
    context.set('Cache-Control', 'private, max-age=30')
    return isUnchanged(context, JSON.stringify(data)) ? undefined : data
  })
}

function mountServerSubscriptions(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindApp(router, deps, openOrderOperation, async ({ body }, { app, actor, lang }) => {
    const { user, plan } = await partiesOf(subscriptions, app.app_key, body)
    const { order, subscription, repeated } = await openOrder(subscriptions, actor, {
      appKey: app.app_key,
      userId: user._id,
      plan,
      method: body.payment_method,
      outTradeNo: body.out_trade_no,
      autoRenew: body.auto_renew === '1',
    })
    const { out_trade_no, amount_cents, status } = order
    const view = await viewOne(subscriptions, subscription, lang)
    return { out_trade_no, amount: formatCents(amount_cents), status, repeated, subscription: view }
  })
  bindApp(router, deps, subscribeOperation, async ({ body }, { app, actor, lang }) => {
    const { user, plan } = await partiesOf(subscriptions, app.app_key, body)
    const base = { appKey: app.app_key, userId: user._id, plan, autoRenew: flagOf(body.auto_renew) }
    const purchase =
      body.payment_method === 'trial'
        ? trial(subscriptions, base)
        : payment(subscriptions, { ...base, ...body, clientRef: body.client_ref })
    return shown(subscriptions, await pay(subscriptions, actor, purchase), lang)
  })
  bindApp(router, deps, renewOperation, async ({ params, body }, { app, actor, lang }) => {
    const known = await requireSubscription(subscriptions, app.app_key, params.id)
    const plan = await requirePlan(subscriptions, app.app_key, known.plan_id)
    // A repeat refers to the payment method of the first request, whoever has paid since.
    const paid = body.payment_method
      ? undefined
      : await findPaymentOf(subscriptions.collections, known._id, body.payment_id)
    const payment_method = body.payment_method ?? paid?.method ?? known.payment_method
    // Granted, synced or in a trial until now: the payment method of the renewal is unknown.
    if (payment_method === 'trial' || (!body.payment_method && UNPAID.has(payment_method)))
      throw new ProblemError('validation_failed', undefined, {
        errors: [fieldError('payment_method', body.payment_method ? 'value' : 'required')],
      })
    const base = { appKey: app.app_key, userId: known.user_id, plan, autoRenew: undefined, clientRef: body.client_ref }
    if (!known.current) throw new ProblemError('transition_refused')
    return shown(
      subscriptions,
      await pay(subscriptions, actor, payment(subscriptions, { ...base, ...body, payment_method })),
      lang,
    )
  })
  bindApp(router, deps, cancelOperation, async ({ params, body }, { app, actor, lang }) => {
    const target = { appKey: app.app_key, id: params.id }
    const step = (period: Parameters<typeof cancel>[0], _: unknown, now: number) => cancel(period, body.at, now)
    return viewOne(subscriptions, await changePeriod(subscriptions, actor, target, 'subscription.cancel', step), lang)
  })
  bindApp(router, deps, refundOperation, async ({ params, body }, { app, actor, lang }) =>
    shown(
      subscriptions,
      await refundSubscription(subscriptions, actor, {
        appKey: app.app_key,
        subscriptionId: params.id,
        refundId: body.refund_id,
        amountCents: body.amount,
        revoke: body.revoke === '1',
      }),
      lang,
    ),
  )
  bindApp(router, deps, localSync, async ({ body }, { app, actor }) => {
    const wanted = []
    for (const purchase of body.purchases) {
      const { user, plan } = await partiesOf(subscriptions, app.app_key, purchase)
      const { client_ref: clientRef, start_date: start, end_date: end } = purchase
      wanted.push({ appKey: app.app_key, userId: user._id, plan, clientRef, start, end })
    }
    const results = []
    for (const purchase of wanted) {
      const { subscription, repeated } = await restorePurchase(subscriptions, actor, purchase)
      results.push({ client_ref: purchase.clientRef, subscription_id: String(subscription._id), repeated })
    }
    return { results }
  })
}

interface Parties {
  user: EndUserDoc
  plan: PlanDoc
}

async function partiesOf(
  context: Subscriptions,
  appKey: string,
  given: Parameters<typeof requireUser>[2] & { plan_id: number },
): Promise<Parties> {
  return { user: await requireUser(context, appKey, given), plan: await requirePlan(context, appKey, given.plan_id) }
}

type Base = Pick<Purchase, 'appKey' | 'userId' | 'plan' | 'autoRenew'>

function payment(
  context: Subscriptions,
  {
    appKey,
    userId,
    plan,
    autoRenew,
    clientRef,
    payment_method,
    payment_id,
    amount,
    paid_at,
  }: Base & {
    clientRef: string | undefined
    payment_method: string
    payment_id?: string | undefined
    amount?: number | undefined
    paid_at?: number | undefined
  },
): Purchase {
  return {
    appKey,
    userId,
    plan,
    autoRenew,
    clientRef,
    method: payment_method,
    paymentId: payment_id ?? NO_PAYMENT_ID,
    amountCents: amount ?? plan.price_cents,
    paidAt: paid_at === undefined ? context.clock.now() : new Date(paid_at * 1000),
  }
}

/** One trial per user and plan, for the plan's trial days. */
function trial(context: Subscriptions, base: Base): Purchase {
  if (base.plan.trial_days === 0) throw new ProblemError('transition_refused', sentence('detail.no_trial'))
  return {
    ...base,
    method: 'trial',
    paymentId: NO_PAYMENT_ID,
    amountCents: 0,
    paidAt: context.clock.now(),
    days: base.plan.trial_days,
    clientRef: `trial:${base.userId}:${base.plan._id}`,
  }
}

async function pay(context: Subscriptions, actor: Actor, purchase: Purchase): Promise<Subscribed> {
  const order = await orderFor(context, purchase)
  return bookPayment(context, actor, { ...purchase, order, autoRenew: purchase.autoRenew ?? order?.auto_renew })
}

async function shown(
  context: Subscriptions,
  { subscription, repeated }: Subscribed,
  lang: Parameters<typeof viewOne>[2],
) {
  return { subscription: await viewOne(context, subscription, lang), repeated }
}

async function requireSubscription(context: Subscriptions, appKey: string, id: number) {
  const subscription = await findSubscription(context.collections, appKey, id)
  if (!subscription) throw new ProblemError('subscription_not_found')
  return subscription
}

function flagOf(value: '0' | '1' | undefined): boolean | undefined {
  return value === undefined ? undefined : value === '1'
}
