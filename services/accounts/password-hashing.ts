/** Password hashes: argon2id on the thread pool, off the event loop. */
import { createHash, randomInt } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { createLane } from '../platform/concurrency/fair-limiter.ts'

/** First choice of the OWASP password storage sheet with 19 MiB: t=2, p=1 (about 20 ms here). argon2id is the default. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Made once: what an unknown user's password is compared with. */
let nobody: Promise<string> | undefined

/** New hashes take half of the thread pool at most: logins are checked on it as well. Accounts take turns. */
const hashing = createLane({ atOnce: 2, perKey: 1, waiting: 20 })

/**
 * The argon2id hash in PHC string form, made when it is the turn of `account` (by default of the admin). Throws
 * `rate_limited` while 20 others of the account wait.
 */
export function hashPassword(password: string, account = ''): Promise<string> {
  return hashing(account, () => hash(password, PARAMETERS))
}

/**
 * True when the password fits. Without a hash (no such user) it does the same work against the hash of a random
 * password and says false, so that the time of the answer does not tell which names exist.
 */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  nobody ??= hashPassword(makePassword())
  const fits = await verify(passwordHash ?? (await nobody), password)
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
