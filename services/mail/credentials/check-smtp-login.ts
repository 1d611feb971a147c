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
import { createTtlCache, type TtlCache } from '../../platform/ttl-cache.ts'
import type { Refused, Submitter } from '../submission/submission.ts'
import { secretFits } from './rules/token.ts'
import type { CredentialDoc } from './store/smtp-credentials.ts'
import { findCredentialByName, touchCredential } from './store/smtp-credentials.ts'

/** Dependencies of {@link SmtpLogins}. */
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
const CACHED = 10_000

/** The logins of one process: at the beginning of a session, and what has become of them later. */
export class SmtpLogins {
  readonly #deps: SmtpLoginDeps
  readonly #accounts: ReturnType<typeof createAccounts>
  readonly #credentials: TtlCache<CredentialDoc | undefined>
  readonly #verified: TtlCache<boolean>
  /** A client that opens twenty connections in parallel makes one guess, not twenty. */
  readonly #guesses: TtlCache<LoginOutcome<CredentialDoc>>
  readonly #noted: TtlCache<boolean>
  readonly #issued = new WeakMap<Submitter, { credential: CredentialDoc; ip: string }>()

  constructor(deps: SmtpLoginDeps) {
    const { db, clock } = deps
    this.#deps = deps
    this.#accounts = createAccounts(db, clock)
    const kept = { max: CACHED, clock }
    this.#credentials = createTtlCache({ ...kept, ttlMs: CREDENTIAL_AGE_MS, isCacheable: () => true })
    this.#verified = createTtlCache({ ...kept, ttlMs: VERIFIED_MS, isCacheable: fits => fits })
    this.#guesses = createTtlCache({ ...kept, ttlMs: VERIFIED_MS, isCacheable: () => false })
    this.#noted = createTtlCache({ ...kept, ttlMs: NOTE_USE_MS, isCacheable: () => true })
  }

  /**
   * Checks a login from an address. Rejects only when the database does not answer; everything else is a value. The
   * reply to a wrong password, an unknown name and a suspended account is the same.
   */
  async logIn(typed: string, password: string, ip: string): Promise<Submitter | Refused> {
    const username = foldUsername(typed)
    const known = await this.#checkKnown(username, password)
    const outcome = known ? this.#counted({ kind: 'ok', value: known }) : await this.#guess(username, password, ip)
    if (outcome.kind === 'limited') return refused('rate_limited', sentence('problem.rate_limited'))
    if (outcome.kind === 'refused') return refused('invalid_login', sentence('problem.invalid_login'))
    const credential = outcome.value
    if (!mayComeFrom(credential, ip)) return refused('network_not_allowed', sentence('problem.network_not_allowed'))
    void this.#noteUse(credential._id)
    return this.#issue(credential, ip)
  }

  /**
   * The permissions of a login from {@link SmtpLogins.logIn} now, at most 2 s old. Refused once it is removed,
   * disabled, suspended, has a new password or may not be used from this network any more. Rejects when the database
   * does not respond.
   */
  async renew(submitter: Submitter): Promise<Submitter | Refused> {
    const { credential: before, ip = '' } = this.#issued.get(submitter) ?? {}
    const now = before && (await this.#recent(before.username))
    const same = now?._id === before?._id && now?.password_hash === before?.password_hash
    if (!now || !same || !(await this.#isOpen(now))) return refused('invalid_login', sentence('detail.login_expired'))
    if (now === before) return submitter
    if (!mayComeFrom(now, ip)) return refused('network_not_allowed', sentence('problem.network_not_allowed'))
    return this.#issue(now, ip)
  }

  /** A password that was right a moment ago is no guess: it is not counted, and a busy client costs no writes. */
  async #checkKnown(username: string, password: string): Promise<CredentialDoc | undefined> {
    const credential = await this.#recent(username)
    const fits = credential && (await this.#verified.peek(this.#verifiedKey(credential, password)))
    return fits && (await this.#isOpen(credential)) ? credential : undefined
  }

  async #guess(username: string, password: string, ip: string): Promise<LoginOutcome<CredentialDoc>> {
    const key = this.#mac([username, password, ip])
    let guarded = false
    const outcome = await this.#guesses.get(key, () => {
      guarded = true
      return this.#deps.limiter.guard(username, ip, () => this.#check(username, password))
    })
    return guarded ? outcome : this.#counted(outcome)
  }

  async #check(username: string, password: string): Promise<CredentialDoc | undefined> {
    const { db, clock } = this.#deps
    const credential = await findCredentialByName(db, username) // fresh, so that a new password works immediately
    if (!credential) {
      await verifyPassword(undefined, password)
      return undefined
    }
    if (fitsPrevious(credential, password, clock.now()) && (await this.#isOpen(credential))) return credential
    const verify = () => verifyPassword(credential.password_hash, password)
    const fits = await this.#verified.get(this.#verifiedKey(credential, password), verify)
    return fits && (await this.#isOpen(credential)) ? credential : undefined
  }

  #recent(username: string): Promise<CredentialDoc | undefined> {
    return this.#credentials.get(username, () => findCredentialByName(this.#deps.db, username))
  }

  async #isOpen({ disabled, user_id }: CredentialDoc): Promise<boolean> {
    return !disabled && !(await this.#accounts.isSuspended(user_id))
  }

  #issue(credential: CredentialDoc, ip: string): Submitter {
    const submitter: Submitter = {
      userId: credential.user_id,
      via: { channel: 'smtp', id: credential._id },
      allowedSenders: credential.allowed_senders,
      messagesPerHour: credential.messages_per_hour,
      ...(credential.fallback_sender && { fallbackSender: credential.fallback_sender }),
      ...(credential.allow_null_sender && { allowNullSender: true }),
    }
    this.#issued.set(submitter, { credential, ip })
    return submitter
  }

  /** The limiter counts the logins that reach it; those that a cache answers are counted here. */
  #counted(outcome: LoginOutcome<CredentialDoc>): LoginOutcome<CredentialDoc> {
    this.#deps.metrics.logins.inc({ channel: 'smtp', outcome: outcome.kind })
    return outcome
  }

  async #noteUse(id: string): Promise<void> {
    const { db, clock, log } = this.#deps
    await this.#noted
      .get(id, () => touchCredential(db, id, clock.now()).then(() => true))
      .catch((error: unknown) => log.warn({ credential: id, err: error }, 'use of a login not noted'))
  }

  /** Holds the stored hash, so that a new password ends what the old one earned. */
  #verifiedKey({ _id, password_hash }: CredentialDoc, password: string): string {
    return this.#mac([_id, password_hash, password])
  }

  /** Cache keys are MACs: no password stays in memory. */
  #mac(parts: readonly string[]): string {
    return this.#deps.secrets.mac('smtp-password', JSON.stringify(parts)).toString('base64')
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
