/** The line protocol of an SMTP client: writes commands, reads replies, watches deadlines. Knows nothing of mail. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { type Sentence, SentenceError, sentence } from '../../../platform/sentences/sentence.ts'
import { Conversation, parseReply, type ServerReply } from '../rules/smtp-reply.ts'

/** The connection is of no use any more. `timeout`: the deadline passed; `network`: it broke; `tls`: the handshake failed. */
export class WireError extends SentenceError {
  readonly kind: 'network' | 'timeout' | 'tls' | 'protocol'
  /** Code of Node or OpenSSL, where there is one. */
  readonly code: string | undefined
  constructor(kind: WireError['kind'], given: Sentence, code?: string) {
    super(given)
    this.kind = kind
    this.code = code
  }
}

/** Bounds on what a server may send: a hostile one must not fill the memory. */
const LINE_MAX = 4_096
const REPLY_LINES_MAX = 128

interface Waiter {
  resolve(reply: ServerReply): void
  reject(error: WireError): void
  timer: NodeJS.Timeout
}

/** Facts of a TLS session for the log. */
export interface TlsFacts {
  version: string
  cipher: string
  verified: boolean
}

/** One connection. Every wait has a deadline; after the first error everything rejects with that error. */
export class Wire {
  conversation = new Conversation()
  tls: TlsFacts | undefined
  /** Code of what is wrong with the certificate of a session that does not require a valid one. */
  certificateError: string | undefined
  /** Our address of the connection. */
  readonly localAddress: string | undefined
  #socket: Socket
  #error: WireError | undefined
  #rest = ''
  #lines: string[] = []
  readonly #waiters: Waiter[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    this.localAddress = socket.localAddress
    this.#attach(socket)
  }

  /** Connects. With `tls` the handshake comes first (port 465). Rejects with {@link WireError}. */
  static async open(
    target: { ip: string; port: number; tls?: { host: string; verify: boolean; ca?: string | undefined } },
    deadlineMs: number,
  ): Promise<Wire> {
    const socket = connect({ host: target.ip, port: target.port, noDelay: true })
    try {
      await settled(socket, 'connect', deadlineMs, 'network')
    } catch (error) {
      socket.destroy()
      throw error
    }
    const wire = new Wire(socket)
    if (target.tls) await wire.startTls(target.tls, deadlineMs)
    return wire
  }

  /** Handshake on the open connection. Plain bytes that came before it are dropped (no injection before STARTTLS). */
  async startTls(
    { host, verify, ca }: { host: string; verify: boolean; ca?: string | undefined },
    deadlineMs: number,
  ): Promise<void> {
    this.#socket.removeAllListeners()
    this.#rest = ''
    this.#lines = []
    const secure = connectTls({
      socket: this.#socket,
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      rejectUnauthorized: verify,
      minVersion: verify ? 'TLSv1.2' : 'TLSv1',
      ...(ca === undefined ? {} : { ca }),
    })
    try {
      await settled(secure, 'secureConnect', deadlineMs, 'tls')
    } catch (error) {
      secure.destroy()
      this.#fail(error as WireError)
      throw error
    }
    this.#socket = secure
    this.#attach(secure)
    this.tls = factsOf(secure)
    // The code, although the types say that it is an error.
    this.certificateError = secure.authorized ? undefined : String(secure.authorizationError)
    this.conversation.note(`${this.tls.version} ${this.tls.cipher}`)
  }

  /** True while commands can be sent. A server that closed or spoke unasked made the connection useless. */
  get usable(): boolean {
    return this.#error === undefined && this.#lines.length === 0 && this.#rest === ''
  }

  /**
   * A reply that came unasked, also from a server that has closed since. Throws {@link WireError} when the connection is
   * of no use and there is none: nothing that must not be repeated may be sent then.
   */
  unasked(): ServerReply | undefined {
    const reply = parseReply(this.#lines)
    if (reply) return reply
    if (this.#error) throw this.#error
    if (!this.usable) this.#fail(new WireError('protocol', sentence('delivery.not_smtp')))
    if (this.#error) throw this.#error
    return undefined
  }

  /** Sends bytes. Resolves when the system took them, so that large bodies do not pile up; small ones need no wait. */
  write(bytes: Buffer | string): Promise<void> | undefined {
    if (this.#error) return Promise.reject(this.#error)
    if (this.#socket.write(bytes)) return undefined
    return new Promise((resolve, reject) => {
      const done = () => {
        this.#socket.off('drain', done).off('close', done)
        if (this.#error) reject(this.#error)
        else resolve()
      }
      this.#socket.once('drain', done).once('close', done)
    })
  }

  /** Sends one command line and waits for its reply. `secret` keeps it out of the conversation. */
  command(line: string, deadlineMs: number, secret = false): Promise<ServerReply> {
    this.conversation.sent(line, secret)
    const reply = this.reply(deadlineMs)
    void this.write(`${line}\r\n`)?.catch(() => undefined) // the reply rejects with the same error
    return reply
  }

  /** The next reply in order. */
  reply(deadlineMs: number): Promise<ServerReply> {
    return new Promise((resolve, reject) => {
      if (this.#error) {
        reject(this.#error)
        return
      }
      const timer = setTimeout(
        () => this.#fail(new WireError('timeout', sentence('delivery.no_reply', { seconds: deadlineMs / 1000 }))),
        deadlineMs,
      )
      this.#waiters.push({ resolve, reject, timer })
    })
  }

  /** Sends QUIT when that still makes sense, and closes without waiting. */
  quit(): void {
    if (this.#error) return
    this.#socket.end('QUIT\r\n')
    this.#fail(new WireError('network', sentence('delivery.closed_by_us')), false)
    const socket = this.#socket
    setTimeout(() => socket.destroy(), 2_000).unref()
  }

  /** Cuts the connection immediately. */
  destroy(reason: Sentence): void {
    this.#fail(new WireError('network', reason))
  }

  #attach(socket: Socket): void {
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('error', error => this.#fail(new WireError('network', verbatim(error.message))))
    socket.on('close', () => this.#fail(new WireError('network', sentence('delivery.closed'))))
  }

  #read(bytes: Buffer): void {
    const lines = (this.#rest + bytes.toString('latin1')).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const raw of lines) this.#line(raw.endsWith('\r') ? raw.slice(0, -1) : raw)
    if (this.#rest.length > LINE_MAX) this.#fail(new WireError('protocol', sentence('delivery.line_too_long')))
  }

  #line(raw: string): void {
    if (this.#error) return
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
    const line = /^[\x00-\x7f]*$/.test(raw) ? raw : Buffer.from(raw, 'latin1').toString('utf8')
    this.conversation.received(line)
    this.#lines.push(line)
    if (this.#lines.length > REPLY_LINES_MAX) this.#fail(new WireError('protocol', sentence('delivery.too_many_lines')))
    if (/^\d{3}-/.test(line) || this.#waiters.length === 0) return // unasked: stays and makes the connection unusable
    const reply = parseReply(this.#lines)
    this.#lines = []
    if (!reply) {
      this.#fail(new WireError('protocol', sentence('delivery.not_smtp')))
      return
    }
    const waiter = this.#waiters.shift()
    clearTimeout(waiter?.timer)
    waiter?.resolve(reply)
  }

  #fail(error: WireError, destroy = true): void {
    if (this.#error) return
    this.#error = error
    this.conversation.note(error.message)
    if (destroy) this.#socket.destroy()
    for (const { reject, timer } of this.#waiters.splice(0)) {
      clearTimeout(timer)
      reject(error)
    }
  }
}

/** Resolves with an event of the socket, rejects with its error, its end or the deadline. Removes its listeners. */
function settled(socket: Socket, event: string, deadlineMs: number, kind: 'network' | 'tls'): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: WireError) => {
      clearTimeout(timer)
      socket.off(event, good).off('close', closed).off('error', bad)
      socket.on('error', () => undefined) // late errors of a failed attempt
      if (error) reject(error)
      else resolve()
    }
    const good = () => finish()
    const closed = () => finish(new WireError(kind, sentence('delivery.closed'), 'ECONNRESET'))
    const bad = (error: NodeJS.ErrnoException) => finish(new WireError(kind, verbatim(error.message), error.code))
    const late = () => {
      const reason = sentence('delivery.no_connection', { seconds: deadlineMs / 1000 })
      finish(new WireError(kind === 'tls' ? 'tls' : 'timeout', reason, 'ETIMEDOUT'))
    }
    const timer = setTimeout(late, deadlineMs)
    socket.once(event, good).once('close', closed).once('error', bad)
  })
}

function factsOf(socket: TLSSocket): TlsFacts {
  return { version: socket.getProtocol() ?? '', cipher: socket.getCipher().name, verified: socket.authorized }
}
