/** The server API: what the apps' own back ends do. */
import type Router from '@koa/router'
import { ProblemError } from '../../platform/problems.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { changePeriod } from '../lifecycle/change-subscription.ts'
import { entitlementOf } from '../lifecycle/entitlement.ts'
import { requirePlan } from '../lifecycle/http/subscriptions.ts'
import { viewOne } from '../lifecycle/list-subscriptions.ts'
import { restorePurchase } from '../lifecycle/local-sync.ts'
import {
  NO_PAYMENT_ID,
  orderFor,
  type Purchase,
  type Subscribed,
  subscribe,
  UNPAID,
} from '../lifecycle/start-or-renew.ts'
import { findSubscription } from '../lifecycle/store/subscriptions.ts'
import { openOrder } from '../payments/orders.ts'
import { refundSubscription } from '../payments/refund.ts'
import { findPaymentOf } from '../payments/store/payments-and-orders.ts'
import { requireUser, setDeletionWish, upsertUser } from '../people/manage-end-users.ts'
import { fault } from '../rules/field-errors.ts'
import { formatCents } from '../rules/field-schemas.ts'
import { cancel } from '../rules/period.ts'
import { viewUser } from '../rules/record-views.ts'
import type { EndUserDoc, PlanDoc } from '../store/documents.ts'
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

/** Puts the server API on the router. */
export function mountServerApi(router: Router, deps: HttpDeps): void {
  mountServerUsers(router, deps)
  mountServerSubscriptions(router, deps)
}

function mountServerUsers(router: Router, deps: HttpDeps): void {
  const { s } = deps
  bindApp(router, deps, upsertUserOperation, async ({ body }, { app }) => {
    const { openid, unionid, huawei_openid, huawei_unionid, login_ip, reminder_mail, ...profile } = body
    const identities = { openid, unionid, huawei_openid, huawei_unionid }
    const login = { identities, profile, ip: login_ip, reminderMail: flagOf(reminder_mail) }
    const { user, created } = await upsertUser(s, app.app_key, login)
    return { ...viewUser(user, s.zone), created }
  })
  bindApp(router, deps, requestDeletion, async ({ params, body }, { app, actor }) =>
    viewUser(await setDeletionWish(s, actor, { appKey: app.app_key, id: params.id }, body.status), s.zone),
  )
  bindApp(router, deps, entitlementOperation, async ({ query }, { app, context }) => {
    const data = await entitlementOf(s, app.app_key, query)
    context.set('Cache-Control', 'private, max-age=30')
    return isUnchanged(context, JSON.stringify(data)) ? undefined : data
  })
}

function mountServerSubscriptions(router: Router, deps: HttpDeps): void {
  const { s } = deps
  bindApp(router, deps, openOrderOperation, async ({ body }, { app, actor, lang }) => {
    const { user, plan } = await partiesOf(s, app.app_key, body)
    const { order, subscription, repeated } = await openOrder(s, actor, {
      appKey: app.app_key,
      userId: user._id,
      plan,
      method: body.payment_method,
      outTradeNo: body.out_trade_no,
      autoRenew: body.auto_renew === '1',
    })
    const { out_trade_no, amount_cents, status } = order
    const view = await viewOne(s, subscription, lang)
    return { out_trade_no, amount: formatCents(amount_cents), status, repeated, subscription: view }
  })
  bindApp(router, deps, subscribeOperation, async ({ body }, { app, actor, lang }) => {
    const { user, plan } = await partiesOf(s, app.app_key, body)
    const base = { appKey: app.app_key, userId: user._id, plan, autoRenew: flagOf(body.auto_renew) }
    const purchase =
      body.payment_method === 'trial' ? trial(s, base) : payment(s, { ...base, ...body, clientRef: body.client_ref })
    return shown(s, await pay(s, actor, purchase), lang)
  })
  bindApp(router, deps, renewOperation, async ({ params, body }, { app, actor, lang }) => {
    const known = await requireSubscription(s, app.app_key, params.id)
    const plan = await requirePlan(s, app.app_key, known.plan_id)
    // A repeat means the method of the first time, whoever has paid since.
    const paid = body.payment_method ? undefined : await findPaymentOf(s.c, known._id, body.payment_id)
    const payment_method = body.payment_method ?? paid?.method ?? known.payment_method
    // Granted, synced or tried so far: what it is paid with now is not known.
    if (payment_method === 'trial' || (!body.payment_method && UNPAID.has(payment_method)))
      throw new ProblemError('validation_failed', undefined, {
        faults: [fault('payment_method', body.payment_method ? 'value' : 'required')],
      })
    const base = { appKey: app.app_key, userId: known.user_id, plan, autoRenew: undefined, clientRef: body.client_ref }
    if (!known.current) throw new ProblemError('transition_refused')
    return shown(s, await pay(s, actor, payment(s, { ...base, ...body, payment_method })), lang)
  })
  bindApp(router, deps, cancelOperation, async ({ params, body }, { app, actor, lang }) => {
    const target = { appKey: app.app_key, id: params.id }
    const step = (period: Parameters<typeof cancel>[0], _: unknown, now: number) => cancel(period, body.at, now)
    return viewOne(s, await changePeriod(s, actor, target, 'subscription.cancel', step), lang)
  })
  bindApp(router, deps, refundOperation, async ({ params, body }, { app, actor, lang }) =>
    shown(
      s,
      await refundSubscription(s, actor, {
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
      const { user, plan } = await partiesOf(s, app.app_key, purchase)
      const { client_ref: clientRef, start_date: start, end_date: end } = purchase
      wanted.push({ appKey: app.app_key, userId: user._id, plan, clientRef, start, end })
    }
    const results = []
    for (const purchase of wanted) {
      const { subscription, repeated } = await restorePurchase(s, actor, purchase)
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
  s: Subscriptions,
  appKey: string,
  given: Parameters<typeof requireUser>[2] & { plan_id: number },
): Promise<Parties> {
  return { user: await requireUser(s, appKey, given), plan: await requirePlan(s, appKey, given.plan_id) }
}

type Base = Pick<Purchase, 'appKey' | 'userId' | 'plan' | 'autoRenew'>

function payment(
  s: Subscriptions,
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
    paidAt: paid_at === undefined ? s.clock.now() : new Date(paid_at * 1000),
  }
}

/** One trial per user and plan, for the plan's trial days. */
function trial(s: Subscriptions, base: Base): Purchase {
  if (base.plan.trial_days === 0) throw new ProblemError('transition_refused', 'The plan has no trial.')
  return {
    ...base,
    method: 'trial',
    paymentId: NO_PAYMENT_ID,
    amountCents: 0,
    paidAt: s.clock.now(),
    days: base.plan.trial_days,
    clientRef: `trial:${base.userId}:${base.plan._id}`,
  }
}

async function pay(s: Subscriptions, actor: Actor, purchase: Purchase): Promise<Subscribed> {
  const order = await orderFor(s, purchase)
  return subscribe(s, actor, { ...purchase, order, autoRenew: purchase.autoRenew ?? order?.auto_renew })
}

async function shown(s: Subscriptions, { subscription, repeated }: Subscribed, lang: Parameters<typeof viewOne>[2]) {
  return { subscription: await viewOne(s, subscription, lang), repeated }
}

async function requireSubscription(s: Subscriptions, appKey: string, id: number) {
  const subscription = await findSubscription(s.c, appKey, id)
  if (!subscription) throw new ProblemError('subscription_not_found')
  return subscription
}

function flagOf(value: '0' | '1' | undefined): boolean | undefined {
  return value === undefined ? undefined : value === '1'
}
