/** Sends DNS messages: UDP with a repeat over TCP for long answers, or TCP alone. */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { verbatim } from '../../platform/sentences/compose.ts'
import { type Sentence, SentenceError, sentence } from '../../platform/sentences/sentence.ts'
import { CLASS, type Decoded, decodeMessage, encodeMessage, TYPE } from './dns-message.ts'

/** A server by address. Callers have resolved its name and checked that the address may be contacted. */
export interface ServerAddress {
  ip: string
  port: number
}

/** How a question is put. */
export interface AskOptions {
  /** Ask the server to resolve (recursors), or only for what it knows itself (authoritative servers). */
  recursion: boolean
  /** Milliseconds for one try. */
  timeoutMs: number
  /** Tries over UDP. */
  tries: number
}

/** No usable answer came: timeout, refused connection, cut, or nonsense. */
export class TransportError extends SentenceError {}

/** EDNS(0) payload that passes without fragments (DNS flag day 2020). */
const PAYLOAD = 1232

/** Asks one question. Throws {@link TransportError} when no answer comes. */
export async function ask(server: ServerAddress, name: string, type: number, options: AskOptions): Promise<Decoded> {
  const bytes = encodeMessage({
    id: randomInt(0x10000),
    flags: options.recursion ? 0x0100 : 0,
    questions: [{ name, type, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [{ name: '', type: TYPE.OPT, class: PAYLOAD, ttl: 0, data: Buffer.alloc(0) }],
  })
  for (let tried = 1; ; tried++) {
    try {
      const answer = await askUdp(server, bytes, options.timeoutMs)
      return answer.tc ? await askTcp(server, bytes, options.timeoutMs) : answer
    } catch (error) {
      if (tried >= options.tries) throw error
    }
  }
}

/** One datagram out, the matching one in. Others (late, forged, from elsewhere) are ignored until the time is up. */
function askUdp({ ip, port }: ServerAddress, bytes: Buffer, timeoutMs: number): Promise<Decoded> {
  const { promise, resolve, reject } = Promise.withResolvers<Decoded>()
  const socket = createSocket(ip.includes(':') ? 'udp6' : 'udp4')
  const fail = (reason: Sentence) => reject(new TransportError(reason))
  const timer = setTimeout(() => fail(sentence('dns.timeout')), timeoutMs)
  socket.on('error', error => fail(reasonOf(error)))
  socket.on('message', received => {
    const answer = readAnswer(received)
    if (answer && matches(answer, bytes)) resolve(answer)
  })
  // A connected socket takes datagrams of this server only, and learns of a closed port at once.
  socket.connect(port, ip, () => socket.send(bytes))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}

async function askTcp(server: ServerAddress, bytes: Buffer, timeoutMs: number): Promise<Decoded> {
  const answer = readAnswer(await exchangeTcp(server, bytes, timeoutMs))
  if (answer && matches(answer, bytes)) return answer
  throw new TransportError(sentence('dns.tcp_answer_unreadable'))
}

function readAnswer(bytes: Buffer): Decoded | undefined {
  try {
    return decodeMessage(bytes)
  } catch {
    return undefined
  }
}

function matches(answer: Decoded, request: Buffer): boolean {
  const [asked] = decodeMessage(request).questions
  const [given] = answer.questions
  const isAnswer = (answer.flags & 0x8000) !== 0 && answer.id === request.readUInt16BE(0)
  return isAnswer && (given === undefined || (given.name === asked?.name && given.type === asked.type))
}

/** One message over TCP with its length prefix (RFC 1035 4.2.2). Throws {@link TransportError}. */
export function exchangeTcp({ ip, port }: ServerAddress, bytes: Buffer, timeoutMs: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const socket = connect({ host: ip, port })
  const fail = (reason: Sentence) => reject(new TransportError(reason))
  const timer = setTimeout(() => fail(sentence('dns.timeout')), timeoutMs)
  let received = Buffer.alloc(0)
  socket.on('error', error => fail(reasonOf(error)))
  socket.on('close', () => fail(sentence('dns.connection_closed')))
  socket.on('connect', () => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    socket.write(Buffer.concat([length, bytes]))
  })
  socket.on('data', chunk => {
    received = Buffer.concat([received, chunk])
    if (received.length < 2) return
    const length = received.readUInt16BE(0)
    if (received.length >= length + 2) resolve(received.subarray(2, length + 2))
  })
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}

function reasonOf(error: NodeJS.ErrnoException): Sentence {
  if (error.code === 'ECONNREFUSED') return sentence('dns.connection_refused')
  if (error.code === 'ETIMEDOUT') return sentence('dns.timeout')
  return verbatim(error.code ?? error.message)
}
