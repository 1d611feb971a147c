/**
 * A receiving mail server on a real socket, strict about the protocol. The local part of the recipient selects its
 * replies: `rcpt-550-5.1.1@…` rejects at RCPT, `dot-451-4.3.0@…` after the final dot, `drop@…` accepts the message and
 * closes the connection before the reply, `hang@…` never replies to the dot; every other recipient is accepted.
 */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type Certificate, makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { startTcpServer } from './tcp-server.ts'

/** A message that was accepted (even if the reply was withheld). */
export interface Received {
  from: string
  /** Parameters of MAIL FROM. */
  fromParameters: string[]
  rcpts: { email: string; parameters: string[] }[]
  /** Without dot-stuffing. */
  content: Buffer
  tls: boolean
  /** Number of the connection, from 1. */
  connection: number
}

/** Options of the server. */
export interface ReceiverOptions {
  /** EHLO keywords besides STARTTLS. */
  extensions?: readonly string[]
  /** `broken`: STARTTLS is offered and the handshake fails. */
  tls?: 'none' | 'good' | 'broken'
  /** Its certificate; default: a new one for localhost and 127.0.0.1. */
  certificate?: Certificate
  /** Greeting instead of `220 …`. */
  greeting?: string
  /** The credentials for AUTH PLAIN; without them AUTH is rejected. */
  login?: { user: string; password: string }
  port?: number
  host?: string
}

/** A running server. */
export interface Receiver {
  port: number
  /** Messages in order of arrival. */
  received: Received[]
  /** Lines from clients, with the number of their connection. */
  commands: string[]
  /** Protocol errors of clients: commands out of order, bare line ends. */
  protocolErrors: string[]
  connections(): number
  /** PEM of the certificate, for the client's trust store. */
  ca: string
  stop(): Promise<void>
}

const EXTENSIONS = ['PIPELINING', 'SIZE 10485760', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'DSN']

