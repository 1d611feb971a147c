/** Secrets of webhooks: made here, stored sealed, shown once. */
import { randomBytes } from 'node:crypto'
import { ROTATION_MS, SECRET_PREFIX } from './rules/standard-webhooks.ts'

/** A new secret of Standard Webhooks. */
export function makeSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64')
}

/** A new secret, and what it changes in its webhook. */
export interface Rotation {
  secret: string
  change: { sealed: string; previous: { sealed: string; until: Date }; updated_at: Date }
}

/** Replaces a secret; the one before signs as well for a day. Repeated within the day, only the last two sign. */
export function rotateSecret(before: { sealed: string }, seal: (secret: string) => string, now: Date): Rotation {
  const secret = makeSecret()
  const previous = { sealed: before.sealed, until: new Date(now.getTime() + ROTATION_MS) }
  return { secret, change: { sealed: seal(secret), previous, updated_at: now } }
}
