/** Notices of payment channels: valid, forged, replayed, reordered, late and mismatching ones. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createGuardedPost } from '../../../services/platform/network/guarded-fetch.ts'
import { queryHuawei } from '../../../services/subscriptions/payments/channels/huawei.ts'
import { closeStaleOrders } from '../../../services/subscriptions/payments/orders.ts'
import { applyNotices } from '../../../services/subscriptions/payments/process-notices.ts'
import { closeOrder } from '../../../services/subscriptions/payments/store/orders.ts'
import { certify } from '../../support/subscriptions/certificate-chain.ts'
import { fakeAlipay, fakeHuawei, fakeWechat, type SentNotice } from '../../support/subscriptions/payment-notices.ts'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
let huawei: Awaited<ReturnType<typeof fakeHuawei>>
let plan: string
const alipay = fakeAlipay()
const wechat = fakeWechat()
const DAY = 86_400
const run = new AbortController()

beforeAll(async () => {
  api = await startSubscriptionApi({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  huawei = await fakeHuawei()
  const body = { name: 'P', price: '10.00', duration: 30, features: '{"features":[]}' }
  const headers = { prefer: 'return=representation' }
  plan = (await api.call('POST', '/subscription_plan', { body, headers })).body.data.id
  for (const [channel, settings] of Object.entries({
    alipay: alipay.settings,
    wechat: wechat.settings,
    huawei: huawei.settings,
  }))
    expect((await api.call('PUT', `/app_manage/${api.demo.id}/channel/${channel}`, { body: settings })).status).toBe(
      200,
    )
})
afterAll(async () => {
  await huawei.stop()
  await api.stop()
})

const send = (channel: string, { body, headers }: SentNotice, app = 'demo') =>
  api.call('POST', `/notify/${channel}/${app}`, { query: {}, token: '', body, headers })
const apply = () => applyNotices(api.context, run.signal)
const now = () => Math.floor(api.clock.now().getTime() / 1000)
let orders = 0

/** A user with an open order; returns its number and a function that reads its subscriptions. */
async function order(payment_method: string) {
  const out_trade_no = `T-${++orders}`
  const user = (await api.server('POST', '/server/user', { body: { openid: out_trade_no } })).body.data
  const body = { user_id: user.id, plan_id: plan, payment_method, out_trade_no, auto_renew: 0 }
  expect((await api.server('POST', '/server/order', { body })).status).toBe(200)
  const show = async () =>
    api.context.collections.subscriptions
      .find({ user_id: Number(user.id) })
      .sort({ _id: 1 })
      .toArray()
  return { out_trade_no, show, user }
}

