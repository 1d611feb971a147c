/** The library's SMTP connection with our replies: enhanced codes of our own, no AUTH on offer in clear text, no delay. */
import { SMTPConnection } from 'smtp-server/lib/smtp-connection'

/** A reply text that brings its enhanced status code (RFC 3463). */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

/** A submission connection. */
export class SubmissionConnection extends SMTPConnection {
  #greeted = false
  #gathering = false

  /** Greets at once. The library waits 100 ms for clients that talk first, which a login makes pointless. */
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
