/** The SMTP sessions of a process, as handlers for the library. */
import type { SMTPServerOptions } from 'smtp-server'
import { createMemoryBudget, type MemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import type { SubmissionConnection } from './listener-connection.ts'
import { toError } from './listener-replies.ts'
import { Session, type SessionOptions } from './listener-session.ts'

/** Handlers for the library. */
export type SessionHandlers = Required<
  Pick<SMTPServerOptions, 'onAuth' | 'onMailFrom' | 'onRcptTo' | 'onData' | 'onClose'>
>

/** The sessions of a process. */
export class Sessions {
  readonly handlers: SessionHandlers = {
    onAuth: ({ username, password }, { id }, done) => {
      const session = this.#sessionOf(id)
      void session.logIn(username ?? '', password ?? '').then(result => {
        if (!('kind' in result)) return done(null, { user: result })
        done(toError(result))
        if (session.hasTooManyLogins) session.end('too_many_logins')
      })
    },
    onMailFrom: (sender, { id }, done) => {
      const session = this.#sessionOf(id)
      if (this.#isDraining) return session.end('unavailable')
      void session.beginMessage(sender).then(refused => done(refused && toError(refused)))
    },
    onRcptTo: (recipient, { id, envelope }, done) => {
      const refused = this.#sessionOf(id).validateRecipient(recipient, envelope.smtpUtf8)
      done(refused ? toError(refused) : null)
    },
    onData: (stream, { id }, done) => {
      const session = this.#sessionOf(id)
      void session.takeMessage(stream).then(answer => {
        if (answer?.kind === 'accepted') done(null, `2.0.0 queued as ${answer.id}`)
        if (answer?.kind === 'refused') done(toError(answer))
        session.answered()
      })
    },
    onClose: ({ id }) => this.#close(id),
  }

  readonly #options: SessionOptions
  readonly #budget: MemoryBudget
  readonly #sessions = new Map<string, Session>()
  readonly #emptied = Promise.withResolvers<void>()
  #isDraining = false

  constructor(options: SessionOptions) {
    this.#options = options
    this.#budget = createMemoryBudget(options.limits.receivingBytes)
  }

  /** Begins to watch a connection. */
  open(connection: SubmissionConnection): void {
    const session = new Session(connection, this.#options, this.#budget)
    this.#sessions.set(connection.id, session)
    if (this.#isDraining) session.end('unavailable')
  }

  /** Ends all sessions: immediately, or after the message that was begun. Resolves when the last is closed. */
  drain(): Promise<void> {
    this.#isDraining = true
    for (const session of this.#sessions.values()) session.end('unavailable', 'envelope', 'receiving', 'storing')
    const late = setTimeout(() => {
      for (const session of this.#sessions.values()) session.end('unavailable', 'receiving', 'storing')
    }, this.#options.limits.envelopeMs)
    if (this.#sessions.size === 0) this.#emptied.resolve()
    return this.#emptied.promise.finally(() => clearTimeout(late))
  }

  #sessionOf(id: string): Session {
    const session = this.#sessions.get(id)
    if (!session) throw new Error('a session that is not open')
    return session
  }

  #close(id: string): void {
    const session = this.#sessions.get(id)
    if (!session) return
    this.#sessions.delete(id)
    this.#options.log.info(session.close(), 'session closed')
    if (this.#isDraining && this.#sessions.size === 0) this.#emptied.resolve()
  }
}
