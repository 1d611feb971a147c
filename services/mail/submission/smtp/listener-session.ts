/** One SMTP session: login, envelope and message. */

import type { SMTPServerAddress, SMTPServerDataStream } from 'smtp-server'
import type { MemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { ProblemCode } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { needsSmtpUtf8, normaliseEmail } from '../../message/address.ts'
import type { Accept, Accepted, OpenRest, Refused, Submitter } from '../submission.ts'
import type { SubmissionConnection } from './listener-connection.ts'
import { closeWithReply, problemOf, toSubmission } from './listener-replies.ts'
import { receiveMessage } from './receive.ts'

/** Bounds of a session; times in milliseconds. */
export interface SessionLimits {
  /** From the greeting to a login. */
  loginMs: number
  /** Complete session after the login. */
  sessionMs: number
  /** Failed logins on one connection. */
  loginFailures: number
  /** A message that came slower than this over the last `dataWindowMs` is cut. */
  bytesPerSecond: number
  dataWindowMs: number
  /** At the stop: how long a session that has begun a message may take to come to its content. */
  envelopeMs: number
  /** Memory for messages that are coming in, over all connections; one account gets half of it at most. */
  receivingBytes: number
}

/** Dependencies of a {@link Session}. */
export interface SessionOptions {
  log: Log
  accept: Accept
  /** Stores what is too large to be held while it comes in. */
  openRest: OpenRest
  /** False while the database is known to be away: then no reply waits for it. */
  isUp(): boolean
  /** Rejects only when the database does not answer. */
  checkLogin(username: string, password: string, ip: string): Promise<Submitter | Refused>
  /** What a login may do now; asked before each message. Rejects only when the database does not answer. */
  renewLogin(submitter: Submitter): Promise<Submitter | Refused>
  /** Validates an envelope sender ahead of the message. Rejects only when the database does not answer. */
  validateSender(submitter: Submitter, mailFrom: string): Promise<Refused | undefined>
  maxMessageBytes: number
  limits: SessionLimits
}

/** Longest wait for the database before a reply. */
const LOOKUP_MS = 5_000
/** A login also hashes a password, and waits for others that do. */
const LOGIN_MS = 15_000

/** Parameters of what EHLO offers: SIZE, 8BITMIME, SMTPUTF8, DSN and AUTH. */
const MAIL_PARAMETERS = ['SIZE', 'BODY', 'SMTPUTF8', 'RET', 'ENVID', 'AUTH']
const RCPT_PARAMETERS = ['NOTIFY', 'ORCPT']

/** One connection and what is known of it. */
export class Session {
  /** A message that comes in may be cut when the time is over; one that is being stored gets its answer. */
  #state: 'idle' | 'receiving' | 'storing' = 'idle'
  /** MAIL FROM is being validated: the library does not know the sender yet. */
  #isBeginning = false
  #submitter: Submitter | undefined
  #accepted = 0
  #refused = 0
  #loginFailures = 0
  readonly #connection: SubmissionConnection
  readonly #options: SessionOptions
  readonly #budget: MemoryBudget
  readonly #openedAt = performance.now()
  #deadline: NodeJS.Timeout | undefined
  #goodbye: ProblemCode | undefined

  /** `budget`: memory for messages that are coming in, shared by all sessions. */
  constructor(connection: SubmissionConnection, options: SessionOptions, budget: MemoryBudget) {
    this.#connection = connection
    this.#options = options
    this.#budget = budget
    this.#setDeadline(options.limits.loginMs)
  }

  /** AUTH. Never rejects. */
  async logIn(username: string, password: string): Promise<Submitter | Refused> {
    const { log, isUp, checkLogin, limits } = this.#options
    if (!isUp()) return problemOf('login_unavailable')
    try {
      const result = await withTimeout(LOGIN_MS, checkLogin(username, password, this.#connection.remoteAddress))
      if ('kind' in result) this.#loginFailures++
      else {
        this.#submitter = result
        this.#setDeadline(limits.sessionMs)
      }
      return result
    } catch (error) {
      log.warn({ err: error, session: this.#connection.id }, 'login not checked')
      return problemOf('login_unavailable')
    }
  }

  /** True when the connection has had as many failed logins as it may. */
  get hasTooManyLogins(): boolean {
    return this.#loginFailures >= this.#options.limits.loginFailures
  }

  /** MAIL FROM: asks whether the login still holds and may send as this address. Never rejects. */
  async beginMessage(sender: SMTPServerAddress): Promise<Refused | undefined> {
    this.#isBeginning = true
    return withTimeout(LOOKUP_MS, this.#validateSender(sender))
      .catch(() => problemOf('queue_unavailable'))
      .finally(() => {
        this.#isBeginning = false
      })
  }

  /** RCPT TO. */
  validateRecipient({ address, args }: SMTPServerAddress, smtpUtf8: boolean | undefined): Refused | undefined {
    if (!this.#submitter) return problemOf('authentication_required')
    const unknown = unknownParameter(args, RCPT_PARAMETERS)
    if (unknown) return unknown
    const email = normaliseEmail(address)
    const fits = email !== undefined && (smtpUtf8 || !needsSmtpUtf8(email))
    return fits ? undefined : problemOf('bad_recipient')
  }

  /** DATA: receives and submits one message. Undefined when no client is left to answer. */
  async takeMessage(stream: SMTPServerDataStream): Promise<Accepted | Refused | undefined> {
    const { accept, openRest } = this.#options
    const submitter = this.#submitter
    if (!submitter) return undefined
    this.#state = 'receiving'
    const toMessage = (raw: Buffer) => toSubmission(submitter, this.#connection.session, raw)
    const received = await receiveMessage(stream, this.#receiveLimits(submitter), head => openRest(toMessage(head)))
    if (received.kind === 'cut') closeWithReply(this.#connection, received.code)
    if (received.kind === 'refused') {
      this.#refused++
      return problemOf(received.code)
    }
    if (received.kind !== 'complete') return undefined
    this.#state = 'storing'
    const rest = received.rest?.finish()
    const answer = await accept({ ...toMessage(received.raw), ...(rest && { rest }) })
    received.release()
    if (answer.kind === 'accepted') this.#accepted++
    else this.#refused++
    return answer
  }

  /** The message under way is answered. */
  answered(): void {
    this.#state = 'idle'
    if (this.#goodbye) closeWithReply(this.#connection, this.#goodbye)
  }

  /** Ends the session now, or, while one of these states lasts, after the reply to the message. */
  end(code: ProblemCode, ...unless: ('idle' | 'receiving' | 'storing' | 'envelope')[]): void {
    const state = this.#state === 'idle' && this.#hasEnvelope() ? 'envelope' : this.#state
    if (unless.includes(state)) this.#goodbye = code
    else closeWithReply(this.#connection, code)
  }

  /** Stops the clock and returns the fields of the session's log line. */
  close(): object {
    clearTimeout(this.#deadline)
    return {
      session: this.#connection.id,
      ip: this.#connection.remoteAddress,
      user: this.#submitter?.userId,
      login: this.#submitter?.via.id,
      accepted: this.#accepted,
      refused: this.#refused,
      login_failures: this.#loginFailures,
      ms: Math.round(performance.now() - this.#openedAt),
    }
  }

  async #validateSender({ address, args }: SMTPServerAddress): Promise<Refused | undefined> {
    const { isUp, renewLogin, validateSender } = this.#options
    if (!this.#submitter) return problemOf('authentication_required')
    const unknown = unknownParameter(args, MAIL_PARAMETERS)
    if (unknown) return unknown
    if (!isUp()) return problemOf('queue_unavailable')
    const renewed = await renewLogin(this.#submitter)
    if ('kind' in renewed) return renewed
    this.#submitter = renewed
    return validateSender(renewed, address)
  }

  #receiveLimits({ userId }: Submitter) {
    const { maxMessageBytes: maxBytes, limits } = this.#options
    const { bytesPerSecond, dataWindowMs: windowMs } = limits
    return { maxBytes, bytesPerSecond, windowMs, budget: this.#budget, account: userId }
  }

  /** MAIL FROM was accepted, or is about to be: the message that belongs to it is on its way. */
  #hasEnvelope(): boolean {
    return this.#isBeginning || Boolean(this.#connection.session.envelope?.mailFrom)
  }

  #setDeadline(ms: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.end('too_slow', 'storing'), ms).unref()
  }
}

/** A client that asks for what is not done here must hear so (RFC 5321 4.1.1.11); the library lets it pass. */
function unknownParameter(args: SMTPServerAddress['args'], known: readonly string[]): Refused | undefined {
  const name = Object.keys(args || {}).find(key => !known.includes(key))
  if (name === undefined) return undefined
  return {
    kind: 'refused',
    code: 'unknown_parameter',
    detail: sentence('detail.smtp_parameter', { name: name.slice(0, 40) }),
  }
}
