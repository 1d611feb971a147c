/** Standard Webhooks 1.0.0: signatures and retry times of events. */
import { createHmac } from 'node:crypto'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../durations.ts'

/** Pauses between attempts, as Standard Webhooks recommends. */
const WAITS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS],
]

/** How long to wait after this many failed tries, in milliseconds; undefined: the event has failed. */
export function waitAfter(attempts: number): number | undefined {
  return WAITS_MS[attempts - 1]
}

/** Marks a secret of Standard Webhooks; base64 follows. */
export const SECRET_PREFIX = 'whsec_'

/** The headers of a request: HMAC-SHA256 over `id.timestamp.body`. `timestamp` is in seconds. */
export function signedHeaders(secret: string, id: string, timestamp: number, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}
