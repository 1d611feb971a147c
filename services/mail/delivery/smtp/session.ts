/** One SMTP session: greeting to QUIT, and the transactions in it, pipelined where the server allows (RFC 2920). */
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { Stage } from '../rules/classify-reply.ts'
import { Conversation, ownReply, type Reply } from '../rules/smtp-reply.ts'
import { Wire, WireError } from './smtp-wire.ts'
import type { Recipient, RecipientOutcome, Transaction } from './transport.ts'

/** Longest waits per stage, in milliseconds (RFC 5321 section 4.5.3.2). */
export interface Deadlines {
  connect: number
  /** For greeting, EHLO and STARTTLS of an address that never kept us waiting. Default: those of greeting and command. */
  first?: number
  greeting: number
  command: number
  data: number
  block: number
  dot: number
}

/**
 * The values of the RFC, except the connect time and the first greeting: thousands of silent hosts would occupy the
 * places of all mail. An address that needs longer gets the time of the RFC from the second attempt on.
 */
export const DEADLINES: Deadlines = {
  connect: 30_000,
  first: 30_000,
  greeting: 300_000,
  command: 300_000,
  data: 120_000,
  block: 180_000,
  dot: 600_000,
}

/** The server refused the session before the first transaction. */
export class Refusal extends Error {
  readonly stage: Stage
  readonly reply: Reply
  constructor(stage: Stage, reply: Reply) {
    super(`${stage}: ${reply.code} ${reply.text}`)
    this.name = 'Refusal'
    this.stage = stage
    this.reply = reply
  }
}

/** How to open a session. */
export interface SessionOptions {
  host: string
  ip: string
  port: number
  helo: string
  deadlines: Deadlines
  /** `implicit`: TLS first; `require`: verified STARTTLS or nothing; `offered`: taken when offered; `off`. */
  tls: 'implicit' | 'require' | 'offered' | 'off'
  ca?: string | undefined
  login?: { user: string; password: string } | undefined
  /** The address has kept us waiting before. */
  slow?: boolean
  /** Called with our address once the connection exists. */
  onConnect?(localAddress: string | undefined): void
}

/** An open session. */
export class Session {
  readonly options: SessionOptions
  readonly wire: Wire
  /** Transactions so far. */
  used = 0
  /** Policy domains whose TLS result of this session is counted. */
  readonly countedFor = new Set<string>()
  #offers = new Map<string, string>()
  #dirty = false

  private constructor(options: SessionOptions, wire: Wire) {
    this.options = options
    this.wire = wire
  }

  /** Connects, greets, secures and logs in. Rejects with {@link WireError} or {@link Refusal}. */
  static async open(options: SessionOptions): Promise<Session> {
    const { host, ip, port, deadlines, tls, ca } = options
    const implicit = tls === 'implicit' ? { tls: { host, verify: true, ca } } : {}
    const wire = await Wire.open({ ip, port, ...implicit }, deadlines.connect)
    options.onConnect?.(wire.localAddress)
    const session = new Session(options, wire)
    try {
      await session.#greet()
      return session
    } catch (error) {
      wire.quit()
      throw error
    }
  }

  /** True when the server offers an extension; its parameter is {@link Session.parameter}. */
  offers(keyword: string): boolean {
    return this.#offers.has(keyword)
  }

  /** The conversation since the last call. */
  takeConversation(): string {
    const text = this.wire.conversation.toString()
    this.wire.conversation = new Conversation()
    return text
  }

  /** Runs one transaction; never rejects. */
  async transact(transaction: Transaction): Promise<RecipientOutcome[]> {
    const all = (outcome: RecipientOutcome) => transaction.recipients.map(() => outcome)
    const fitting = await this.#fit(transaction)
    if ('code' in fitting) return all({ kind: 'unsupported', reply: fitting })
    this.used++
    try {
      if (this.#dirty) await this.#reset()
      const outcomes = await this.#exchange(fitting)
      if (outcomes.some(isClosing)) this.wire.quit()
      return outcomes
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return all({ kind: 'error', error })
    }
  }

  async #greet(): Promise<void> {
    const { deadlines, tls, host, ca, login } = this.options
    const greeting = await this.wire.reply(this.#patience(deadlines.greeting))
    if (greeting.code !== 220) throw new Refusal('greeting', greeting)
    await this.#hello()
    if (tls === 'require' || (tls === 'offered' && this.offers('STARTTLS'))) {
      const reply = await this.wire.command('STARTTLS', this.#patience(deadlines.command))
      if (reply.code === 220) {
        await this.wire.startTls({ host, verify: tls === 'require', ca }, deadlines.connect)
        await this.#hello()
      } else if (tls === 'require') throw new Refusal('starttls', reply)
    }
    if (login) await this.#login(login.user, login.password)
  }

  #patience(usual: number): number {
    const { deadlines, slow } = this.options
    return slow ? usual : Math.min(usual, deadlines.first ?? usual)
  }

  async #hello(): Promise<void> {
    const { helo, deadlines } = this.options
    const patience = this.#patience(deadlines.command)
    this.#offers = new Map()
    const reply = await this.wire.command(`EHLO ${helo}`, patience)
    if (reply.code === 250) {
      for (const line of reply.lines.slice(1)) {
        const [keyword = '', ...rest] = line.split(' ')
        this.#offers.set(keyword.toUpperCase(), rest.join(' '))
      }
      return
    }
    if (reply.code < 500) throw new Refusal('ehlo', reply)
    const plain = await this.wire.command(`HELO ${helo}`, patience)
    if (plain.code !== 250) throw new Refusal('ehlo', plain)
  }

