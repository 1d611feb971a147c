/**
 * `Idempotency-Key`: what is equal in both APIs. Where the key and the answer are stored differs (ADR 82).
 */
import { z } from 'zod'
import { DAY_MS } from '../durations.ts'
import type { ProblemError } from '../problems.ts'
import { requestDigest } from './json-body.ts'
import type { WebContext } from './web-app.ts'

/** How long a key counts, in milliseconds: a repeat gets the answer of the first request. */
export const IDEMPOTENCY_LIFETIME_MS = DAY_MS

/** The request header for a contract; `effect` describes what a repeat does not do. */
export function idempotencyHeader(format: RegExp, effect: string) {
  const description = `A repeat with the same key within 24 hours gets the answer of the first request and ${effect}.`
  return { 'Idempotency-Key': z.string().regex(format).optional().describe(description) }
}

/** A key, and the digest of its query and body. */
export interface IdempotencyKey {
  key: string
  digest: Buffer
}

/**
 * The key of a request; undefined without the header, or with an empty one where the format allows it. Throws the
 * result of `refuse` for an invalid one. Call it after the body was read.
 */
export function readIdempotencyKey(
  context: WebContext,
  format: RegExp,
  refuse: () => ProblemError,
): IdempotencyKey | undefined {
  if (context.headers['idempotency-key'] === undefined) return undefined
  const key = context.get('idempotency-key')
  if (!format.test(key)) throw refuse()
  return key === '' ? undefined : { key, digest: requestDigest(context) }
}
