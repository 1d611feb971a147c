/**
 * Each payment channel with a valid, forged, replayed, reordered, late and mismatching notice. Then copies of all notices
 * in any order, which count once each.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyNotices } from '../../../services/subscriptions/payments/process-notices.ts'
import type { SubscriptionDoc } from '../../../services/subscriptions/store/documents.ts'
import { certify } from '../../support/subscriptions/certificate-chain.ts'
import { fakeAlipay, fakeHuawei, fakeWechat, type SentNotice } from '../../support/subscriptions/payment-notices.ts'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
let huawei: Awaited<ReturnType<typeof fakeHuawei>>
let plan: string
let orders = 0
const alipay = fakeAlipay()
const wechat = fakeWechat()
const DAY = 86_400
const KINDS = ['good', 'forged', 'replayed', 'reordered', 'late', 'mismatching'] as const

beforeAll(async () => {
  api = await startSubscriptionApi({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  huawei = await fakeHuawei()
  const body = { name: 'P', price: '10.00', duration: 30, features: '{"features":[]}' }
  const headers = { prefer: 'return=representation' }
  plan = (await api.call('POST', '/subscription_plan', { body, headers })).body.data.id
  for (const { name, settings } of Object.values(channels()))
    await api.call('PUT', `/app_manage/${api.demo.id}/channel/${name}`, { body: settings })
})
afterAll(async () => {
  await huawei.stop()
  await api.stop()
})

/** A purchase in progress at a channel. */
interface Purchase {
  good(): SentNotice
  forged(): SentNotice
  mismatching(): SentNotice
  /** A notice that presupposes the purchase; `after` is the record after both were applied. */
  follower(): SentNotice
  after: Partial<SubscriptionDoc>
}

/** A payment channel in this test. */
interface Channel {
  name: string
  settings: object
  buy(orderNumber: string): Purchase
  accepted: number
  refused: { forged: number; mismatching: number }
  /** How many days late the channel repeats a notice, and the status for the original bytes then. */
  late: { days: number; oldBytes: number }
}

const now = () => Math.floor(api.clock.now().getTime() / 1000)

function channels(): Record<string, Channel> {
  return {
    alipay: {
      name: 'alipay',
      settings: alipay.settings,
      accepted: 200,
      refused: { forged: 401, mismatching: 422 },
      late: { days: 1, oldBytes: 200 },
      buy(out_trade_no) {
        const paid = { out_trade_no, trade_no: `A-${out_trade_no}`, total_amount: '10.00' }
        return {
          good: () => alipay.notice(paid),
          forged: () => alipay.notice({ ...paid, total_amount: '0.01' }, { total_amount: '10.00' }),
          mismatching: () => alipay.notice({ ...paid, total_amount: '0.01' }),
          follower: () => alipay.notice({ ...paid, refund_fee: '10.00', out_biz_no: `R-${out_trade_no}` }),
          after: { status: 4 },
        }
      },
    },
    wechat: {
      name: 'wechat',
      settings: wechat.settings,
      accepted: 204,
      refused: { forged: 401, mismatching: 422 },
      // Repeats are signed again; an original older than five minutes is a replay.
      late: { days: 1, oldBytes: 401 },
      buy(out_trade_no) {
        const paid = {
          ...{ mchid: '1900', appid: 'wx-app', out_trade_no, transaction_id: `W-${out_trade_no}` },
          ...{ trade_state: 'SUCCESS', success_time: '2026-11-21T18:00:00+08:00', amount: { total: 1000 } },
        }
        const back = {
          ...{ mchid: '1900', transaction_id: `W-${out_trade_no}`, out_refund_no: `R-${out_trade_no}` },
          ...{ refund_status: 'SUCCESS', amount: { refund: 1000 } },
        }
        return {
          good: () => wechat.notice(now(), paid, { id: `N-${out_trade_no}` }),
          forged: () => fakeWechat().notice(now(), paid),
          mismatching: () => wechat.notice(now(), { ...paid, amount: { total: 1 } }),
          follower: () => wechat.notice(now(), back, { id: `B-${out_trade_no}`, type: 'REFUND.SUCCESS' }),
          after: { status: 4 },
        }
      },
    },
    huawei: {
      name: 'huawei',
      settings: huawei.settings,
      accepted: 200,
      refused: { forged: 401, mismatching: 422 },
      late: { days: 1, oldBytes: 200 },
      buy(out_trade_no) {
        const about = { purchaseToken: `token-${out_trade_no}`, purchaseOrderId: `H-${out_trade_no}` }
        huawei.statuses.set(about.purchaseToken, {
          ...{ purchaseToken: about.purchaseToken, status: '1', expiresTime: (now() + 30 * DAY) * 1000 },
          lastPurchaseOrder: {
            ...{ ...about, productId: 'vip', price: 1000, purchaseTime: now() * 1000 },
            developerPayload: out_trade_no,
          },
          renewalInfo: { autoRenewStatusCode: '0' },
        })
        const bought = huawei.notice('DID_NEW_TRANSACTION', 'INITIAL_BUY', about)
        const root = certify({ name: 'Root', ca: true })
        const middle = certify({ name: 'Intermediate', issuer: root, ca: true })
        const leaf = certify({ name: 'Leaf', issuer: middle, ca: false })
        return {
          good: () => bought,
          forged: () => huawei.notice('DID_NEW_TRANSACTION', 'INITIAL_BUY', about, [leaf, middle, root]),
          mismatching: () =>
            huawei.notice('DID_NEW_TRANSACTION', 'INITIAL_BUY', { ...about, applicationId: 'another-app' }),
          follower: () => huawei.notice('REVOKE', '', about),
          after: { status: 3 },
        }
      },
    },
  }
}

