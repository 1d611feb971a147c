/**
 * A mail server that replies as scripted, however wrong; mail/receiving-server.ts is its strict counterpart. Commands
 * that the script does not contain get the replies of a correct server.
 */
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { startTcpServer } from './tcp-server.ts'

/** At the end of a reply: the server closes the connection after it. As the only content: it closes without a reply. */
export const CLOSE = '\0close'

/** The event that is answered. `content`: sent at the first octets of the content, before its end. */
export type Moment =
  | ('greeting' | 'EHLO' | 'HELO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'RSET' | 'QUIT')
  | 'content'
  | 'dot'

/** Replies by event; of a list, one after another, and then the last one again. An empty text sends nothing. */
export type Script = Partial<Record<Moment, string | readonly string[]>>

/** The running server. */
export interface ScriptedServer {
  port: number
  /** Commands in order, with the number of their connection. */
  commands: string[]
  /** Contents up to their final dot, as sent. */
  contents: string[]
  connections(): number
  stop(): Promise<void>
}

const GOOD: Record<Moment, string> = {
  greeting: '220 scripted.test',
  EHLO: '250-scripted.test\r\n250-PIPELINING\r\n250-SIZE 1000000\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 DSN',
  HELO: '250 scripted.test',
  STARTTLS: '502 5.5.1 no',
  AUTH: '535 5.7.8 no',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  content: '',
  dot: '250 2.0.0 taken',
  RSET: '250 2.0.0 ok',
  QUIT: `221 2.0.0 bye${CLOSE}`,
}

/** Starts a server; the caller must stop it. `pieces`: octets per segment of its replies. */
export async function startScriptedServer(script: Script, pieces?: number): Promise<ScriptedServer> {
  const state = { commands: [] as string[], contents: [] as string[] }
  const answerTo = createAnswers(script)
  const server = await startTcpServer((socket, number) => new Client(socket, number, answerTo, pieces, state).start())
  return { ...state, ...server }
}

/** The replies in order, across all connections. */
function createAnswers(script: Script): (moment: Moment) => string {
  const given = new Map<Moment, number>()
  return moment => {
    const answers = script[moment] ?? GOOD[moment]
    if (typeof answers === 'string') return answers
    const index = given.get(moment) ?? 0
    given.set(moment, index + 1)
    return answers[Math.min(index, answers.length - 1)] ?? ''
  }
}

class Client {
  readonly #socket: Socket
  readonly #number: number
  readonly #answerTo: (moment: Moment) => string
  readonly #pieces: number | undefined
  readonly #state: Pick<ScriptedServer, 'commands' | 'contents'>
  #rest = ''
  #inContent = false
  #contentBegan = false
  #sending = Promise.resolve()

  constructor(
    socket: Socket,
    number: number,
    answerTo: (moment: Moment) => string,
    pieces: number | undefined,
    state: Pick<ScriptedServer, 'commands' | 'contents'>,
  ) {
    this.#socket = socket
    this.#number = number
    this.#answerTo = answerTo
    this.#pieces = pieces
    this.#state = state
  }

  start(): void {
    this.#socket.setEncoding('latin1')
    this.#socket.on('error', () => undefined)
    this.#socket.on('data', (chunk: string) => {
      this.#rest += chunk
      while (this.#inContent ? this.#content() : this.#command());
    })
    this.#answer('greeting')
  }

  #command(): boolean {
    const end = this.#rest.indexOf('\r\n')
    if (end === -1) return false
    const line = this.#rest.slice(0, end)
    this.#rest = this.#rest.slice(end + 2)
    this.#state.commands.push(`${this.#number} ${line}`)
    const verb = (line.split(' ')[0] ?? '') as Moment
    const reply = this.#answer(verb in GOOD ? verb : 'QUIT')
    this.#inContent = verb === 'DATA' && reply.includes('354')
    this.#contentBegan = false
    return true
  }

  #content(): boolean {
    if (!this.#contentBegan && this.#rest !== '') {
      this.#contentBegan = true
      this.#answer('content')
    }
    const end = this.#rest.startsWith('.\r\n') ? 0 : this.#rest.indexOf('\r\n.\r\n') + 2
    if (end === 1) return false
    this.#state.contents.push(this.#rest.slice(0, end))
    this.#rest = this.#rest.slice(end + 3)
    this.#inContent = false
    this.#answer('dot')
    return true
  }

  #answer(moment: Moment): string {
    const text = this.#answerTo(moment)
    this.#sending = this.#sending.then(() => this.#send(text))
    return text
  }

  async #send(answer: string): Promise<void> {
    const [text = '', ...close] = answer.split(CLOSE)
    const bytes = Buffer.from(text === '' ? '' : `${text}\r\n`, 'latin1')
    const step = this.#pieces ?? Math.max(1, bytes.length)
    for (let at = 0; at < bytes.length && this.#socket.writable; at += step) {
      this.#socket.write(bytes.subarray(at, at + step))
      await turn()
    }
    if (close.length > 0) this.#socket.end()
  }
}
