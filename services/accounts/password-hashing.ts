/** Password hashes: argon2id on the thread pool, off the event loop. */
import { createHash, randomInt } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { createFairLimiter } from '../platform/concurrency/fair-limiter.ts'

/**
 * First choice of the OWASP password storage cheat sheet with 19 MiB: t=2, p=1 (about 20 ms here). argon2id is the
 * default.
 */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Made once: what an unknown user's password is compared with. */
let placeholderHash: Promise<string> | undefined

/** New hashes use at most half of the thread pool, which logins need as well. Accounts take turns. */
const hashing = createFairLimiter({ atOnce: 2, perKey: 1, waiting: 20 })

/**
 * The argon2id hash in PHC string form, computed when it is the turn of `account` (by default of the admin). Throws
 * `rate_limited` while 20 others of the account wait.
 */
export function hashPassword(password: string, account = ''): Promise<string> {
  return hashing(account, () => hash(password, PARAMETERS))
}

/**
 * True when the password matches. Without a hash (no such user) it does the same work against the hash of a random
 * password and returns false, so that the response time does not reveal which names exist.
 */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  placeholderHash ??= hashPassword(makePassword())
  const fits = await verify(passwordHash ?? (await placeholderHash), password)
  return fits && passwordHash !== undefined
}

/** What a session remembers of the password under which it was opened: with the password the session ends. */
export function passwordMark(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url')
}

/** Letters and digits that cannot be taken for each other when read aloud or typed. */
const READABLE = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** A random password of 24 readable characters (about 139 bits). */
export function makePassword(): string {
  return Array.from({ length: 24 }, () => READABLE.charAt(randomInt(READABLE.length))).join('')
}
