/** Brings events to webhooks: signed, again with growing waits, never into private networks. */
import type { Clock } from '../clock.ts'
import { createFairClaims } from '../concurrency/fair-claims.ts'
import { MINUTE_MS } from '../durations.ts'
import { failureText, type GuardedPost } from '../network/guarded-fetch.ts'
import {
  claimEvent,
  findWebhook,
  ownerOf,
  settleEvent,
  type WebhookEndpoint,
  type WebhookEvent,
  type WebhookStore,
} from './event-queue.ts'
import { signedHeaders, waitAfter } from './rules/standard-webhooks.ts'

/** Longest wait for an answer. */
const TIMEOUT_MS = 15_000
/** An event whose worker stopped becomes due again after this time. */
const CLAIM_MS = MINUTE_MS
/** Parallel requests of a process. */
const AT_ONCE = 10
/** An owner with as many requests under way lets others go first: its receiver may be slow. */
const PER_OWNER = 3
const MAX_RESULT = 200

/** Dependencies of {@link sendEvents}. */
export interface Sending<W extends WebhookEndpoint, E extends WebhookEvent> {
  store: WebhookStore<W, E>
  clock: Clock
  post: GuardedPost
  /** The secret of a webhook. Throws for one that cannot be opened; its events wait like those of a receiver that is down. */
  secretOf(webhook: W): string
  /** What receivers get as `data`. */
  dataOf(event: E): object
}

/** Sends all due events; returns the number of attempts. */
export async function sendEvents<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  signal: AbortSignal,
): Promise<number> {
  const { store, clock } = sending
  let tries = 0
  const next = createFairClaims<E>({
    claim(except) {
      const now = clock.now()
      return claimEvent(store, now, new Date(now.getTime() + CLAIM_MS), except)
    },
    keyOf: event => ownerOf(store, event),
    perKey: PER_OWNER,
  })
  const send = async (event: E) => {
    tries++
    await sendOne(sending, event)
  }
  const runner = async () => {
    while (!signal.aborted) if (!(await next(send))) return
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runner))
  return tries
}

async function sendOne<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  event: E,
): Promise<void> {
  const { store, clock } = sending
  const webhook = await findWebhook(store, event.webhook_id)
  if (!webhook?.enabled) return settleEvent(store, event, { state: 'failed', result: 'the webhook is off' })
  const { good, result } = await attempt(sending, webhook, event).then(
    status => ({ good: status >= 200 && status < 300, result: String(status) }),
    (error: unknown) => ({ good: false, result: failureText(error).slice(0, MAX_RESULT) }),
  )
  if (good) return settleEvent(store, event, { state: 'done', result })
  const wait = waitAfter(event.attempts)
  if (wait === undefined) return settleEvent(store, event, { state: 'failed', result })
  return settleEvent(store, event, { state: 'waiting', result, due: new Date(clock.now().getTime() + wait) })
}

/** Resolves with the status of the answer; rejects when there is none, or without a secret. */
async function attempt<W extends WebhookEndpoint, E extends WebhookEvent>(
  { post, clock, secretOf, dataOf }: Sending<W, E>,
  webhook: W,
  event: E,
): Promise<number> {
  const secret = secretOf(webhook)
  const body = JSON.stringify({ type: event.type, timestamp: event.at.toISOString(), data: dataOf(event) })
  const headers = signedHeaders(secret, event._id, Math.floor(clock.now().getTime() / 1000), body)
  return (await post({ url: webhook.url, headers, body, timeoutMs: TIMEOUT_MS })).status
}
