/** A resolver for tests: forwards to authoritative servers by suffix, and fails or forges configured names. */
import { createSocket } from 'node:dgram'
import * as packet from 'dns-packet'
import { longestZone } from '../../../services/mail/dns/records/names.ts'

/** The response for a name instead of the real one. */
export type Misbehaviour = 'servfail' | 'refused' | 'silence' | 'nxdomain' | { txt: string[] }

/** The port of the server for a zone. */
export interface Forward {
  name: string
  port: number
}

/** A running recursor. */
export interface Recursor {
  /** As in DNS_SERVERS. */
  address: string
  /** By lower-case name; `*` matches every name. */
  misbehave: Map<string, Misbehaviour>
  queries(): number
  /** Names that were asked for, in lower case. A real recursor would remember those that did not exist. */
  asked: ReadonlySet<string>
  stop(): Promise<void>
}

const RECURSION_AVAILABLE = 0x80
const AUTHORITATIVE = 0x04

/** Starts a recursor over the zones; names outside them do not exist. */
export async function startRecursor(forwards: readonly Forward[]): Promise<Recursor> {
  const socket = createSocket('udp4')
  const misbehave = new Map<string, Misbehaviour>()
  const asked = new Set<string>()
  let queries = 0
  let stopped = false
  socket.on('message', (query, client) => {
    queries++
    const name = packet.decode(query).questions?.[0]?.name.toLowerCase() ?? ''
    asked.add(name)
    const misbehaviour = misbehave.get(name) ?? misbehave.get('*')
    if (misbehaviour === 'silence') return
    const send = (answer: Buffer) => {
      // The client of a forwarded query may have ended its test, and this server with it.
      if (!stopped) socket.send(answer, client.port, client.address)
    }
    const zone = longestZone(forwards, name)
    if (misbehaviour || !zone) send(own(query, misbehaviour ?? 'nxdomain'))
    else void resolve(forwards, query, zone.port).then(send)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    misbehave,
    queries: () => queries,
    asked,
    stop: () => {
      stopped = true
      return new Promise(resolve => socket.close(() => resolve()))
    },
  }
}

/** Forwards the bytes and changes the flags only; an alias into another zone is followed. */
async function resolve(forwards: readonly Forward[], query: Buffer, port: number): Promise<Buffer> {
  const answer = await forward(query, port)
  const { answers = [], questions = [], id } = packet.decode(answer)
  const [question] = questions
  const last = answers.at(-1)
  if (last?.type !== 'CNAME' || question?.type === 'CNAME') return answer
  const zone = longestZone(forwards, last.data.toLowerCase())
  if (!zone) return answer
  const next = packet.encode({
    type: 'query',
    id: id ?? 0,
    questions: [{ type: question?.type ?? 'A', name: last.data }],
  })
  const target = packet.decode(await forward(next, zone.port))
  return packet.encode({
    type: 'response',
    id: id ?? 0,
    flags: 0x0180,
    questions,
    answers: [...answers, ...(target.answers ?? [])],
  })
}

function forward(query: Buffer, port: number): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const upstream = createSocket('udp4')
  const close = setTimeout(() => upstream.close(), 5_000)
  upstream.once('message', answer => {
    clearTimeout(close)
    upstream.close()
    answer[2] = (answer[2] ?? 0) & ~AUTHORITATIVE
    answer[3] = (answer[3] ?? 0) | RECURSION_AVAILABLE
    resolve(answer)
  })
  upstream.send(query, port, '127.0.0.1')
  return promise
}

function own(query: Buffer, misbehaviour: Exclude<Misbehaviour, 'silence'>): Buffer {
  const { id, questions } = packet.decode(query)
  const name = questions?.[0]?.name ?? ''
  const rcode = typeof misbehaviour === 'object' ? 0 : { servfail: 2, nxdomain: 3, refused: 5 }[misbehaviour]
  const isTxt = questions?.[0]?.type === 'TXT'
  const answers =
    typeof misbehaviour === 'object' && isTxt
      ? misbehaviour.txt.map(data => ({ type: 'TXT' as const, name, ttl: 60, data }))
      : []
  return packet.encode({ type: 'response', id: id ?? 0, flags: 0x0180 | rcode, questions: questions ?? [], answers })
}
