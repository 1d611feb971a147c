/** The library's SMTP connection with our replies: enhanced codes of our own, no AUTH on offer in clear text, no delay. */
import { SMTPConnection } from 'smtp-server/lib/smtp-connection'

/** A reply text that brings its enhanced status code (RFC 3463). */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

/** A path with a quoted local part (RFC 5321 section 4.1.2): command and route, local part, the rest. */
const QUOTED_PATH =
  /^([a-z ]{4,12}: *<(?:@[^\s":]{1,500}:)?)("(?:[ !#-;=?-[\]-~\x80-\xff]|\\[ -;=?-~])+")(@[^\s"<>]+>.*)$/i

/** An envelope sender that is no address of the internet, as `root` or `root@web_1`: the login decides about it. */
const LOCAL_SENDER = /^(mail from *: *<)([!#-;=?-~]{1,254})(>.*)$/i

/** A submission connection. */
export class SubmissionConnection extends SMTPConnection {
  #greeted = false
  #gathering = false

  /** Greets immediately. The library waits 100 ms for clients that talk first, which a login makes pointless. */
  override init(): void {
    super.init()
    setImmediate(() => this.connectionReady())
  }

  override connectionReady(next?: () => void): void {
    if (this.#greeted) return
    this.#greeted = true
    super.connectionReady(next)
  }

  /**
   * STARTTLS. The library takes every listener off the socket before it wraps it; those who count open connections must
   * still hear of its end, or each client that used STARTTLS would hold its place for ever.
   */
  override upgrade(...args: Parameters<SMTPConnection['upgrade']>): void {
    const socket = this._socket
    const listeners = socket.rawListeners('close') as (() => void)[]
    super.upgrade(...args)
    for (const listener of listeners) socket.on('close', listener)
  }

  /** The library splits at blanks and at signs; it gets a plain local part to read, and the quoted one takes its place. */
  override _parseAddressCommand(name: string, command: Buffer | string) {
    const [, start = '', local = '', rest = ''] = QUOTED_PATH.exec(Buffer.from(command).toString('latin1')) ?? []
    const parsed = super._parseAddressCommand(name, local ? Buffer.from(`${start}q${rest}`, 'latin1') : command)
    if (!local || !parsed) return parsed || this.#parseLocalSender(name, command)
    return { ...parsed, address: Buffer.from(local, 'latin1').toString() + parsed.address.slice(1) }
  }

  #parseLocalSender(name: string, command: Buffer | string) {
    const [, start, address, rest] = LOCAL_SENDER.exec(Buffer.from(command).toString('latin1')) ?? []
    const parsed = address && super._parseAddressCommand(name, Buffer.from(`${start}q@q.example${rest}`, 'latin1'))
    return parsed ? { ...parsed, address } : false
  }

  /**
   * The library knows no CHUNKING (RFC 3030). A client that sends BDAT unasked sends octets of the message after it, which
   * must not be read as commands.
   */
  handler_BDAT(): void {
    this.send(502, '5.5.1 BDAT is not offered here (EHLO does not list CHUNKING); send the message with DATA')
    this.close()
  }

  /** The library derives one enhanced code from each reply code; a text with its own keeps that one. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code !== 220) this.#gather() // 220 before a handshake has to be out before the handshake
    const text = Array.isArray(data) && !this.secure ? data.filter(line => !line.startsWith('AUTH ')) : data
    super.send(code, text, typeof text === 'string' && ENHANCED.test(text) ? false : context)
  }

  /** Replies of one turn of the event loop go out in one piece: a pipelining client costs one write, not one each. */
  #gather(): void {
    if (this.#gathering) return
    this.#gathering = true
    const socket = this._socket
    socket.cork()
    setImmediate(() => {
      this.#gathering = false
      socket.uncork()
    })
  }
}
