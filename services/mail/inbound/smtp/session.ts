/** One connection of a server that brings mail: which recipients it may name, and what is stored of its messages. */
import type { SMTPServerAddress, SMTPServerDataStream } from 'smtp-server'
import type { MemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import { newId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { SubmissionConnection } from '../../submission/smtp/listener-connection.ts'
import { closeWithReply } from '../../submission/smtp/listener-replies.ts'
import { receiveMessage } from '../../submission/smtp/receive.ts'
import { type AddressResult, type InboundAddress, LIMITS } from '../rules/inbound-address.ts'
import type { NewInbound } from '../store/inbound-messages.ts'
import { KeptOctets } from './kept-octets.ts'

/** Bounds of a session; times in milliseconds. */
export interface InboundLimits {
  /** Largest message (SIZE). */
  messageBytes: number
  /** Messages of one connection. */
  messages: number
  /** Refused recipients of one connection: a dictionary is tried on it. */
  refusals: number
  /** Complete connection. */
  sessionMs: number
  bytesPerSecond: number
  dataWindowMs: number
}

/** Dependencies of an {@link InboundSession}. */
export interface InboundOptions {
  log: Log
  metrics: Pick<Metrics, 'inboundRefused'>
  limits: InboundLimits
  budget: MemoryBudget
  now(): Date
  /** False while the database is known to be away. */
  isUp(): boolean
  readAddress(address: string): AddressResult
  /** Whether as many messages are kept for the address as may be. */
  isFull(address: InboundAddress): Promise<boolean>
  /** Resolves when the message is durable. */
  store(message: NewInbound): Promise<void>
}

/** A refusal, in the form that the library sends. */
export type Refusal = Error & { responseCode: number }

/** Longest wait for the database before a reply. */
const LOOKUP_MS = 5_000
const STORE_MS = 20_000
/** RFC 5321 section 6.3 */
const MAX_HOPS = 50

/** A connection and what is known of it. */
export class InboundSession {
  readonly #connection: SubmissionConnection
  readonly #options: InboundOptions
  readonly #deadline: NodeJS.Timeout
  #recipients: InboundAddress[] = []
  #refusals = 0
  #accepted = 0
  #isReceiving = false
  #isLeaving = false

  constructor(connection: SubmissionConnection, options: InboundOptions) {
    this.#connection = connection
    this.#options = options
    this.#deadline = setTimeout(() => this.end('too_slow'), options.limits.sessionMs).unref()
  }

  /** MAIL FROM. */
  begin(): Refusal | undefined {
    this.#recipients = []
    if (!this.#options.isUp()) return this.#refuse('unavailable', UNAVAILABLE)
    return undefined
  }

  /** RCPT TO. Never rejects. */
  async addRecipient({ address }: SMTPServerAddress): Promise<Refusal | undefined> {
    const read = this.#options.readAddress(address)
    if ('refused' in read) {
      const refusal = this.#refuse(read.refused, read.refused === 'expired' ? EXPIRED : UNKNOWN)
      if (++this.#refusals >= this.#options.limits.refusals) this.#isLeaving = true
      return refusal
    }
    const full = await withTimeout(LOOKUP_MS, this.#options.isFull(read)).catch(() => undefined)
    if (full === undefined) return this.#refuse('unavailable', UNAVAILABLE)
    if (full) return this.#refuse('too_many', read.kind === 'role' ? TOO_MANY_NOW : TOO_MANY)
    if (!this.#recipients.some(({ kind, key }) => kind === read.kind && key === read.key)) this.#recipients.push(read)
    return undefined
  }

  /** DATA: stores the message durably. Undefined when no client is left to answer. */
  async take(stream: SMTPServerDataStream, mailFrom: string): Promise<{ id: string } | Refusal | undefined> {
    const { limits, budget, log } = this.#options
    const account = this.#connection.remoteAddress
    const recipients = this.#recipients
    const octets = Math.max(0, ...recipients.map(({ kind }) => LIMITS[kind].octets))
    const bounds = { maxBytes: limits.messageBytes, bytesPerSecond: limits.bytesPerSecond }
    this.#isReceiving = true
    const received = await receiveMessage(
      stream,
      { ...bounds, windowMs: limits.dataWindowMs, budget, account },
      head => new KeptOctets(budget, account, Math.max(0, octets - head.length)),
    )
    if (received.kind === 'cut') closeWithReply(this.#connection, received.code)
    if (received.kind === 'refused')
      return received.code === 'message_too_large'
        ? this.#refuse('too_large', TOO_LARGE)
        : this.#refuse('unavailable', UNAVAILABLE)
    if (received.kind !== 'complete') return undefined
    try {
      const raw = received.rest?.after(received.raw) ?? received.raw
      if (hopsOf(received.raw) > MAX_HOPS) return this.#refuse('loop', LOOP)
      const now = this.#options.now()
      const id = newId('in', now.getTime())
      const size = received.raw.length + (received.rest?.seen ?? 0)
      const stored = { _id: id, at: now, mail_from: mailFrom.slice(0, 320), ip: account, rcpts: recipients, size, raw }
      await withTimeout(STORE_MS, this.#options.store(stored))
      this.#accepted++
      return { id }
    } catch (error) {
      log.warn({ err: error, session: this.#connection.id }, 'an incoming message was not stored')
      return this.#refuse('unavailable', UNAVAILABLE)
    } finally {
      received.rest?.release()
      received.release()
    }
  }

  /** The command is answered: a connection that has had enough is closed. */
  answered(command: 'rcpt' | 'data'): void {
    if (command === 'data') {
      this.#isReceiving = false
      if (this.#accepted >= this.#options.limits.messages) this.#isLeaving = true
    }
    if (this.#isLeaving) closeWithReply(this.#connection, 'unavailable')
  }

  /** Ends the session now, or after the message that is coming in. */
  end(code: 'unavailable' | 'too_slow'): void {
    this.#isLeaving = true
    if (!this.#isReceiving) closeWithReply(this.#connection, code)
  }

  /** Stops the clock and returns the fields of the session's log line. */
  close(): object {
    clearTimeout(this.#deadline)
    const { id: session, remoteAddress: ip } = this.#connection
    return { session, ip, accepted: this.#accepted, refused: this.#refusals }
  }

  #refuse(reason: string, reply: Reply): Refusal {
    this.#options.metrics.inboundRefused.inc({ reason })
    return Object.assign(new Error(reply.text), { responseCode: reply.code })
  }
}

interface Reply {
  code: number
  text: string
}

const UNAVAILABLE: Reply = { code: 451, text: '4.3.0 The message cannot be stored now; try again later' }
const UNKNOWN: Reply = {
  code: 550,
  text: '5.1.1 There is no such address here; only reports about mail of this system are taken',
}
const EXPIRED: Reply = { code: 550, text: '5.1.1 This return path has expired' }
const TOO_MANY: Reply = { code: 550, text: '5.7.1 Too many reports have come in for this address' }
const TOO_MANY_NOW: Reply = {
  code: 451,
  text: '4.7.1 Too many messages have come in for this address; try again later',
}
const TOO_LARGE: Reply = { code: 552, text: '5.3.4 The message is too large for a report' }
const LOOP: Reply = { code: 554, text: '5.4.6 The message has passed through too many servers' }

/** Servers that the message passed through. */
function hopsOf(head: Buffer): number {
  const text = head.toString('latin1')
  const end = text.search(/\r?\n\r?\n/)
  return (end === -1 ? text : text.slice(0, end)).match(/^received:/gim)?.length ?? 0
}
