/** An SMTP client that sends exactly what a test specifies, octet by octet, for regular and malicious clients. */
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'

/** A reply with all of its lines. */
export interface Reply {
  code: number
  lines: string[]
  /** The last line, as in `550 5.7.1 text`. */
  text: string
}

/** Connection options. */
export interface ConverseOptions {
  host?: string
  /** Implicit TLS. */
  tls?: boolean
  /** Sent in clear text first: a PROXY header. */
  prefix?: string | Buffer
  /** Local address, to distinguish clients: 127.0.0.2 and so on. */
  from?: string
}

/** A conversation with an SMTP server. Reading a reply after the end of the connection rejects. */
export interface Conversation {
  /** The next reply. */
  reply(): Promise<Reply>
  /** Writes octets unchanged. */
  write(octets: string | Buffer): void
  /** Writes octets in pieces that end at these positions, each in its own segment. */
  writeInPieces(octets: string | Buffer, cuts: readonly number[]): Promise<void>
  /** Writes a line with CRLF and waits for its reply. */
  command(line: string): Promise<Reply>
  /** Performs the handshake on this connection; replies that were read before are kept. */
  startTls(): Promise<void>
  /** EHLO, and without TLS also STARTTLS and EHLO again; then AUTH PLAIN. Returns the reply to AUTH. */
  logIn(username: string, password: string): Promise<Reply>
  /** MAIL, RCPT and DATA, all of which must succeed, then the message with its final dot. Returns the reply to it. */
  submit(from: string, to: readonly string[], message: string | Buffer): Promise<Reply>
  /** Closes the connection without QUIT. */
  destroy(): void
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
}

const END = '\r\n.\r\n'

/** Opens a conversation; the greeting is the first reply. */
export async function converse(port: number, options: ConverseOptions = {}): Promise<Conversation> {
  const { host = '127.0.0.1', from } = options
  const plain = connect({ port, host, noDelay: true, ...(from && { localAddress: from }) })
  await new Promise<void>((resolve, reject) => plain.once('connect', resolve).once('error', reject))
  if (options.prefix) plain.write(options.prefix)
  const replies: Reply[] = []
  const waiting: PromiseWithResolvers<Reply>[] = []
  const closed = Promise.withResolvers<void>()
  let ended = false
  let secure = false
  let text = ''
  let lines: string[] = []
  let socket = plain

  const give = (reply: Reply) => {
    const next = waiting.shift()
    if (next) next.resolve(reply)
    else replies.push(reply)
  }
  const read = (chunk: Buffer) => {
    text += chunk.toString('latin1')
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 2)
      lines.push(line)
      if (line[3] === '-') continue
      give({ code: Number(line.slice(0, 3)), lines, text: line })
      lines = []
    }
  }
  const over = () => {
    ended = true
    closed.resolve()
    for (const { reject } of waiting.splice(0)) reject(new Error('the server closed the connection'))
  }
  const use = (next: Socket) => {
    socket = next
    socket
      .on('data', read)
      .on('error', () => undefined)
      .once('close', over)
  }
  const secureNow = async () => {
    plain.removeAllListeners('data').removeAllListeners('close')
    const next = connectTls({ socket: plain, rejectUnauthorized: false })
    await new Promise<void>((resolve, reject) => {
      next.once('secureConnect', resolve).once('error', reject)
      next.once('close', () => reject(new Error('the server closed the connection')))
    })
    secure = true
    use(next)
  }
  if (options.tls) await secureNow()
  else use(plain)

  const self: Conversation = {
    closed: closed.promise,
    reply() {
      const reply = replies.shift()
      if (reply) return Promise.resolve(reply)
      if (ended) return Promise.reject(new Error('the server closed the connection'))
      const next = Promise.withResolvers<Reply>()
      waiting.push(next)
      return next.promise
    },
    write: octets => void socket.write(octets),
    async writeInPieces(octets, cuts) {
      const bytes = Buffer.from(octets)
      let start = 0
      for (const end of [...cuts.filter(cut => cut < bytes.length), bytes.length].sort((a, b) => a - b)) {
        socket.write(bytes.subarray(start, end))
        start = end
        await turn()
      }
    },
    command(line) {
      socket.write(`${line}\r\n`)
      return self.reply()
    },
    startTls: secureNow,
    async logIn(username, password) {
      await self.command('EHLO client.example')
      if (!secure) {
        await self.command('STARTTLS')
        await secureNow()
        await self.command('EHLO client.example')
      }
      return self.command(`AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}`)
    },
    async submit(from, to, message) {
      for (const line of [`MAIL FROM:<${from}>`, ...to.map(address => `RCPT TO:<${address}>`), 'DATA']) {
        const reply = await self.command(line)
        if (reply.code >= 400) throw new Error(`${line}: ${reply.text}`)
      }
      socket.write(message)
      socket.write(message.toString().endsWith('\r\n') ? END.slice(2) : END)
      return self.reply()
    },
    destroy: () => void socket.destroy(),
  }
  return self
}
