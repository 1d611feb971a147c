/** One attempt to bring an event to its webhook: signed, bounded in time, and recorded as it was sent and answered. */
import type { Clock } from '../clock.ts'
import { failureOf, type GuardedAnswer, type GuardedPost, USER_AGENT } from '../network/guarded-fetch.ts'
import { inEnglish, type Sentence, sentence } from '../sentences/sentence.ts'
import type { AttemptRecord, WebhookEndpoint, WebhookEvent } from './event-queue.ts'
import { retryAfter, signedHeaders } from './rules/standard-webhooks.ts'

/** Longest wait for an answer. */
export const TIMEOUT_MS = 15_000
/** How much of an answer the log keeps. */
const KEPT_BODY_BYTES = 4 * 1024
const KEPT_HEADERS = 30
const KEPT_HEADER_CHARS = 200

/** How an event becomes a request. */
export interface Attempting<W extends WebhookEndpoint, E extends WebhookEvent> {
  clock: Clock
  post: GuardedPost
  /** Opens a sealed secret of a webhook. Throws for one that cannot be opened. */
  open(webhook: W, sealed: string): string
  /** What receivers get as `data`. */
  dataOf(event: E): object
  /** The body of the request, for a webhook in another format than that of Standard Webhooks. */
  bodyOf?(webhook: W, event: E): string | undefined
  /** Prefixes of the headers with the signature, for a webhook that needs others than `webhook`. */
  headersOf?(webhook: W): readonly string[] | undefined
}

/** What an attempt came to. */
export interface AttemptOutcome {
  /** `not_sent`: for a reason of ours, which says nothing about the receiver. */
  kind: 'delivered' | 'failed' | 'gone' | 'not_sent'
  /** An HTTP status, or `reason` in English. */
  result: string
  reason?: Sentence
  /** Milliseconds that the receiver asked to wait. */
  retryAfterMs?: number
  record: AttemptRecord
}

/** The body of the request of an event. */
export function bodyOf<E extends WebhookEvent>({ type, at }: E, data: object): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data })
}

/** Attempts it once; never rejects. */
export async function attemptDelivery<W extends WebhookEndpoint, E extends WebhookEvent>(
  attempting: Attempting<W, E>,
  webhook: W,
  event: E,
): Promise<AttemptOutcome> {
  const { clock, post, dataOf } = attempting
  const at = clock.now()
  const started = performance.now()
  const recordOf = (headers: Record<string, string>, more: Partial<AttemptRecord>): AttemptRecord => ({
    at,
    ms: Math.round(performance.now() - started),
    url: webhook.url,
    headers: Object.entries({ 'user-agent': USER_AGENT, ...headers }),
    ...more,
  })
  const failed = (kind: 'failed' | 'not_sent', reason: Sentence, headers = {}): AttemptOutcome => {
    const result = inEnglish(reason)
    return { kind, result, reason, record: recordOf(headers, { result, reason }) }
  }
  let secrets: string[]
  try {
    secrets = secretsOf(attempting, webhook, at)
  } catch (error) {
    return failed('not_sent', sentence('webhook.no_secret', { error: error instanceof Error ? error.message : '' }))
  }
  const body = attempting.bodyOf?.(webhook, event) ?? bodyOf(event, dataOf(event))
  const seconds = Math.floor(at.getTime() / 1000)
  const headers = signedHeaders(secrets, event._id, seconds, body, attempting.headersOf?.(webhook))
  try {
    const request = { url: webhook.url, headers, body, timeoutMs: TIMEOUT_MS, keepAnswerBytes: KEPT_BODY_BYTES }
    const answer = await post(request)
    return outcomeOf(answer, at, shown => recordOf(headers, shown))
  } catch (error) {
    return failed('failed', failureOf(error), headers)
  }
}

/** The current secret, and the one before until its time is over; without that if it cannot be opened any more. */
function secretsOf<W extends WebhookEndpoint, E extends WebhookEvent>(
  { open }: Attempting<W, E>,
  webhook: W,
  now: Date,
): string[] {
  const { sealed, previous } = webhook
  const current = open(webhook, sealed)
  if (!previous || previous.until <= now) return [current]
  try {
    return [current, open(webhook, previous.sealed)]
  } catch {
    return [current]
  }
}

function outcomeOf(
  { status, text, headers = [], isCut = false }: GuardedAnswer,
  at: Date,
  recordOf: (more: Partial<AttemptRecord>) => AttemptRecord,
): AttemptOutcome {
  const kept = headers
    .slice(0, KEPT_HEADERS)
    .map(([name, value]): [string, string] => [name.slice(0, KEPT_HEADER_CHARS), value.slice(0, KEPT_HEADER_CHARS)])
  const answer = { status, headers: kept, body: text, ...(isCut && { cut: true as const }) }
  const result = String(status)
  if (status >= 200 && status < 300) return { kind: 'delivered', result, record: recordOf({ result, answer }) }
  const reason = reasonOf(status)
  const asked = retryAfter(headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1], at)
  return {
    kind: status === 410 ? 'gone' : 'failed',
    result,
    ...(reason && { reason }),
    ...(asked !== undefined && { retryAfterMs: asked }),
    record: recordOf({ result, answer, ...(reason && { reason }) }),
  }
}

function reasonOf(status: number): Sentence | undefined {
  if (status === 410) return sentence('webhook.gone')
  return status >= 300 && status < 400 ? sentence('webhook.redirect', { status }) : undefined
}
