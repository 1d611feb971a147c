import { describe, expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { systemActor } from '../context.ts'
import { closeStaleOrders, openOrder } from '../payments/orders.ts'
import { runAdminAction } from './admin-actions.ts'
import { expireLapsed } from './expire-subscriptions.ts'
import { type LocalPurchase, restorePurchase } from './local-sync.ts'
import { NO_PAYMENT_ID, type Purchase, subscribe } from './start-or-renew.ts'

const DAY = 86_400
const never = new AbortController().signal

async function shop() {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, giveUser, givePlan, clock } = subscriptions
  await giveApp('shop')
  const user = await giveUser('shop')
  const plan = await givePlan('shop')
  const buy = (more: Partial<Purchase> = {}) => {
    const base = { appKey: 'shop', userId: user._id, plan, method: 'alipay', paymentId: 'P-1', amountCents: 1990 }
    return subscribe(context, systemActor, { ...base, paidAt: clock.now(), ...more })
  }
  const restore = (more: Partial<LocalPurchase> = {}) => {
    const now = Math.floor(clock.now().getTime() / 1000)
    const base = {
      appKey: 'shop',
      userId: user._id,
      plan,
      clientRef: 'device-1',
      start: now - DAY,
      end: now + 60 * DAY,
    }
    return restorePurchase(context, systemActor, { ...base, ...more })
  }
  const periods = () => context.collections.payments.countDocuments({ kind: 'payment' })
  const now = () => Math.floor(clock.now().getTime() / 1000)
  return { ...subscriptions, user, plan, buy, restore, periods, now }
}
const outcomeOf = (work: Promise<{ repeated: boolean }>) =>
  codeOf(work, ({ repeated }) => (repeated ? 'repeated' : 'booked'))
const grant = { method: 'manual', paymentId: NO_PAYMENT_ID, amountCents: 0 }

describe('what counts as the same payment', () => {
  test.each<[string, Partial<Purchase>, Partial<Purchase>, outcome: string]>([
    ['the same number', {}, {}, 'repeated'],
    ['the same number, now with a reference', {}, { clientRef: 'C-1' }, 'repeated'],
    ['the same number and reference', { clientRef: 'C-1' }, { clientRef: 'C-1' }, 'repeated'],
    ['the same number by another method', {}, { method: 'wechat' }, 'booked'],
    ['another number', {}, { paymentId: 'P-2' }, 'booked'],
    [
      'other money under a used reference',
      { clientRef: 'C-1' },
      { paymentId: 'P-2', clientRef: 'C-1' },
      'payment_taken',
    ],
    ['money under the reference of a grant', { ...grant, clientRef: 'C-1' }, { clientRef: 'C-1' }, 'payment_taken'],
    ['a grant with the same reference', { ...grant, clientRef: 'C-1' }, { ...grant, clientRef: 'C-1' }, 'repeated'],
    ['a grant without a reference', grant, grant, 'booked'],
    ['a grant under the reference of money', { clientRef: 'C-1' }, { ...grant, clientRef: 'C-1' }, 'payment_taken'],
    ['a manual booking, whatever its number', { method: 'manual' }, { method: 'manual' }, 'booked'],
    ['for others too', { method: 'manual', userId: -1 }, { method: 'manual' }, 'booked'],
    [
      'a manual booking with its reference',
      { method: 'manual', clientRef: 'C-1' },
      { method: 'manual', clientRef: 'C-1' },
      'repeated',
    ],
    [
      'a manual booking under the reference of another number',
      { method: 'manual', clientRef: 'C-1' },
      { method: 'manual', paymentId: 'P-2', clientRef: 'C-1' },
      'payment_taken',
    ],
    ['a payment of another user', {}, { userId: -1 }, 'payment_taken'],
  ])('%s', async (_, first, second, outcome) => {
    const { buy, periods } = await shop()
    expect(await outcomeOf(buy(first))).toBe('booked')
    expect(await outcomeOf(buy(second))).toBe(outcome)
    expect(await periods()).toBe(outcome === 'booked' ? 2 : 1)
  })

  test('in the same moment, from several processes', async () => {
    const { buy, periods } = await shop()
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => outcomeOf(buy())))
    expect(outcomes.toSorted()).toEqual(['booked', 'repeated', 'repeated', 'repeated'])
    expect(await periods()).toBe(1)
  })
})

/** Buys and ends the subscription. */
function bought(action: 'cancel' | 'refund', more: Partial<Purchase> = {}) {
  return async ({ context, buy }: Awaited<ReturnType<typeof shop>>) => {
    const { subscription } = await buy(more)
    await runAdminAction(context, systemActor, { appKey: 'shop', id: subscription._id }, { action, at: 'now' })
  }
}