describe('alipay', () => {
  const paid = (out_trade_no: string, more = {}) => ({
    out_trade_no,
    trade_no: `A-${out_trade_no}`,
    total_amount: '10.00',
    ...more,
  })

  const prefixed = (field: string, notice: SentNotice) => ({ ...notice, body: `${field}&${notice.body}` })

  test('accepts a valid notice with "success", stores it, and applies it once', async () => {
    const { out_trade_no, show } = await order('alipay')
    const notice = alipay.notice(paid(out_trade_no))
    expect((await send('alipay', notice)).text).toBe('success')
    expect((await show()).map(({ status }) => status)).toEqual([0])
    await apply()
    const [first] = await show()
    expect(first).toMatchObject({ status: 1, payment_method: 'alipay', payment_id: `A-${out_trade_no}` })
    expect((await send('alipay', notice)).text).toBe('success')
    await send('alipay', alipay.notice(paid(out_trade_no)))
    await apply()
    expect((await show())[0]?.end).toBe(first?.end)
  })

  test.each<[string, number, (no: string) => SentNotice]>([
    ['a changed amount', 401, no => alipay.notice(paid(no), { total_amount: '0.01' })],
    ['an added field', 401, no => alipay.notice(paid(no), { extra: '1' })],
    ['the key of another account', 401, no => fakeAlipay().notice(paid(no))],
    ['another sign_type', 401, no => alipay.notice(paid(no), { sign_type: 'RSA' })],
    ['no signature at all', 401, no => ({ ...alipay.notice(paid(no)), body: `out_trade_no=${no}` })],
    ['another app_id', 422, no => alipay.notice(paid(no, { app_id: 'x' }))],
    ['another seller', 422, no => alipay.notice(paid(no, { seller_id: 'x' }))],
    ['a signed amount that is not the ordered one', 422, no => alipay.notice(paid(no, { total_amount: '9.99' }))],
    ['an unknown order', 422, () => alipay.notice(paid('T-unknown'))],
    ['an invalid amount', 400, no => alipay.notice(paid(no, { total_amount: 'ten' }))],
    ['a signed amount that occurs twice', 400, no => alipay.notice(paid(no), {}, { total_amount: '99.00' })],
    ['an empty state before the signed one', 400, no => prefixed('trade_status=', alipay.notice(paid(no)))],
    ['a second signature', 400, no => prefixed('sign=x', alipay.notice(paid(no)))],
  ])('rejects %s with "failure" and changes nothing', async (_, status, make) => {
    const { out_trade_no, show } = await order('alipay')
    const answer = await send('alipay', make(out_trade_no))
    expect([answer.status, answer.text]).toEqual([status, 'failure'])
    await apply()
    expect((await show()).map(known => known.status)).toEqual([0])
  })

  test('a refund before its payment waits for it, and cumulative amounts are booked once', async () => {
    const { out_trade_no, show } = await order('alipay')
    const back = (refund_fee: string, out_biz_no: string) =>
      alipay.notice(paid(out_trade_no, { refund_fee, out_biz_no }))
    await send('alipay', back('10.00', 'r2'))
    await apply()
    await send('alipay', alipay.notice(paid(out_trade_no)))
    await apply()
    expect((await show())[0]?.status).toBe(1)
    api.clock.advance(31_000)
    await apply()
    expect((await show())[0]?.status).toBe(4)
    await send('alipay', back('4.00', 'r1'))
    await apply()
    const rows = await api.context.collections.payments
      .find({ kind: 'refund', payment_id: { $in: ['r1', 'r2'] } })
      .toArray()
    expect(rows.map(row => row.amount_cents)).toEqual([-1000])
  })

  test('cumulative amounts that two workers book concurrently are booked once', async () => {
    for (let round = 0; round < 8; round++) {
      const { out_trade_no } = await order('alipay')
      await send('alipay', alipay.notice(paid(out_trade_no)))
      await apply()
      for (const [refund_fee, n] of [
        ['3.00', 'a'],
        ['5.00', 'b'],
      ])
        await send('alipay', alipay.notice(paid(out_trade_no, { refund_fee, out_biz_no: `${out_trade_no}-${n}` })))
      await Promise.all([apply(), apply()])
      const payment_id = { $in: ['a', 'b'].map(n => `${out_trade_no}-${n}`) }
      const rows = await api.context.collections.payments.find({ kind: 'refund', payment_id }).toArray()
      expect(rows.reduce((sum, row) => sum + row.amount_cents, 0)).toBe(-500)
      expect(await api.context.collections.payments.findOne({ payment_id: `A-${out_trade_no}` })).toMatchObject({
        refunded_cents: 500,
      })
    }
  })

  test('a waiting buyer is no payment', async () => {
    const { out_trade_no, show } = await order('alipay')
    expect((await send('alipay', alipay.notice(paid(out_trade_no, { trade_status: 'WAIT_BUYER_PAY' })))).text).toBe(
      'success',
    )
    await apply()
    expect((await show())[0]?.status).toBe(0)
  })

  test('an order that is paid while it is being closed stays paid', async () => {
    const { out_trade_no } = await order('alipay')
    const [open] = await api.context.collections.orders.find({ out_trade_no }).toArray()
    await send('alipay', alipay.notice(paid(out_trade_no)))
    await apply()
    await closeOrder(api.context.collections, open?._id ?? '', 'closed') // the sweep read it as open
    expect(await api.context.collections.orders.find({ out_trade_no }).toArray()).toMatchObject([{ status: 'paid' }])
  })

  test('a payment for an order that was closed after a day starts a new subscription', async () => {
    const { out_trade_no, show } = await order('alipay')
    await api.later(25 * 3_600_000)
    await closeStaleOrders(api.context)
    expect((await show())[0]?.status).toBe(3)
    await send('alipay', alipay.notice(paid(out_trade_no)))
    await apply()
    expect((await show()).map(({ status }) => status)).toEqual([3, 1])
  })
})