  async #login(user: string, password: string): Promise<void> {
    const secret = Buffer.from(`\0${user}\0${password}`, 'utf8').toString('base64')
    const reply = await this.wire.command(`AUTH PLAIN ${secret}`, this.options.deadlines.command)
    if (reply.code !== 235) throw new Refusal('auth', reply)
  }

  async #reset(): Promise<void> {
    const { code, text } = await this.wire.command('RSET', this.options.deadlines.command)
    // The reply of a server that cannot reset may belong to the last message.
    if (code !== 250) this.wire.destroy(sentence('delivery.not_reset', { reply: `${code} ${text}` }))
    this.#dirty = false
  }

  /**
   * The transaction in a form that this server accepts, converted to 7 bits where required; a reply when that is
   * impossible.
   */
  async #fit(transaction: Transaction): Promise<Transaction | Reply> {
    if (transaction.utf8 && !this.offers('SMTPUTF8')) return NO_SMTPUTF8
    let fitting = transaction
    if (transaction.eightBit && !this.offers('8BITMIME')) {
      const converted = (await transaction.sevenBit?.()) ?? NO_8BITMIME
      if ('code' in converted) return converted
      this.wire.conversation.note('the server does not offer 8BITMIME: the message was converted to 7 bits')
      fitting = { ...transaction, content: converted.content, eightBit: false }
    }
    const limit = Number(this.#offers.get('SIZE') || 0)
    if (limit > 0 && fitting.content.length > limit)
      return ownReply(552, '5.3.4', sentence('delivery.size_limit', { limit }))
    return fitting
  }

  async #exchange(transaction: Transaction): Promise<RecipientOutcome[]> {
    const marked = transaction.mark()
    const { mail, recipients, data } = await this.#envelope(transaction)
    const owned = await marked
    if (data.code !== 354) {
      this.#dirty = true
      const late: RecipientOutcome = {
        kind: 'reply',
        stage: mail.code >= 400 ? 'mail' : 'data',
        reply: mail.code >= 400 ? mail : data,
      }
      return recipients.map(reply =>
        mail.code < 400 && reply.code >= 400 ? { kind: 'reply', stage: 'rcpt', reply } : late,
      )
    }
    if (mail.code >= 400 || recipients.every(({ code }) => code >= 400)) {
      // 354 without a recipient: an empty message ends it (RFC 2920 section 3.1); the reply does not matter.
      this.#dirty = true
      await this.wire.command('.', this.options.deadlines.dot).catch(() => undefined)
      return recipients.map(reply =>
        mail.code >= 400 ? { kind: 'reply', stage: 'mail', reply: mail } : { kind: 'reply', stage: 'rcpt', reply },
      )
    }
    const end = owned ? await this.#content(transaction) : this.#withhold()
    return recipients.map(reply => (reply.code >= 400 ? { kind: 'reply', stage: 'rcpt', reply } : end))
  }

  async #envelope(transaction: Transaction): Promise<{ mail: Reply; recipients: Reply[]; data: Reply }> {
    const { command, data } = this.options.deadlines
    const commands = [
      this.#mailCommand(transaction),
      ...transaction.recipients.map(recipient => this.#rcptCommand(recipient)),
    ]
    if (this.offers('PIPELINING')) {
      for (const line of commands) this.wire.conversation.sent(line)
      this.wire.conversation.sent('DATA')
      const replies = Promise.allSettled([...commands.map(() => this.wire.reply(command)), this.wire.reply(data)])
      void this.wire.write(`${commands.join('\r\n')}\r\nDATA\r\n`)?.catch(() => undefined)
      const got = completed(await replies)
      return { mail: got[0] as Reply, recipients: got.slice(1, -1), data: got.at(-1) as Reply }
    }
    const [mailLine = '', ...rcptLines] = commands
    const mail = await this.wire.command(mailLine, command)
    if (mail.code >= 400) return { mail, recipients: rcptLines.map(() => mail), data: mail }
    const recipients: Reply[] = []
    for (const line of rcptLines) {
      const last = recipients.at(-1)
      recipients.push(last?.code === CLOSING ? last : await this.wire.command(line, command))
    }
    const last = recipients.at(-1)
    const over = last?.code === CLOSING || recipients.every(({ code }) => code >= 400) ? last : undefined
    return { mail, recipients, data: over ?? (await this.wire.command('DATA', data)) }
  }

  #mailCommand({ from, content, eightBit, utf8, dsn }: Transaction): string {
    let line = `MAIL FROM:<${from}>`
    if (this.offers('SIZE')) line += ` SIZE=${content.length}`
    if (eightBit) line += ' BODY=8BITMIME'
    if (utf8) line += ' SMTPUTF8'
    if (dsn && this.offers('DSN')) {
      if (dsn.ret) line += ` RET=${dsn.ret}`
      if (dsn.envid) line += ` ENVID=${dsn.envid}`
    }
    return line
  }

  #rcptCommand({ email, notify, orcpt }: Recipient): string {
    let line = `RCPT TO:<${email}>`
    if (this.offers('DSN')) {
      if (notify && notify.length > 0) line += ` NOTIFY=${notify.join(',')}`
      if (orcpt) line += ` ORCPT=${orcpt}`
    }
    return line
  }

  /** The content, the last check of the lease, the final dot, and the wait that nothing cuts short. */
  async #content({ content, mayFinish }: Transaction): Promise<RecipientOutcome> {
    const { block, dot } = this.options.deadlines
    const stuffed = stuff(content)
    const end = Buffer.from(content.subarray(-2).toString('latin1') === '\r\n' ? '.\r\n' : '\r\n.\r\n')
    const large = stuffed.length > ONE_WRITE
    if (large) await this.#upload(stuffed, block)
    if (!mayFinish()) return this.#withhold()
    const early = this.wire.unasked()
    if (early) return this.#refusedEarly(early)
    void this.wire.write(large ? end : Buffer.concat([stuffed, end]))?.catch(() => undefined)
    this.wire.conversation.note(`${content.length} bytes and the final dot`)
    try {
      const reply = await this.wire.reply(dot)
      return { kind: 'reply', stage: 'dot', reply }
    } catch (error) {
      return { kind: 'unknown', error: error as WireError }
    }
  }

  /** Sends a large content, as far as the server takes it. */
  async #upload(stuffed: Buffer, deadlineMs: number): Promise<void> {
    for (let at = 0; at < stuffed.length; at += ONE_WRITE) {
      const taken = this.wire.write(stuffed.subarray(at, at + ONE_WRITE))
      if (!taken) continue
      try {
        await withDeadline(taken, deadlineMs, this.wire)
      } catch (error) {
        if (!(error instanceof WireError)) throw error
        return // why it broke is found out before the dot
      }
    }
  }

  /** A refusal before the final dot went out (a timeout, too large) is an answer; an approval of what is not there is none. */
  #refusedEarly(reply: Reply): RecipientOutcome {
    const reason = sentence('delivery.answered_early')
    this.wire.destroy(reason)
    if (reply.code >= 400) return { kind: 'reply', stage: 'data', reply }
    return { kind: 'error', error: new WireError('protocol', reason) }
  }

  /** Past DATA only cutting the connection stops the message. */
  #withhold(): RecipientOutcome {
    this.wire.destroy(sentence('delivery.owned_elsewhere'))
    return { kind: 'withheld' }
  }
}