/** A user with an open order at a channel. */
async function purchase(channel: string) {
  const { buy, ...rest } = channels()[channel] as Channel
  const out_trade_no = `T-${channel}-${++orders}`
  const user = (await api.server('POST', '/server/user', { body: { openid: out_trade_no } })).body.data
  const body = { user_id: user.id, plan_id: plan, payment_method: channel, out_trade_no }
  expect((await api.server('POST', '/server/order', { body })).body.code).toBe(0)
  const user_id = Number(user.id)
  return {
    ...rest,
    ...buy(out_trade_no),
    send: async ({ body: text, headers }: SentNotice) =>
      (await api.call('POST', `/notify/${channel}/demo`, { query: {}, token: '', body: text, headers })).status,
    show: () => api.context.collections.subscriptions.find({ user_id }).sort({ _id: 1 }).toArray(),
    payments: () => api.context.collections.payments.countDocuments({ user_id, kind: 'payment' }),
    events: () => api.context.collections.paymentEvents.countDocuments({ channel: channel as 'alipay' }),
  }
}
type Case = Awaited<ReturnType<typeof purchase>>

const apply = () => applyNotices(api.context, new AbortController().signal)

/** The expected effect of each kind. */
const kinds: Record<(typeof KINDS)[number], (purchased: Case) => Promise<void>> = {
  async good({ send, good, accepted, show, payments }) {
    expect(await send(good())).toBe(accepted)
    expect((await show()).map(({ status }) => status)).toEqual([0])
    await apply()
    const [record] = await show()
    expect(record).toMatchObject({ status: 1, paid_cents: 1000 })
    expect((record?.end ?? 0) - (record?.start ?? 0)).toBe(30 * DAY)
    expect(await payments()).toBe(1)
  },
  async forged({ send, forged, refused, show, events }) {
    const before = await events()
    expect(await send(forged())).toBe(refused.forged)
    await apply()
    expect((await show()).map(({ status }) => status)).toEqual([0])
    expect(await events()).toBe(before)
  },
  async replayed({ send, good, accepted, show, payments }) {
    const notice = good()
    expect(await Promise.all([1, 2, 3].map(() => send(notice)))).toEqual([accepted, accepted, accepted])
    await Promise.all([apply(), apply()])
    const [first] = await show()
    expect(await send(notice)).toBe(accepted)
    expect(await send(good())).toBe(accepted)
    await apply()
    expect(await show()).toEqual([first])
    expect(await payments()).toBe(1)
  },
  async reordered({ send, good, follower, after, accepted, show }) {
    expect(await send(follower())).toBe(accepted)
    await apply()
    expect((await show()).map(({ status }) => status)).toEqual([0])
    expect(await send(good())).toBe(accepted)
    await apply()
    expect((await show())[0]?.status).toBe(1)
    api.clock.advance(31_000)
    await apply()
    expect(await show()).toMatchObject([after])
  },
  async late({ send, good, late, accepted, show, payments }) {
    const old = good()
    api.clock.advance(late.days * DAY * 1000)
    expect(await send(old)).toBe(late.oldBytes)
    if (late.oldBytes !== accepted) expect(await send(good())).toBe(accepted)
    await apply()
    expect((await show()).map(({ status }) => status)).toEqual([1])
    expect(await payments()).toBe(1)
  },
  async mismatching({ send, mismatching, refused, show, payments }) {
    expect(await send(mismatching())).toBe(refused.mismatching)
    await apply()
    expect((await show()).map(({ status }) => status)).toEqual([0])
    expect(await payments()).toBe(0)
  },
}

describe.each(['alipay', 'wechat', 'huawei'])('%s', channel => {
  test.each(KINDS)('a %s notice has the expected effect', async kind => {
    await kinds[kind](await purchase(channel))
  })
})

/** Shuffles reproducibly. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  return items
    .map(item => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

test.each([1, 2, 3])('three copies of every notice of all channels, shuffled (%i), count once each', async seed => {
  const purchases = await Promise.all(['alipay', 'wechat', 'huawei'].map(purchase))
  const notices = purchases.flatMap(bought => {
    const [paid, follower] = [bought.good(), bought.follower()]
    return [paid, paid, paid, follower, follower, follower].map(notice => ({ bought, notice }))
  })
  for (const [index, { bought, notice }] of shuffled(notices, seed).entries()) {
    expect(await bought.send(notice)).toBe(bought.accepted)
    if (index % 4 === 0) await apply()
  }
  for (let i = 0; i < 3; i++) {
    api.clock.advance(31_000)
    await Promise.all([apply(), apply()])
  }
  for (const { show, payments, after } of purchases) {
    expect(await show()).toMatchObject([after])
    expect(await payments()).toBe(1)
  }
  expect(await api.context.collections.paymentEvents.countDocuments({ state: 'waiting' })).toBe(0)
})