describe('wechat', () => {
  const paid = (out_trade_no: string, more = {}) => ({
    mchid: '1900',
    appid: 'wx-app',
    out_trade_no,
    transaction_id: `W-${out_trade_no}`,
    trade_state: 'SUCCESS',
    success_time: '2026-11-21T18:00:00+08:00',
    amount: { total: 1000, currency: 'CNY' },
    ...more,
  })

  test('accepts a valid notice with 204 and applies it once', async () => {
    const { out_trade_no, show } = await order('wechat')
    const notice = wechat.notice(now(), paid(out_trade_no))
    const answers = await Promise.all([1, 2, 3].map(() => send('wechat', notice)))
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
    await Promise.all([apply(), apply()])
    const [first] = await show()
    expect(first).toMatchObject({ status: 1, payment_method: 'wechat' })
    expect((first?.end ?? 0) - (first?.start ?? 0)).toBe(30 * DAY)
  })

  test.each<[string, number, (no: string) => SentNotice]>([
    ['an added blank', 401, no => wechat.notice(now(), paid(no), { tamper: ' ' })],
    ['the key of another merchant', 401, no => fakeWechat().notice(now(), paid(no))],
    ['another serial', 401, no => wechat.notice(now(), paid(no), { serial: 'S2' })],
    ['a notice of six minutes ago', 401, no => wechat.notice(now() - 360, paid(no))],
    ['a notice from the future', 401, no => wechat.notice(now() + 360, paid(no))],
    ['another mchid', 422, no => wechat.notice(now(), paid(no, { mchid: 'x' }))],
    ['another appid', 422, no => wechat.notice(now(), paid(no, { appid: 'x' }))],
    ['another amount', 422, no => wechat.notice(now(), paid(no, { amount: { total: 1 } }))],
    ['missing fields', 400, no => wechat.notice(now(), { out_trade_no: no })],
  ])('rejects %s with FAIL and changes nothing', async (_, status, make) => {
    const { out_trade_no, show } = await order('wechat')
    const answer = await send('wechat', make(out_trade_no))
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ code: 'FAIL' })
    await apply()
    expect((await show()).map(known => known.status)).toEqual([0])
  })

  test('partial refunds keep the access, a full refund ends it', async () => {
    const { out_trade_no, show } = await order('wechat')
    await send('wechat', wechat.notice(now(), paid(out_trade_no)))
    await apply()
    const back = (out_refund_no: string, refund: number) =>
      wechat.notice(
        now(),
        {
          mchid: '1900',
          transaction_id: `W-${out_trade_no}`,
          out_refund_no,
          refund_status: 'SUCCESS',
          amount: { refund },
        },
        { type: 'REFUND.SUCCESS' },
      )
    await send('wechat', back('a', 400))
    await apply()
    expect((await show())[0]?.status).toBe(1)
    await send('wechat', back('b', 600))
    await send('wechat', back('b', 600))
    await apply()
    expect((await show())[0]?.status).toBe(4)
  })
})

