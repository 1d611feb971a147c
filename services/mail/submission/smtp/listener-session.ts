/** SMTP sessions: login, envelope and message, each step judged by what is handed in. */
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerOptions } from 'smtp-server'
import { createMemoryBudget, type MemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import { within } from '../../../platform/concurrency/timeout.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { ProblemCode } from '../../../platform/problems.ts'
import { needsSmtpUtf8, normaliseEmail } from '../../message/address.ts'
import type { Accept, Accepted, OpenRest, Refused, Submitter } from '../submission.ts'
import type { SubmissionConnection } from './listener-connection.ts'
import { problemOf, sayGoodbye, toError, toSubmission } from './listener-replies.ts'
import { receiveMessage } from './receive.ts'

/** Bounds of a session; times in milliseconds. */
export interface SessionLimits {
  /** From the greeting to a login. */
  loginMs: number
  /** Whole session after the login. */
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

/** What sessions need. */
export interface SessionOptions {
  log: Log
  accept: Accept
  /** Stores what is too large to be held while it comes in. */
  openRest: OpenRest
  /** False while the database is known to be away: then nobody waits for it. */
  isUp(): boolean
  /** Rejects only when the database does not answer. */
  checkLogin(username: string, password: string, ip: string): Promise<Submitter | Refused>
  /** What a login may do now; asked before each message. Rejects only when the database does not answer. */
  renewLogin(submitter: Submitter): Promise<Submitter | Refused>
  /** Judges an envelope sender ahead of the message. Rejects only when the database does not answer. */
  judgeSender(submitter: Submitter, mailFrom: string): Promise<Refused | undefined>
  maxMessageBytes: number
  limits: SessionLimits
}

/** The sessions of a process. */
export interface Sessions {
  /** Handlers for the library. */
  handlers: Required<Pick<SMTPServerOptions, 'onAuth' | 'onMailFrom' | 'onRcptTo' | 'onData' | 'onClose'>>
  /** Begins to watch a connection. */
  open(connection: SubmissionConnection): void
  /** Says goodbye to all: at once, or behind the message that was begun. Resolves when the last is closed. */
  drain(): Promise<void>
}

/** Longest wait for the database before a reply. */
const LOOKUP_MS = 5_000
/** A login also hashes a password, and waits for others that do. */
const LOGIN_MS = 15_000

/** Parameters of what EHLO offers: SIZE, 8BITMIME, SMTPUTF8, DSN and AUTH. */
const MAIL_PARAMETERS = ['SIZE', 'BODY', 'SMTPUTF8', 'RET', 'ENVID', 'AUTH']
const RCPT_PARAMETERS = ['NOTIFY', 'ORCPT']

/** One connection and what is known of it. */
class Session {
  submitter: Submitter | undefined
  /** A message that comes in may be cut when the time is over; one that is being stored gets its answer. */
  state: 'idle' | 'receiving' | 'storing' = 'idle'
  /** MAIL FROM is being looked at: the library does not know the sender yet. */
  beginning = false
  accepted = 0
  refused = 0
  loginFailures = 0
  readonly connection: SubmissionConnection
  readonly #openedAt = performance.now()
  #deadline: NodeJS.Timeout | undefined
  #goodbye: ProblemCode | undefined

  constructor(connection: SubmissionConnection) {
    this.connection = connection
  }

  /** Says goodbye now, or, while one of these states lasts, behind the answer to the message. */
  end(code: ProblemCode, ...unless: (Session['state'] | 'envelope')[]): void {
    const state = this.state === 'idle' && this.#hasEnvelope() ? 'envelope' : this.state
    if (unless.includes(state)) this.#goodbye = code
    else sayGoodbye(this.connection, code)
  }

  /** MAIL FROM was accepted, or is about to be: the message that belongs to it is on its way. */
  #hasEnvelope(): boolean {
    return this.beginning || Boolean(this.connection.session.envelope?.mailFrom)
  }

  /** The message in hand is answered. */
  answered(): void {
    this.state = 'idle'
    if (this.#goodbye) sayGoodbye(this.connection, this.#goodbye)
  }

  setDeadline(ms: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.end('too_slow', 'storing'), ms).unref()
  }

  /** Stops the clock and returns what there is to say about the session. */
  close(): object {
    clearTimeout(this.#deadline)
    const { connection, submitter, accepted, refused, loginFailures } = this
    const who = {
      session: connection.id,
      ip: connection.remoteAddress,
      user: submitter?.userId,
      login: submitter?.via.id,
    }
    return {
      ...who,
      accepted,
      refused,
      login_failures: loginFailures,
      ms: Math.round(performance.now() - this.#openedAt),
    }
  }
}

/** Makes the sessions of a process. */
export function createSessions(options: SessionOptions): Sessions {
  const { log, limits } = options
  const sessions = new Map<string, Session>()
  const budget = createMemoryBudget(limits.receivingBytes)
  const emptied = Promise.withResolvers<void>()
  let draining = false

  const of = ({ id }: { id: string }): Session => {
    const session = sessions.get(id)
    if (!session) throw new Error('a session that is not open')
    return session
  }

  return {
    handlers: {
      onAuth({ username, password }, { id }, done) {
        const session = of({ id })
        void logIn(options, session, username ?? '', password ?? '').then(result => {
          if ('kind' in result) {
            done(toError(result))
            if (session.loginFailures >= limits.loginFailures) session.end('too_many_logins')
            return
          }
          session.submitter = result
          session.setDeadline(limits.sessionMs)
          done(null, { user: result })
        })
      },
      onMailFrom(sender, { id }, done) {
        const session = of({ id })
        if (draining) return session.end('unavailable')
        session.beginning = true
        void within(LOOKUP_MS, beginMessage(options, session, sender))
          .catch(() => problemOf('queue_unavailable'))
          .then(refused => {
            session.beginning = false
            done(refused && toError(refused))
          })
      },
      onRcptTo({ address, args }, { id, envelope }, done) {
        if (!of({ id }).submitter) return done(toError(problemOf('authentication_required')))
        const unknown = unknownParameter(args, RCPT_PARAMETERS)
        if (unknown) return done(toError(unknown))
        const email = normaliseEmail(address)
        const fits = email !== undefined && (envelope.smtpUtf8 || !needsSmtpUtf8(email))
        return done(fits ? null : toError(problemOf('bad_recipient')))
      },
      onData(stream, { id }, done) {
        const session = of({ id })
        void takeMessage(options, session, budget, stream).then(answer => {
          if (answer?.kind === 'accepted') done(null, `2.0.0 queued as ${answer.id}`)
          if (answer?.kind === 'refused') done(toError(answer))
          session.answered()
        })
      },
      onClose({ id }) {
        const session = sessions.get(id)
        if (!session) return
        sessions.delete(id)
        log.info(session.close(), 'session closed')
        if (draining && sessions.size === 0) emptied.resolve()
      },
    },
    open(connection) {
      const session = new Session(connection)
      sessions.set(connection.id, session)
      session.setDeadline(limits.loginMs)
      if (draining) session.end('unavailable')
    },
    drain() {
      draining = true
      for (const session of sessions.values()) session.end('unavailable', 'envelope', 'receiving', 'storing')
      const late = setTimeout(() => {
        for (const session of sessions.values()) session.end('unavailable', 'receiving', 'storing')
      }, limits.envelopeMs)
      if (sessions.size === 0) emptied.resolve()
      return emptied.promise.finally(() => clearTimeout(late))
    },
  }
}

async function logIn(
  { log, isUp, checkLogin }: SessionOptions,
  session: Session,
  username: string,
  password: string,
): Promise<Submitter | Refused> {
  if (!isUp()) return problemOf('login_unavailable')
  try {
    const result = await within(LOGIN_MS, checkLogin(username, password, session.connection.remoteAddress))
    if ('kind' in result) session.loginFailures++
    return result
  } catch (error) {
    log.warn({ err: error, session: session.connection.id }, 'login not checked')
    return problemOf('login_unavailable')
  }
}

/** Asks whether the login still holds and may send as this address. */
async function beginMessage(
  { isUp, renewLogin, judgeSender }: SessionOptions,
  session: Session,
  { address, args }: SMTPServerAddress,
): Promise<Refused | undefined> {
  if (!session.submitter) return problemOf('authentication_required')
  const unknown = unknownParameter(args, MAIL_PARAMETERS)
  if (unknown) return unknown
  if (!isUp()) return problemOf('queue_unavailable')
  const renewed = await renewLogin(session.submitter)
  if ('kind' in renewed) return renewed
  session.submitter = renewed
  return judgeSender(renewed, address)
}

/** A client that asks for what is not done here must hear so (RFC 5321 4.1.1.11); the library lets it pass. */
function unknownParameter(args: SMTPServerAddress['args'], known: readonly string[]): Refused | undefined {
  const name = Object.keys(args || {}).find(key => !known.includes(key))
  if (name === undefined) return undefined
  return { kind: 'refused', code: 'unknown_parameter', detail: `The parameter ${name.slice(0, 40)} is not offered.` }
}

/** Receives and submits one message. Undefined when there is nobody left to answer. */
async function takeMessage(
  { accept, openRest, maxMessageBytes: maxBytes, limits }: SessionOptions,
  session: Session,
  budget: MemoryBudget,
  stream: SMTPServerDataStream,
): Promise<Accepted | Refused | undefined> {
  const { bytesPerSecond, dataWindowMs: windowMs } = limits
  const { submitter, connection } = session
  if (!submitter) return undefined
  session.state = 'receiving'
  const account = submitter.userId
  const toMessage = (raw: Buffer) => toSubmission(submitter, connection.session, raw)
  const received = await receiveMessage(stream, { maxBytes, bytesPerSecond, windowMs, budget, account }, head =>
    openRest(toMessage(head)),
  )
  if (received.kind === 'cut') sayGoodbye(connection, received.code)
  if (received.kind === 'refused') {
    session.refused++
    return problemOf(received.code)
  }
  if (received.kind !== 'whole') return undefined
  session.state = 'storing'
  const rest = received.rest?.finish()
  const answer = await accept({ ...toMessage(received.raw), ...(rest && { rest }) })
  received.release()
  session[answer.kind]++
  return answer
}
