/** WeChat Pay's notices, API v3: JSON signed over time, nonce and raw body, with an encrypted resource. */
import { createDecipheriv, createVerify } from 'node:crypto'
import { z } from 'zod'
import { type CheckedNotice, type Notice, NoticeRefused } from './notice.ts'

/** Credentials agreed with WeChat Pay. */
export interface WechatSettings {
  mchid: string
  appid: string
  serial: string
  /** PEM. */
  public_key: string
  /** 32 bytes. */
  api_v3_key: string
}

/** The headers of the signature. */
export interface WechatHeaders {
  serial: string
  signature: string
  timestamp: string
  nonce: string
}

/** Largest difference between the time of a notice and now, in seconds, in both directions. */
const MAX_SKEW = 300
const TAG_BYTES = 16

const envelope = z.object({
  id: z.string().min(1).max(128),
  event_type: z.string(),
  resource: z.object({
    algorithm: z.literal('AEAD_AES_256_GCM'),
    ciphertext: z.string(),
    nonce: z.string(),
    associated_data: z.string().default(''),
  }),
})
const transaction = z.object({
  mchid: z.string(),
  appid: z.string(),
  out_trade_no: z.string(),
  transaction_id: z.string(),
  trade_state: z.literal('SUCCESS'),
  success_time: z.string(),
  amount: z.object({ total: z.int().min(0) }),
})
const refund = z.object({
  mchid: z.string(),
  transaction_id: z.string(),
  out_refund_no: z.string(),
  refund_status: z.string(),
  amount: z.object({ refund: z.int().min(0) }),
})

/** Verifies the raw bytes of a notice. Throws {@link NoticeRefused}. */
export function checkWechat(
  settings: WechatSettings,
  headers: WechatHeaders,
  rawBody: string,
  nowSeconds: number,
): CheckedNotice {
  if (headers.serial !== settings.serial) throw new NoticeRefused('forged', 'signed by an unknown key')
  if (!/^\d{1,11}$/.test(headers.timestamp)) throw new NoticeRefused('malformed', 'the time stamp is no number')
  const verifier = createVerify('RSA-SHA256').update(`${headers.timestamp}\n${headers.nonce}\n${rawBody}\n`)
  if (!verifier.verify(settings.public_key, headers.signature, 'base64'))
    throw new NoticeRefused('forged', 'the signature does not fit')
  if (Math.abs(nowSeconds - Number(headers.timestamp)) > MAX_SKEW)
    throw new NoticeRefused('late', 'the time stamp is old')
  const { id, event_type, resource } = parse(envelope, rawBody)
  return { eventId: id, notice: noticeOf(settings, event_type, decrypt(settings.api_v3_key, resource)) }
}

function noticeOf({ mchid, appid }: WechatSettings, type: string, plain: string): Notice {
  if (type.startsWith('REFUND.')) {
    const back = parse(refund, plain)
    if (back.mchid !== mchid) throw new NoticeRefused('mismatch', 'mchid of another merchant')
    if (back.refund_status !== 'SUCCESS') return { kind: 'ignored', reason: back.refund_status }
    const { transaction_id: paymentId, out_refund_no: refundId, amount } = back
    return { kind: 'refunded', paymentId, refundId, amountCents: amount.refund, cumulative: false }
  }
  if (type !== 'TRANSACTION.SUCCESS') return { kind: 'ignored', reason: type }
  const paid = parse(transaction, plain)
  if (paid.mchid !== mchid || paid.appid !== appid)
    throw new NoticeRefused('mismatch', 'mchid or appid of another merchant')
  const paidAt = Date.parse(paid.success_time)
  return {
    kind: 'paid',
    outTradeNo: paid.out_trade_no,
    paymentId: paid.transaction_id,
    amountCents: paid.amount.total,
    paidAt: Number.isNaN(paidAt) ? 0 : Math.floor(paidAt / 1000),
  }
}

function decrypt(key: string, resource: z.output<typeof envelope>['resource']): string {
  const bytes = Buffer.from(resource.ciphertext, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, resource.nonce)
    decipher.setAAD(Buffer.from(resource.associated_data))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    throw new NoticeRefused('forged', 'the resource cannot be decrypted')
  }
}

function parse<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new NoticeRefused('malformed', 'not JSON')
  }
  const result = schema.safeParse(value)
  if (!result.success) throw new NoticeRefused('malformed', 'fields are missing')
  return result.data
}
