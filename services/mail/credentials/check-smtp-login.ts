/** SMTP AUTH: checks a submission login, the same way and with the same work whether the name exists or not. */

import { createAccounts } from '../../accounts/account-status.ts'
import type { LoginLimiter, LoginOutcome } from '../../accounts/login-limiter.ts'
import { verifyPassword } from '../../accounts/password-hashing.ts'
import { foldUsername } from '../../accounts/rules/username.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { inNetwork } from '../../platform/network/ip-networks.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import type { Refused, Submitter } from '../submission/submission.ts'
import { secretFits } from './rules/token.ts'
import type { CredentialDoc } from './store/smtp-credentials.ts'
import { findCredentialByName, touchCredential } from './store/smtp-credentials.ts'

/**
 * Checks a login from an address. Rejects only when the database does not answer; everything else is a value. The
 * reply to a wrong password, an unknown name and a suspended account is the same.
 */
export type SmtpLogin = (username: string, password: string, ip: string) => Promise<Submitter | Refused>

/** Logins at the beginning of a session, and what has become of them later. */
export interface SmtpLogins {
  logIn: SmtpLogin
  /**
   * The permissions of a login from {@link SmtpLogins.logIn} now, at most 2 s old. Refused once it is removed,
   * disabled, suspended, has a new password or may not be used from this network any more. Rejects when the database
   * does not respond.
   */
  renew(submitter: Submitter): Promise<Submitter | Refused>
}

/** What the check needs. */
export interface SmtpLoginDeps {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  secrets: Secrets
  /** Made with channel `smtp`. */
  limiter: LoginLimiter
}

/** How long a right password is not hashed again: clients open a connection for each message, and argon2 costs 20 ms. */
const VERIFIED_MS = 60_000
/** Oldest credential that a known login relies on: a removal or a change holds after this time in every process. */
const CREDENTIAL_AGE_MS = 2_000
const NOTE_USE_MS = 60_000

/** The check of one process. */
export function createSmtpLogin({ db, clock, log, metrics, secrets, limiter }: SmtpLoginDeps): SmtpLogins {
  const accounts = createAccounts(db, clock)
  const cache = createTtlCache<CredentialDoc | undefined>({
    ttlMs: CREDENTIAL_AGE_MS,
    max: 10_000,
    clock,
    isCacheable: () => true,
  })
  const verified = createTtlCache<boolean>({ ttlMs: VERIFIED_MS, max: 10_000, clock, isCacheable: fits => fits })
  /** A client that opens twenty connections in parallel makes one guess, not twenty. */
  const guesses = createTtlCache<LoginOutcome<CredentialDoc>>({
    ttlMs: VERIFIED_MS,
    max: 10_000,
    clock,
    isCacheable: () => false,
  })
  const noted = createTtlCache<boolean>({ ttlMs: NOTE_USE_MS, max: 10_000, clock, isCacheable: () => true })

  /** The key holds the stored hash, so that a new password ends what the old one earned; the password only goes into the MAC. */
  const cacheKey = ({ _id, password_hash }: CredentialDoc, password: string) =>
    secrets.mac('smtp-password', JSON.stringify([_id, password_hash, password])).toString('base64')

  const isOpen = async ({ disabled, user_id }: CredentialDoc) => !disabled && !(await accounts.isSuspended(user_id))

  /** A password that was right a moment ago is no guess: it is not counted, and a busy client costs no writes. */
  async function checkKnown(username: string, password: string): Promise<CredentialDoc | undefined> {
    const credential = await cache.get(username, () => findCredentialByName(db, username))
    const fits = credential && (await verified.peek(cacheKey(credential, password)))
    return fits && (await isOpen(credential)) ? credential : undefined
  }

  async function check(username: string, password: string): Promise<CredentialDoc | undefined> {
    const credential = await findCredentialByName(db, username) // fresh, so that a new password works immediately
    if (!credential) {
      await verifyPassword(undefined, password)
      return undefined
    }
    if (fitsPrevious(credential, password, clock.now()) && (await isOpen(credential))) return credential
    const verify = () => verifyPassword(credential.password_hash, password)
    const fits = await verified.get(cacheKey(credential, password), verify)
    return fits && (await isOpen(credential)) ? credential : undefined
  }

  async function logIn(username: string, password: string, ip: string): Promise<LoginOutcome<CredentialDoc>> {
    const credential = await checkKnown(username, password)
    if (credential) return counted({ kind: 'ok', value: credential })
    const guess = secrets.mac('smtp-password', JSON.stringify([username, password, ip])).toString('base64')
    let guarded = false
    const outcome = await guesses.get(guess, () => {
      guarded = true
      return limiter.guard(username, ip, () => check(username, password))
    })
    return guarded ? outcome : counted(outcome)
  }

  /** The limiter counts the logins that reach it; those that a cache answers are counted here. */
  function counted(outcome: LoginOutcome<CredentialDoc>): LoginOutcome<CredentialDoc> {
    metrics.logins.inc({ channel: 'smtp', outcome: outcome.kind })
    return outcome
  }

  const noteUse = (id: string) =>
    noted
      .get(id, () => touchCredential(db, id, clock.now()).then(() => true))
      .catch((error: unknown) => log.warn({ credential: id, err: error }, 'use of a login not noted'))

  const issued = new WeakMap<Submitter, { credential: CredentialDoc; ip: string }>()
  const issue = (credential: CredentialDoc, ip: string): Submitter => {
    const submitter: Submitter = {
      userId: credential.user_id,
      via: { channel: 'smtp', id: credential._id },
      allowedSenders: credential.allowed_senders,
      messagesPerHour: credential.messages_per_hour,
      ...(credential.fallback_sender && { fallbackSender: credential.fallback_sender }),
      ...(credential.allow_null_sender && { allowNullSender: true }),
    }
    issued.set(submitter, { credential, ip })
    return submitter
  }

  return {
    async logIn(typed, password, ip) {
      const username = foldUsername(typed)
      const outcome = await logIn(username, password, ip)
      if (outcome.kind === 'limited') return refused('rate_limited', sentence('problem.rate_limited'))
      if (outcome.kind === 'refused') return refused('invalid_login', sentence('problem.invalid_login'))
      const credential = outcome.value
      if (!mayComeFrom(credential, ip)) return refused('network_not_allowed', sentence('problem.network_not_allowed'))
      void noteUse(credential._id)
      return issue(credential, ip)
    },
    async renew(submitter) {
      const { credential: before, ip = '' } = issued.get(submitter) ?? {}
      const now = before && (await cache.get(before.username, () => findCredentialByName(db, before.username)))
      const same = now?._id === before?._id && now?.password_hash === before?.password_hash
      if (!now || !same || !(await isOpen(now))) return refused('invalid_login', sentence('detail.login_expired'))
      if (now === before) return submitter
      if (!mayComeFrom(now, ip)) return refused('network_not_allowed', sentence('problem.network_not_allowed'))
      return issue(now, ip)
    },
  }
}

/** True for the password before a rotation, while it is valid. It takes microseconds, so its time reveals nothing. */
function fitsPrevious({ previous }: CredentialDoc, password: string, now: Date): boolean {
  return previous !== undefined && previous.until > now && secretFits(password, previous.sha256)
}

function mayComeFrom({ allowed_cidrs: networks }: CredentialDoc, ip: string): boolean {
  return networks.length === 0 || networks.some(network => inNetwork(ip, network))
}

function refused(code: Refused['code'], detail: Sentence): Refused {
  return { kind: 'refused', code, detail }
}