const NO_SMTPUTF8 = ownReply(550, '5.6.7', sentence('delivery.no_smtputf8'))
const NO_8BITMIME = ownReply(554, '5.6.3', sentence('delivery.no_8bitmime'))

/** A server that sends it closes the connection, whatever the command was (RFC 5321 section 3.8). */
const CLOSING = 421

function isClosing(outcome: RecipientOutcome): boolean {
  return outcome.kind === 'reply' && outcome.reply.code === CLOSING
}

/** The replies to pipelined commands. When the connection broke, "closing" answers the ones left open as well. */
function completed(settled: readonly PromiseSettledResult<Reply>[]): Reply[] {
  const replies = settled.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  const broken = settled.find(result => result.status === 'rejected')
  const last = replies.at(-1)
  if (!broken) return replies
  if (last?.code !== CLOSING) throw broken.reason
  return settled.map((_, index) => replies[index] ?? last)
}

/** Bytes written in one step; larger contents wait for the socket in between. */
const ONE_WRITE = 256 * 1024

/** Doubles a dot at the start of a line (RFC 5321 section 4.5.2). */
function stuff(content: Buffer): Buffer {
  if (!content.includes('\r\n.') && content[0] !== 0x2e) return content
  return Buffer.from(content.toString('latin1').replace(/(^|\r\n)\./g, '$1..'), 'latin1')
}

async function withDeadline(work: Promise<void>, ms: number, wire: Wire): Promise<void> {
  const timer = setTimeout(() => wire.destroy(sentence('delivery.no_bytes_taken', { seconds: ms / 1000 })), ms)
  try {
    await work
  } finally {
    clearTimeout(timer)
  }
}