describe('a trial comes before the first period', () => {
  const trial = { method: 'trial', paymentId: NO_PAYMENT_ID, amountCents: 0, days: 7, clientRef: 'trial' }
  test.each<[string, (subscriptions: Awaited<ReturnType<typeof shop>>) => Promise<unknown>, outcome: string]>([
    ['of a new user', async () => undefined, 'booked'],
    ['of a user who has had it', ({ buy }) => buy(trial), 'repeated'],
    ['not of a holder', ({ buy }) => buy(), 'transition_refused'],
    [
      'not of a user whose time is over',
      async ({ context, buy, clock }) => {
        await buy()
        clock.advance(31 * DAY * 1000)
        await expireLapsed(context, never)
      },
      'transition_refused',
    ],
    [
      'of a user who has only ordered',
      ({ context, user, plan }) => {
        const order = { appKey: 'shop', userId: user._id, plan, method: 'alipay', outTradeNo: 'T-1', autoRenew: false }
        return openOrder(context, systemActor, order)
      },
      'booked',
    ],
    [
      'of a user whose order was closed',
      async ({ context, user, plan, clock }) => {
        const order = { appKey: 'shop', userId: user._id, plan, method: 'alipay', outTradeNo: 'T-1', autoRenew: false }
        await openOrder(context, systemActor, order)
        clock.advance(2 * DAY * 1000)
        await closeStaleOrders(context)
      },
      'booked',
    ],
    [
      'of a user who holds another plan',
      async ({ user, givePlan, pay }) => pay(user, await givePlan('shop')),
      'booked',
    ],
    ['not of a user whose period was cancelled', bought('cancel'), 'transition_refused'],
    ['not of a user whose money went back', bought('refund'), 'transition_refused'],
    ['not of a user whose grant was taken back', bought('cancel', grant), 'transition_refused'],
    [
      'not of a user who has ordered again since',
      async fixture => {
        await bought('cancel')(fixture)
        const { context, user, plan } = fixture
        const order = { appKey: 'shop', userId: user._id, plan, method: 'alipay', outTradeNo: 'T-1', autoRenew: false }
        await openOrder(context, systemActor, order)
      },
      'transition_refused',
    ],
  ])('%s', async (_, before, outcome) => {
    const fixture = await shop()
    await before(fixture)
    expect(await outcomeOf(fixture.buy(trial))).toBe(outcome)
  })

  test('and what is paid afterwards is no trial any more', async () => {
    const { buy, stored } = await shop()
    const { subscription } = await buy(trial)
    expect(await stored(subscription._id)).toMatchObject({ payment_method: 'trial', paid_cents: 0 })
    await buy()
    expect(await stored(subscription._id)).toMatchObject({ payment_method: 'alipay', paid_cents: 1990 })
  })
})

describe('what a device kept', () => {
  test('lengthens a paid period and lets it renew itself as before; a shorter one changes nothing', async () => {
    const { buy, restore, stored, now } = await shop()
    const { subscription } = await buy({ autoRenew: true })
    await restore({ end: now() + DAY })
    expect(await stored(subscription._id)).toMatchObject({ end: subscription.end, auto_renew: true })
    await restore({ clientRef: 'device-2' })
    expect(await stored(subscription._id)).toMatchObject({ end: now() + 60 * DAY, auto_renew: true, status: 1 })
    await restore({ clientRef: 'device-3', end: 0 })
    expect(await stored(subscription._id)).toMatchObject({ end: 0, auto_renew: false })
  })

  test.each<[string, number, status: number]>([
    ['runs on the device', 60 * DAY, 1],
    ['is over on the device', -60, 2],
  ])('revives an expired one that %s', async (_, left, status) => {
    const { context, buy, restore, stored, clock, now } = await shop()
    const { subscription } = await buy()
    clock.advance(31 * DAY * 1000)
    await expireLapsed(context, never)
    await restore({ end: now() + left })
    expect(await stored(subscription._id)).toMatchObject({ status, end: now() + left, auto_renew: false })
  })

  test('starts what was only ordered, and counts as its first period', async () => {
    const { context, user, plan, restore, stored, clock } = await shop()
    const order = { appKey: 'shop', userId: user._id, plan, method: 'alipay', outTradeNo: 'T-1', autoRenew: false }
    const { subscription } = await openOrder(context, systemActor, order)
    await restore()
    expect((await stored(subscription._id)).status).toBe(1)
    expect(await context.collections.payments.findOne({ method: 'local_sync' })).toMatchObject({ new_period: 'first' })
    expect(await context.collections.days.findOne({ _id: `shop/${context.zone.day(clock.now())}` })).toMatchObject({
      new_subs: 1,
    })
  })

  test('under one reference is one purchase: of this user and plan', async () => {
    const { giveUser, givePlan, restore } = await shop()
    expect(await outcomeOf(restore())).toBe('booked')
    expect(await outcomeOf(restore())).toBe('repeated')
    expect(await outcomeOf(restore({ plan: await givePlan('shop') }))).toBe('payment_taken')
    expect(await outcomeOf(restore({ userId: (await giveUser('shop'))._id }))).toBe('payment_taken')
  })
})