/** Starts a server; the caller must stop it. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const certificate = options.certificate ?? (await makeCertificate(['localhost', '127.0.0.1'], 30, new Date()))
  const state: Omit<Receiver, 'port' | 'stop' | 'connections'> = {
    received: [],
    commands: [],
    protocolErrors: [],
    ca: certificate.cert,
  }
  const server = await startTcpServer(
    (socket, number) => new Client(socket, number, options, certificate, state).start(),
    options,
  )
  return { ...state, ...server }
}

class Client {
  #socket: Socket
  readonly #number: number
  readonly #options: ReceiverOptions
  readonly #certificate: { cert: string; key: string }
  readonly #state: Pick<Receiver, 'received' | 'commands' | 'protocolErrors'>
  #rest = ''
  #inData = false
  #mail: Received | undefined

  constructor(
    socket: Socket,
    number: number,
    options: ReceiverOptions,
    certificate: { cert: string; key: string },
    state: Pick<Receiver, 'received' | 'commands' | 'protocolErrors'>,
  ) {
    this.#socket = socket
    this.#number = number
    this.#options = options
    this.#certificate = certificate
    this.#state = state
  }

  start(): void {
    this.#listen()
    this.#reply(this.#options.greeting ?? '220 receiver.test ESMTP')
  }

  #listen(): void {
    this.#socket.setEncoding('latin1')
    this.#socket.on('error', () => undefined)
    this.#socket.on('data', (chunk: string) => {
      this.#rest += chunk
      while (this.#step());
    })
  }

  /** Handles one command or one message; returns false if more bytes are needed. */
  #step(): boolean {
    if (this.#inData) return this.#content()
    const end = this.#rest.indexOf('\n')
    if (end === -1) return false
    const line = this.#rest.slice(0, end + 1)
    this.#rest = this.#rest.slice(end + 1)
    if (!line.endsWith('\r\n')) this.#state.protocolErrors.push(`bare LF: ${line}`)
    this.#command(line.trimEnd())
    return true
  }

  #content(): boolean {
    const end = this.#rest.startsWith('.\r\n') ? 0 : this.#rest.indexOf('\r\n.\r\n') + 2
    if (end === 1) return false
    const content = this.#rest.slice(0, end)
    this.#rest = this.#rest.slice(end + 3)
    this.#inData = false
    if (/(?<!\r)\n|\r(?!\n)/.test(content)) this.#state.protocolErrors.push('bare CR or LF in the content')
    const mail = this.#mail
    this.#mail = undefined
    if (!mail) return true
    mail.content = Buffer.from(content.replace(/(^|\r\n)\.\./g, '$1.'), 'latin1')
    this.#finish(mail)
    return true
  }

  #finish(mail: Received): void {
    const locals = mail.rcpts.map(({ email }) => email.split('@')[0] ?? '')
    const refusal = locals.map(local => /^dot-(\d{3})-([\d.]+)/.exec(local)).find(Boolean)
    if (refusal) {
      this.#reply(`${refusal[1]} ${refusal[2]} refused after the dot`)
      return
    }
    if (mail.rcpts.length > 0) this.#state.received.push(mail)
    if (locals.includes('hang')) return
    if (locals.includes('drop')) {
      this.#socket.destroy()
      return
    }
    this.#reply(`250 2.0.0 taken as ${this.#state.received.length}`)
  }

  #command(line: string): void {
    this.#state.commands.push(`${this.#number} ${line}`)
    const verb = line.split(' ')[0]?.toUpperCase() ?? ''
    if (verb === 'EHLO') this.#hello()
    else if (verb === 'STARTTLS') this.#secure()
    else if (verb === 'AUTH') this.#login(line)
    else if (verb === 'MAIL') this.#from(line)
    else if (verb === 'RCPT') this.#rcpt(line)
    else if (verb === 'DATA') this.#data()
    else if (verb === 'RSET') {
      this.#mail = undefined
      this.#reply('250 2.0.0 forgotten')
    } else if (verb === 'QUIT') {
      this.#reply('221 2.0.0 bye')
      this.#socket.end()
    } else this.#reply('502 5.5.1 unknown command')
  }

  #hello(): void {
    const { tls = 'none', extensions = EXTENSIONS, login } = this.#options
    const offers = [...extensions, ...(login ? ['AUTH PLAIN'] : [])]
    if (tls !== 'none' && !(this.#socket instanceof TLSSocket)) offers.push('STARTTLS')
    const lines = ['receiver.test', ...offers]
    this.#reply(lines.map((text, index) => `250${index === lines.length - 1 ? ' ' : '-'}${text}`).join('\r\n'))
  }

  #secure(): void {
    if ((this.#options.tls ?? 'none') === 'none') {
      this.#reply('502 5.5.1 not offered')
      return
    }
    this.#reply('220 2.0.0 go on')
    this.#socket.removeAllListeners('data')
    if (this.#options.tls === 'broken') {
      this.#socket.end('this is no TLS\r\n')
      return
    }
    const plain = this.#socket
    plain.setEncoding('binary')
    this.#socket = new TLSSocket(plain, { isServer: true, ...this.#certificate })
    this.#listen()
  }

  #login(line: string): void {
    const { login } = this.#options
    const given = Buffer.from(line.split(' ')[2] ?? '', 'base64').toString()
    this.#reply(login && given === `\0${login.user}\0${login.password}` ? '235 2.7.0 welcome' : '535 5.7.8 no')
  }

  #from(line: string): void {
    const match = /^MAIL FROM:<([^>]*)>(.*)$/i.exec(line)
    if (!match || this.#mail) {
      this.#state.protocolErrors.push(`out of order: ${line}`)
      this.#reply('503 5.5.1 not now')
      return
    }
    const refusal = /^mail-(\d{3})-([\d.]+)/.exec(match[1] ?? '')
    if (refusal) {
      this.#reply(`${refusal[1]} ${refusal[2]} refused sender`)
      return
    }
    this.#mail = {
      from: match[1] ?? '',
      fromParameters: (match[2] ?? '').split(' ').filter(Boolean),
      rcpts: [],
      content: Buffer.alloc(0),
      tls: this.#socket instanceof TLSSocket,
      connection: this.#number,
    }
    this.#reply('250 2.1.0 sender ok')
  }

  #rcpt(line: string): void {
    const match = /^RCPT TO:<([^>]+)>(.*)$/i.exec(line)
    if (!match || !this.#mail) {
      this.#reply('503 5.5.1 not now')
      return
    }
    const email = Buffer.from(match[1] ?? '', 'latin1').toString('utf8')
    const refusal = /^rcpt-(\d{3})-([\d.]+)/.exec(email)
    if (refusal) {
      this.#reply(`${refusal[1]} ${refusal[2]} refused recipient`)
      return
    }
    this.#mail.rcpts.push({ email, parameters: (match[2] ?? '').split(' ').filter(Boolean) })
    this.#reply('250 2.1.5 recipient ok')
  }

  #data(): void {
    if (!this.#mail || this.#mail.rcpts.length === 0) {
      this.#reply('554 5.5.1 no valid recipients')
      return
    }
    this.#inData = true
    this.#reply('354 go on')
  }

  #reply(text: string): void {
    if (this.#socket.writable) this.#socket.write(`${text}\r\n`, 'latin1')
  }
}
