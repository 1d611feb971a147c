/** A DNS server over UDP that knows only the domains of the classes: their MX and the addresses of the hosts. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  decodeMessage,
  encodeMessage,
  encodeName,
  type ResourceRecord,
  TYPE,
  uint16,
} from '../../../services/mail/dns/dns-message.ts'
import { addressOf, hostsOf, type SiteClass, ZONE } from './site-class.ts'

const TTL = 300
const NAME = new RegExp(`^(mx\\.)?([a-z0-9]+)-(\\d+)\\.${ZONE.replace('.', '\\.')}$`)
/** Response, recursion available. */
const FLAGS = 0x8180
const NXDOMAIN = 3

/** Starts it on 127.0.0.1, on the port of BENCH_DNS_PORT or a free one. `count` is called for each question. */
export async function startDnsStub(classes: readonly SiteClass[], count: () => void): Promise<number> {
  const byName = new Map(classes.map((site, index) => [site.name, { site, index }]))

  const answersOf = (name: string, type: number): ResourceRecord[] | undefined => {
    const [, mx, className = '', number] = NAME.exec(name) ?? []
    const found = byName.get(className)
    if (!found) return undefined
    const n = Number(number)
    const record = (data: Buffer) => [{ name, type, class: 1, ttl: TTL, data }]
    if (mx && type === TYPE.A) return record(Buffer.from(addressOf(found.index, n).split('.').map(Number)))
    if (!mx && type === TYPE.MX) {
      const host = `mx.${className}-${n % hostsOf(found.site)}.${ZONE}`
      return record(Buffer.concat([uint16(10), encodeName(host)]))
    }
    return []
  }

  const socket = createSocket('udp4')
  socket.on('message', (bytes, from) => {
    count()
    const { id, questions } = decodeMessage(bytes)
    const [question] = questions
    const answers = question && answersOf(question.name, question.type)
    const flags = FLAGS | (answers ? 0 : NXDOMAIN)
    const reply = { id, flags, questions, answers: answers ?? [], authorities: [], additionals: [] }
    socket.send(encodeMessage(reply), from.port, from.address)
  })
  socket.bind(Number(process.env.BENCH_DNS_PORT ?? 0), '127.0.0.1')
  await once(socket, 'listening')
  return socket.address().port
}
