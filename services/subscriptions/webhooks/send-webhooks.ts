/** Brings events to the webhooks of apps: signed, again with growing waits, never into private networks. */
import { createFairClaims } from '../../platform/concurrency/fair-claims.ts'
import { failureText, type GuardedPost } from '../../platform/network/guarded-fetch.ts'
import type { Subscriptions } from '../context.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { WebhookDoc, WebhookEventDoc } from '../store/documents.ts'
import { webhookPlace } from './manage-webhooks.ts'
import { signedHeaders, waitAfter } from './rules/webhook.ts'
import { claimWebhookEvent, findWebhook, settleWebhookEvent } from './store/webhooks.ts'

/** Longest wait for an answer. */
const TIMEOUT_MS = 15_000
/** An event whose worker died comes back after so long. */
const CLAIM_MS = 60_000
/** So many are under way at once. */
const AT_ONCE = 10
/** An app with so many of them lets others go first: its receiver may be slow. */
const PER_APP = 3
const MAX_RESULT = 200

/** Sends every event that is due; gives the number of tries. */
export async function sendWebhooks(s: Subscriptions, post: GuardedPost, signal: AbortSignal): Promise<number> {
  let tries = 0
  const next = createFairClaims<WebhookEventDoc>({
    claim(except) {
      const now = s.clock.now()
      return claimWebhookEvent(s.c, now, new Date(now.getTime() + CLAIM_MS), except)
    },
    keyOf: ({ app_key: app }) => app,
    perKey: PER_APP,
  })
  const send = async (event: WebhookEventDoc) => {
    tries++
    await sendOne(s, post, event)
  }
  const lane = async () => {
    while (!signal.aborted) if (!(await next(send))) return
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return tries
}

async function sendOne(s: Subscriptions, post: GuardedPost, event: WebhookEventDoc): Promise<void> {
  const webhook = await findWebhook(s.c, event.webhook_id)
  if (!webhook?.enabled) return settleWebhookEvent(s.c, event, { state: 'failed', result: 'the webhook is off' })
  const result = await attempt(s, post, webhook, event).then(
    status => ({ good: status >= 200 && status < 300, text: String(status) }),
    (error: unknown) => ({ good: false, text: failureText(error).slice(0, MAX_RESULT) }),
  )
  if (result.good) return settleWebhookEvent(s.c, event, { state: 'done', result: result.text })
  const wait = waitAfter(event.attempts)
  if (wait === undefined) return settleWebhookEvent(s.c, event, { state: 'failed', result: result.text })
  const due = new Date(s.clock.now().getTime() + wait)
  return settleWebhookEvent(s.c, event, { state: 'waiting', result: result.text, due })
}

/** Resolves with the status of the answer; rejects also for a secret that cannot be opened, which may come back. */
async function attempt(
  s: Subscriptions,
  post: GuardedPost,
  { _id, url, sealed }: WebhookDoc,
  event: WebhookEventDoc,
): Promise<number> {
  const secret = s.secrets.open('app-secret', webhookPlace(_id), sealed)
  const body = JSON.stringify({
    type: event.type,
    timestamp: event.at.toISOString(),
    data: { app_key: event.app_key, ...event.data },
  })
  const headers = signedHeaders(secret, event._id, secondsOf(s.clock.now()), body)
  return (await post({ url, headers, body, timeoutMs: TIMEOUT_MS })).status
}