describe('huawei', () => {
  let purchases = 0
  async function purchase() {
    const { out_trade_no, show, user } = await order('huawei')
    const about = { purchaseToken: `token-${++purchases}`, purchaseOrderId: `H-${purchases}` }
    const status = (days: number, more: object = {}, bill: object = {}) =>
      huawei.statuses.set(about.purchaseToken, {
        purchaseToken: about.purchaseToken,
        status: '1',
        expiresTime: (now() + days * DAY) * 1000,
        lastPurchaseOrder: {
          ...about,
          productId: 'vip',
          price: 1000,
          purchaseTime: now() * 1000,
          developerPayload: out_trade_no,
          ...bill,
        },
        renewalInfo: { autoRenewStatusCode: '1' },
        ...more,
      })
    const notify = (type: string, subtype = '', more = {}) =>
      send('huawei', huawei.notice(type, subtype, { ...about, ...more }))
    return { about, status, notify, show, user }
  }

  test('a purchase is queried, booked with Huawei’s end and confirmed; a renewal too', async () => {
    const { about, status, notify, show } = await purchase()
    status(31)
    const answer = await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    expect([answer.status, answer.text]).toEqual([200, ''])
    await apply()
    expect((await show())[0]).toMatchObject({
      status: 1,
      end: now() + 31 * DAY,
      auto_renew: true,
      payment_method: 'huawei',
    })
    expect(huawei.confirmed).toContain(about.purchaseOrderId)
    status(61, {}, { purchaseOrderId: 'H-renewed' })
    await notify('DID_NEW_TRANSACTION', 'DID_RENEW')
    await apply()
    expect(await show()).toHaveLength(1)
    expect((await show())[0]).toMatchObject({ end: now() + 61 * DAY, payment_id: 'H-renewed' })
  })

  test('an interrupted booking still gets Huawei’s end', async () => {
    const { about, status, notify, show } = await purchase()
    status(31)
    const end = now() + 31 * DAY
    await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    let transactions = 0
    const transaction: typeof api.context.mongo.transaction = work => {
      if (++transactions === 2) throw new Error('the primary is gone')
      return api.context.mongo.transaction(work)
    }
    await applyNotices({ ...api.context, mongo: { ...api.context.mongo, transaction } }, run.signal)
    expect((await show())[0]).toMatchObject({ status: 1, payment_id: about.purchaseOrderId })
    expect((await show())[0]?.end).not.toBe(end)
    api.clock.advance(31_000)
    await apply()
    expect((await show())[0]?.end).toBe(end)
    expect(huawei.confirmed).toContain(about.purchaseOrderId)
    expect(await api.context.collections.payments.countDocuments({ payment_id: about.purchaseOrderId })).toBe(1)
  })

  test('does not query a private server without WEBHOOK_ALLOW_PRIVATE, and the notice waits', async () => {
    const before = huawei.requestCount()
    const { status, notify, show } = await purchase()
    status(31)
    await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    const warned: unknown[] = []
    const log = { ...api.context.log, warn: (fields: object) => void warned.push(fields) }
    await applyNotices({ ...api.context, log, post: createGuardedPost({ allowPrivate: false }) }, run.signal)
    expect(huawei.requestCount()).toBe(before)
    expect(warned).toMatchObject([
      { err: { message: expect.stringMatching(/not a public address.*WEBHOOK_ALLOW_PRIVATE/) } },
    ])
    expect((await show()).map(known => known.status)).toEqual([0])
    api.clock.advance(31_000)
    await apply()
    expect((await show()).map(known => known.status)).toEqual([1])
  })

  test.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['a redirect', response => response.writeHead(302, { location: '/elsewhere' }).end(), /answered 302/],
    ['a page', response => response.end('<html>'), /answered 200 with code none/],
    ['an error', response => response.end('{"responseCode":"6"}'), /answered 200 with code 6/],
    ['an endless response', response => response.end('x'.repeat(300_000)), /more than 262144 bytes/],
  ])('rejects %s of the server', async (_, answer, message) => {
    const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const api_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const about = { purchaseToken: 't', purchaseOrderId: 'o' }
    const asked = queryHuawei(api.context.post, { ...huawei.settings, sandbox: '0', api_url }, about, api.clock.now())
    await expect(asked).rejects.toThrow(message)
  })

  test('applies changes after a purchase: renewal off, other end, expired', async () => {
    const { status, notify, show } = await purchase()
    status(30)
    await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    await apply()
    status(30, { renewalInfo: { autoRenewStatusCode: '0' } })
    await notify('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED')
    await apply()
    expect((await show())[0]?.auto_renew).toBe(false)
    status(35)
    await notify('RENEWAL_TIME_MODIFIED')
    await apply()
    expect((await show())[0]?.end).toBe(now() + 35 * DAY)
    status(-1, { status: '2' })
    await notify('EXPIRE', 'VOLUNTARY')
    await apply()
    expect((await show())[0]?.status).toBe(2)
    await notify('RENEWAL_TIME_MODIFIED')
    await apply()
    expect((await show())[0]?.status).toBe(2)
  })

  test('an expiry that arrives after a renewal is ignored', async () => {
    const { status, notify, show } = await purchase()
    status(30)
    await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    await apply()
    status(60, {}, { purchaseOrderId: 'H-late' })
    await notify('DID_NEW_TRANSACTION', 'DID_RENEW')
    await notify('EXPIRE', 'BILLING_RETRY')
    await apply()
    expect((await show())[0]).toMatchObject({ status: 1, end: now() + 60 * DAY })
    expect(await api.context.collections.paymentEvents.findOne({ reason: 'active at Huawei' })).toMatchObject({
      state: 'ignored',
    })
  })

  test.each([
    ['REFUND_TRANSACTION', 4],
    ['', 3],
  ])('a revoked purchase (%s) ends with status %i', async (subtype, status) => {
    const bought = await purchase()
    bought.status(30)
    await bought.notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    await apply()
    await bought.notify('REVOKE', subtype)
    await apply()
    expect((await bought.show())[0]?.status).toBe(status)
  })

  test('a renewal status before its purchase waits', async () => {
    const { status, notify, show } = await purchase()
    status(30, { renewalInfo: { autoRenewStatusCode: '0' } })
    await notify('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED')
    await apply()
    await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    await apply()
    api.clock.advance(31_000)
    await apply()
    expect((await show())[0]).toMatchObject({ status: 1, auto_renew: false })
  })

  test('a purchase with another price than ordered is neither booked nor confirmed', async () => {
    const { about, status, notify, show } = await purchase()
    status(30, {}, { price: 1 })
    await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY')
    await apply()
    expect((await show())[0]?.status).toBe(0)
    expect(huawei.confirmed).not.toContain(about.purchaseOrderId)
  })

  test('test and sandbox notices are accepted and ignored', async () => {
    const { notify } = await purchase()
    expect((await notify('TEST')).status).toBe(200)
    expect((await notify('DID_NEW_TRANSACTION', 'INITIAL_BUY', { environment: 'SANDBOX' })).status).toBe(200)
    expect(await apply()).toBe(0)
  })

  test.each<[string, number, () => SentNotice]>([
    ['version 2', 400, () => ({ body: '{"statusUpdateNotification":"{}"}', headers: {} })],
    ['no JSON', 400, () => ({ body: 'x', headers: {} })],
    ['another application', 422, () => huawei.notice('EXPIRE', '', { applicationId: 'x' })],
    [
      'a root of its own',
      401,
      () => {
        const root = certify({ name: 'Root', ca: true })
        const middle = certify({ name: 'Intermediate', issuer: root, ca: true })
        return huawei.notice('EXPIRE', '', {}, [certify({ name: 'Leaf', issuer: middle, ca: false }), middle, root])
      },
    ],
    [
      'our root after a foreign leaf',
      401,
      () => {
        const foreign = certify({ name: 'Intermediate', ca: true })
        return huawei.notice('EXPIRE', '', {}, [
          certify({ name: 'Leaf', issuer: foreign, ca: false }),
          huawei.intermediate,
          huawei.root,
        ])
      },
    ],
    [
      'a leaf not made for purchases',
      401,
      () => {
        const leaf = certify({ name: 'Leaf', issuer: huawei.intermediate, ca: false })
        return huawei.notice('EXPIRE', '', {}, [leaf, huawei.intermediate, huawei.root])
      },
    ],
    [
      'a leaf that has expired',
      401,
      () => {
        const markOid = '060c2b060104018f5b02831f0101'
        const leaf = certify({
          name: 'L',
          issuer: huawei.intermediate,
          ca: false,
          markOid,
          notAfter: new Date('2021-01-01'),
        })
        return huawei.notice('EXPIRE', '', {}, [leaf, huawei.intermediate, huawei.root])
      },
    ],
  ])('rejects %s', async (_, status, make) => {
    expect((await send('huawei', make())).status).toBe(status)
  })
})

test('a channel without settings and an unknown app reject everything', async () => {
  const made = (await api.call('POST', '/app_manage', { body: { app_name: 'Bare', app_key: 'bare' } })).body.data
  expect(made.app_key).toBe('bare')
  expect((await send('alipay', alipay.notice({}), 'bare')).status).toBe(422)
  expect((await send('alipay', alipay.notice({}), 'nope')).status).toBe(422)
})

test('secrets of channels are never returned', async () => {
  const { text } = await api.call('GET', `/app_manage/${api.demo.id}/channel`)
  expect(text).not.toContain(wechat.settings.api_v3_key)
  expect(text).not.toContain('PRIVATE KEY')
  expect(text).toContain('"api_v3_key":true')
})
