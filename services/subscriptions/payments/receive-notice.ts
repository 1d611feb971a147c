/** Intake of notices of payment channels: verified, compared with the order and stored before the reply. */

import { findApp } from '../catalogue/store/apps.ts'
import type { Subscriptions } from '../context.ts'
import { secondsOf } from '../rules/time-zone.ts'
import { type ChannelName, loadChannel } from './channel-settings.ts'
import { checkAlipay } from './channels/alipay.ts'
import { checkHuawei } from './channels/huawei.ts'
import { type CheckedNotice, NoticeRefused } from './channels/notice.ts'
import { checkWechat } from './channels/wechat.ts'
import { findOrder } from './store/orders.ts'
import { insertEvent } from './store/payment-events.ts'

/** A notice as received. */
export interface RawNotice {
  channel: ChannelName
  appKey: string
  body: string
  header(name: string): string
}

/** Stored now, stored before, or not relevant. */
export type Received = 'accepted' | 'repeated' | 'ignored'

/** Receives a notice. Throws {@link NoticeRefused} for an invalid signature or a mismatch with its order. */
export async function receiveNotice(context: Subscriptions, raw: RawNotice): Promise<Received> {
  const { eventId, notice } = await check(context, raw)
  if (notice.kind === 'ignored') return 'ignored'
  if (notice.kind === 'paid') await compare(context, raw, notice)
  const now = context.clock.now()
  const stored = await insertEvent(context.collections, {
    _id: `${raw.channel}/${raw.appKey}/${eventId}`,
    app_key: raw.appKey,
    channel: raw.channel,
    notice,
    state: 'waiting',
    attempts: 0,
    due: now,
    received_at: now,
  })
  return stored ? 'accepted' : 'repeated'
}

async function check(context: Subscriptions, { channel, appKey, body, header }: RawNotice): Promise<CheckedNotice> {
  if (!(await findApp(context.collections, appKey))) throw new NoticeRefused('mismatch', 'there is no such app')
  const now = context.clock.now()
  const off = () => new NoticeRefused('mismatch', 'the channel is not set up')
  if (channel === 'alipay') {
    const settings = await loadChannel(context, appKey, channel)
    if (!settings) throw off()
    return checkAlipay(settings, body)
  }
  if (channel === 'wechat') {
    const settings = await loadChannel(context, appKey, channel)
    if (!settings) throw off()
    const headers = {
      serial: header('wechatpay-serial'),
      signature: header('wechatpay-signature'),
      timestamp: header('wechatpay-timestamp'),
      nonce: header('wechatpay-nonce'),
    }
    return checkWechat(settings, headers, body, secondsOf(now))
  }
  const settings = await loadChannel(context, appKey, channel)
  if (!settings) throw off()
  return checkHuawei(settings, body, now)
}

/** A payment must match the order: same number, channel and amount. */
async function compare(
  context: Subscriptions,
  { appKey, channel }: RawNotice,
  { outTradeNo, amountCents }: { outTradeNo: string; amountCents: number },
): Promise<void> {
  const order = await findOrder(context.collections, appKey, outTradeNo)
  if (!order || order.method !== channel) throw new NoticeRefused('mismatch', 'there is no such order')
  if (order.amount_cents !== amountCents) throw new NoticeRefused('mismatch', 'the amount differs from the order')
}
