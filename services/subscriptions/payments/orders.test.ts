import { describe, expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { updatePlan } from '../catalogue/manage-plans.ts'
import { systemActor } from '../context.ts'
import { runAdminAction } from '../lifecycle/admin-actions.ts'
import type { PlanDoc } from '../store/models.ts'
import { closeStaleOrders, openOrder } from './orders.ts'

const DAY_MS = 86_400_000

async function shop() {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, giveUser, givePlan, pay } = subscriptions
  await giveApp('shop')
  const user = await giveUser('shop')
  const plan = await givePlan('shop')
  const order = (outTradeNo: string, method = 'alipay', of: PlanDoc = plan) =>
    openOrder(context, systemActor, {
      appKey: 'shop',
      userId: user._id,
      plan: of,
      method,
      outTradeNo,
      autoRenew: false,
    })
  const states = async () =>
    (await context.collections.orders.find().sort({ _id: 1 }).toArray()).map(
      ({ out_trade_no, status }) => `${out_trade_no} ${status}`,
    )
  const cancel = (id: number) =>
    runAdminAction(context, systemActor, { appKey: 'shop', id }, { action: 'cancel', at: 'now' })
  const takeOff = () => updatePlan(context, systemActor, { appKey: 'shop', id: plan._id }, { fields: { status: '0' } })
  const settle = async (no: string, method: string) => {
    const opened = (await context.collections.orders.findOne({ out_trade_no: no })) ?? undefined
    return pay(user, plan, { method, order: opened })
  }
  return { ...subscriptions, user, plan, order, states, cancel, takeOff, settle }
}

test('a repeat returns the open order, also in the same moment', async () => {
  const { order, states } = await shop()
  const opened = await Promise.all(['T-1', 'T-2', 'T-3'].map(no => order(no)))
  expect(new Set(opened.map(({ order: { out_trade_no } }) => out_trade_no)).size).toBe(1)
  expect(opened.filter(({ repeated }) => !repeated)).toHaveLength(1)
  expect(await states()).toHaveLength(1)
})

describe('users who change the payment method', () => {
  test('gets an order of the other channel for the same record', async () => {
    const { order, states, settle, stored } = await shop()
    const first = await order('T-1', 'alipay')
    const second = await order('T-2', 'wechat')
    expect(second).toMatchObject({ repeated: false, order: { method: 'wechat', status: 'open' } })
    expect(second.subscription._id).toBe(first.subscription._id)
    expect(await states()).toEqual(['T-1 closed', 'T-2 open'])
    await settle('T-2', 'wechat')
    expect(await stored(first.subscription._id)).toMatchObject({ status: 1, payment_method: 'wechat' })
    expect(await states()).toEqual(['T-1 closed', 'T-2 paid'])
  })

  test('and pays the first one after all: it counts, and the second stays open until its day is over', async () => {
    const { context, clock, order, states, settle, stored } = await shop()
    const { subscription } = await order('T-1', 'alipay')
    await order('T-2', 'wechat')
    await settle('T-1', 'alipay')
    expect(await states()).toEqual(['T-1 paid', 'T-2 open'])
    clock.advance(DAY_MS + 1)
    await closeStaleOrders(context)
    expect(await states()).toEqual(['T-1 paid', 'T-2 closed'])
    expect((await stored(subscription._id)).status).toBe(1)
  })

  test('in the same moment twice: one order is open', async () => {
    const { order, states } = await shop()
    await order('T-1', 'alipay')
    await Promise.all([order('T-2', 'wechat'), order('T-3', 'wechat'), order('T-4', 'huawei')])
    expect((await states()).filter(state => state.endsWith('open'))).toHaveLength(1)
  })

  test('under a number that was used: that is refused', async () => {
    const { order, states } = await shop()
    await order('T-1', 'alipay')
    expect(await codeOf(order('T-1', 'wechat'))).toBe('payment_taken')
    expect(await states()).toEqual(['T-1 open'])
  })
})

test('after the waiting record was cancelled an order starts a new one', async () => {
  const { order, cancel, states, stored } = await shop()
  const first = await order('T-1')
  await cancel(first.subscription._id)
  const second = await order('T-2')
  expect(second).toMatchObject({ repeated: false, subscription: { status: 0 } })
  expect(second.subscription._id).not.toBe(first.subscription._id)
  expect(await states()).toEqual(['T-1 closed', 'T-2 open'])
  expect((await stored(first.subscription._id)).status).toBe(3)
})

describe('a plan whose sale has ended', () => {
  test('is renewed by those who hold it, also when it has just expired', async () => {
    const { user, plan, pay, clock, order, takeOff, settle, stored } = await shop()
    const held = await pay(user, plan)
    await takeOff()
    const off = { ...plan, status: '0' as const }
    expect((await order('T-1', 'alipay', off)).subscription._id).toBe(held._id)
    await settle('T-1', 'alipay')
    clock.advance(61 * DAY_MS)
    expect(await codeOf(order('T-2', 'alipay', off))).toBe('done')
    expect((await stored(held._id)).end).toBe(held.end + 30 * 86_400)
  })

  test.each<[string, (subscriptions: Awaited<ReturnType<typeof shop>>) => Promise<unknown>]>([
    ['who never had it', async () => undefined],
    ['who only ordered it', ({ order }) => order('T-0')],
    ['whose time was cancelled', async ({ user, plan, pay, cancel }) => cancel((await pay(user, plan))._id)],
  ])('is not sold to a user %s', async (_, before) => {
    const half = await shop()
    await before(half)
    await half.takeOff()
    expect(await codeOf(half.order('T-1', 'alipay', { ...half.plan, status: '0' }))).toBe('transition_refused')
  })
})

test('orders are closed a day after they were opened, with the record that waits for them', async () => {
  const { context, clock, order, states, stored } = await shop()
  const { subscription } = await order('T-1')
  clock.advance(DAY_MS)
  expect(await closeStaleOrders(context)).toBe(0)
  clock.advance(1)
  expect((await Promise.all([closeStaleOrders(context), closeStaleOrders(context)])).some(count => count === 1)).toBe(
    true,
  )
  expect([await states(), (await stored(subscription._id)).status]).toEqual([['T-1 closed'], 3])
  expect(await closeStaleOrders(context)).toBe(0)
})
