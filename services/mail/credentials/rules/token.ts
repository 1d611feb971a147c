/** The text form of API tokens: `pw_live_<id>_<secret>` and `pw_test_<id>_<secret>`. */
import { createHash, timingSafeEqual } from 'node:crypto'

/** A token taken apart; `id` is the `_id` of its document. */
export interface TokenParts {
  mode: 'live' | 'test'
  id: string
  secret: string
}

/** Id in the alphabet of platform/ids.ts, secret of 32 bytes in base64url. */
const FORM = /^pw_(?<mode>live|test)_(?<id>[0-9a-hjkmnp-tv-z]{26})_(?<secret>[\w-]{43})$/

/** The complete token; exists only in the response that creates it. */
export function formatToken({ mode, id, secret }: TokenParts): string {
  return `${tokenPrefix(mode, id)}_${secret}`
}

/** The part that lists show. */
export function tokenPrefix(mode: TokenParts['mode'], id: string): string {
  return `pw_${mode}_${id.replace(/^key_/, '')}`
}

/** Takes a token apart; undefined when it has another form. */
export function parseToken(value: string): TokenParts | undefined {
  const groups = FORM.exec(value)?.groups
  if (!groups?.id || !groups.secret) return undefined
  return { mode: groups.mode === 'test' ? 'test' : 'live', id: `key_${groups.id}`, secret: groups.secret }
}

/** What is stored of a secret: SHA-256 in hex. 256 random bits need no slow hash. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Compares a secret with a stored hash in constant time. */
export function secretFits(secret: string, storedHash: string): boolean {
  const given = Buffer.from(hashSecret(secret))
  const stored = Buffer.from(storedHash)
  return given.length === stored.length && timingSafeEqual(given, stored)
}
