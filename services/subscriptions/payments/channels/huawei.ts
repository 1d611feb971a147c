/** Huawei's key event notices, version 3, and the status query that they trigger. */
import { createHash, createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import type { GuardedPost } from '../../../platform/network/guarded-fetch.ts'
import { openJws } from './huawei-jws.ts'
import { type CheckedNotice, NoticeRefused } from './notice.ts'

/** Credentials agreed with Huawei. */
export interface HuaweiSettings {
  application_id: string
  issuer_id: string
  key_id: string
  /** PEM of the server API key (P-256). */
  private_key: string
  /** PEM of the root. */
  root_certificate: string
  api_url: string
  /** 1: sandbox notices are accepted. */
  sandbox: string
}

const payload = z.object({
  notificationType: z.string(),
  notificationSubtype: z.string().default(''),
  notificationRequestId: z.string().min(1).max(128),
  notificationVersion: z.string(),
  notificationMetaData: z
    .object({
      environment: z.string().default(''),
      applicationId: z.string().default(''),
      purchaseToken: z.string().default(''),
      purchaseOrderId: z.string().default(''),
    })
    .default({ environment: '', applicationId: '', purchaseToken: '', purchaseOrderId: '' }),
})

/** Verifies a notice. Rejects with {@link NoticeRefused}, also for version 2, which is signed differently. */
export async function checkHuawei(settings: HuaweiSettings, rawBody: string, now: Date): Promise<CheckedNotice> {
  const jws = z.object({ jwsNotification: z.string() }).safeParse(json(rawBody))
  if (!jws.success) throw new NoticeRefused('malformed', 'no jwsNotification: set the notices to version 3')
  const parsed = payload.safeParse(await openJws(jws.data.jwsNotification, settings.root_certificate, now))
  if (!parsed.success || !/^v?3/.test(parsed.data.notificationVersion))
    throw new NoticeRefused('malformed', 'not a notice of version 3')
  const {
    notificationType: type,
    notificationSubtype: subtype,
    notificationRequestId,
    notificationMetaData: about,
  } = parsed.data
  const checked = (notice: CheckedNotice['notice']) => ({ eventId: notificationRequestId, notice })
  if (type === 'TEST') return checked({ kind: 'ignored', reason: 'test' })
  if (about.applicationId !== settings.application_id)
    throw new NoticeRefused('mismatch', 'applicationId of another app')
  if (about.environment.toUpperCase() === 'SANDBOX' && settings.sandbox !== '1')
    return checked({ kind: 'ignored', reason: 'sandbox' })
  const { purchaseToken, purchaseOrderId } = about
  return checked({ kind: 'changed', type, subtype, purchaseToken, purchaseOrderId })
}

const order = z.object({
  purchaseOrderId: z.string(),
  purchaseToken: z.string(),
  productId: z.string(),
  /** In cents. */
  price: z.int().min(0),
  purchaseTime: z.number(),
  developerPayload: z.string().default(''),
  finishStatus: z.string().default(''),
})
const groupStatus = z.object({
  applicationId: z.string(),
  lastSubscriptionStatus: z.object({
    purchaseToken: z.string(),
    /** 1 active, 2 expired, 3 charging again, 5 revoked, 6 paused. */
    status: z.string(),
    /** Milliseconds. */
    expiresTime: z.number(),
    lastPurchaseOrder: order,
    renewalInfo: z
      .object({ autoRenewStatusCode: z.coerce.string().default('0') })
      .default({ autoRenewStatusCode: '0' }),
  }),
})

/** The state of a subscription at Huawei. */
export type HuaweiStatus = z.output<typeof groupStatus>['lastSubscriptionStatus']

/** Timeout of a request to Huawei, in milliseconds. */
const TIMEOUT_MS = 10_000
/** Largest response in bytes; real ones have some kilobytes. */
const MAX_ANSWER_BYTES = 256 * 1024
const PATH = '/subscription/harmony/v1/application'

/**
 * Queries the state of a subscription. Throws when Huawei does not respond, and {@link NoticeRefused} for a forged
 * response.
 */
export async function queryHuawei(
  post: GuardedPost,
  settings: HuaweiSettings,
  purchase: { purchaseToken: string; purchaseOrderId: string },
  now: Date,
): Promise<HuaweiStatus> {
  const answer = await call(post, settings, `${PATH}/subscription/status/query`, purchase, now)
  const jws = z.object({ jwsSubGroupStatus: z.string() }).parse(answer).jwsSubGroupStatus
  const parsed = groupStatus.safeParse(await openJws(jws, settings.root_certificate, now))
  if (!parsed.success || parsed.data.applicationId !== settings.application_id)
    throw new NoticeRefused('mismatch', 'the status is about something else')
  return parsed.data.lastSubscriptionStatus
}

/** Confirms the delivery of the goods to Huawei; without it the next renewal is not charged. */
export async function confirmHuawei(
  post: GuardedPost,
  settings: HuaweiSettings,
  { purchaseToken, purchaseOrderId }: { purchaseToken: string; purchaseOrderId: string },
  now: Date,
): Promise<void> {
  await call(post, settings, `${PATH}/purchase/shipped/confirm`, { purchaseToken, purchaseOrderId }, now)
}

async function call(
  post: GuardedPost,
  settings: HuaweiSettings,
  path: string,
  fields: object,
  now: Date,
): Promise<unknown> {
  const body = JSON.stringify(fields)
  const { status, text } = await post({
    url: `${settings.api_url}${path}`,
    headers: {
      'content-type': 'application/json; charset=UTF-8',
      authorization: `Bearer ${await tokenFor(settings, body, now)}`,
    },
    body,
    timeoutMs: TIMEOUT_MS,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  })
  const answer = jsonOrNothing(text)
  const code = z.object({ responseCode: z.coerce.string() }).safeParse(answer)
  if (status !== 200 || code.data?.responseCode !== '0')
    throw new Error(`Huawei answered ${status} with code ${code.data?.responseCode ?? 'none'}`)
  return answer
}

/** The token of one request: bound to its body by a digest, valid for an hour. */
async function tokenFor(
  { issuer_id, key_id, application_id, private_key }: HuaweiSettings,
  body: string,
  now: Date,
): Promise<string> {
  const { SignJWT } = await import('jose')
  const iat = Math.floor(now.getTime() / 1000)
  const digest = createHash('sha256').update(body).digest('hex')
  return new SignJWT({ iss: issuer_id, aud: 'iap-v1', iat, exp: iat + 3_600, aid: application_id, digest })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: key_id })
    .sign(createPrivateKey(private_key))
}

function json(text: string): unknown {
  const value = jsonOrNothing(text)
  if (value === undefined) throw new NoticeRefused('malformed', 'not JSON')
  return value
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
