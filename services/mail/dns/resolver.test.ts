/** The resolver against servers that answer wrongly on purpose: nothing rejects, nothing hangs, nothing is made up. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verbatim } from '../../platform/sentences/compose.ts'
import {
  CLASS,
  decodeMessage,
  encodeData,
  encodeMessage,
  encodeName,
  type ResourceRecord,
  TYPE,
} from './dns-message.ts'
import { longestZone } from './records/names.ts'
import { createResolver } from './resolver.ts'

/** What a server says to a question: datagrams in order, and what it says over TCP (with its length prefix). */
interface Behaviour {
  udp(query: Buffer): readonly Buffer[]
  tcp?: (query: Buffer) => Buffer
}

/** A socket for UDP and a server for TCP on one port; the system chooses, and another program may have half of it. */
async function listenBothWays() {
  for (;;) {
    const stream = createServer()
    stream.listen(0, '127.0.0.1')
    await once(stream, 'listening')
    const { port } = stream.address() as AddressInfo
    const socket = createSocket('udp4')
    try {
      socket.bind(port, '127.0.0.1')
      await once(socket, 'listening')
      return { port, stream, socket }
    } catch {
      stream.close()
      socket.close()
    }
  }
}

/** Starts a server that answers both ways; gives a resolver that asks only it. */
async function resolverTo({ udp, tcp }: Behaviour) {
  const { port, stream, socket } = await listenBothWays()
  const clients = new Set<Socket>()
  stream.on('connection', client => {
    clients.add(client)
    client.on('error', () => undefined).on('close', () => clients.delete(client))
    client.once('data', bytes => void client.end(tcp?.(bytes.subarray(2)) ?? Buffer.alloc(0)))
  })
  socket.on('message', (query, { port: to }) => {
    for (const answer of udp(query)) socket.send(answer, to, '127.0.0.1')
  })
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    stream.close()
    socket.close()
  })
  return createResolver({
    servers: [`127.0.0.1:${port}`],
    port,
    allowPrivate: true,
    timeoutMs: 200,
    deadlineMs: 2_000,
  }).session()
}

/** The good answer to a query; `flags` and records are for the test to spoil. */
function answer(
  query: Buffer,
  records: readonly (Partial<ResourceRecord> & { data: Buffer })[],
  flags = 0x8480,
): Buffer {
  const { id, questions } = decodeMessage(query)
  const [question] = questions
  const answers = records.map(record => ({
    name: question?.name ?? '',
    type: question?.type ?? 0,
    class: CLASS.IN,
    ttl: 60,
    ...record,
  }))
  return encodeMessage({ id, flags, questions, answers, authorities: [], additionals: [] })
}

const prefixed = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
const ADDRESS = encodeData('A', '192.0.2.1')
const good = (query: Buffer) => answer(query, [{ data: ADDRESS }])
const FOUND = { kind: 'found', values: ['192.0.2.1'], ttl: 60 }
const TEMPORARY = { kind: 'temporary' }
const TRUNCATED = 0x8680

describe('record data that does not fit its type', () => {
  test.each([
    ['A', 'three octets', Buffer.from([127, 0, 1])],
    ['A', 'two octets that some would read as 127.0.0.1', Buffer.from([127, 1])],
    ['A', 'five octets', Buffer.from([192, 0, 2, 1, 9])],
    ['A', 'nothing', Buffer.alloc(0)],
    ['AAAA', 'four octets', Buffer.from([192, 0, 2, 1])],
    ['AAAA', 'seventeen octets', Buffer.alloc(17)],
    ['AAAA', 'nothing', Buffer.alloc(0)],
    ['TXT', 'a string longer than the record', Buffer.from([200, 0x61, 0x62])],
  ] as const)('%s: %s is no answer', async (type, _, data) => {
    const session = await resolverTo({ udp: query => [answer(query, [{ data }])] })
    expect(await session.lookup('example.com', type)).toMatchObject(TEMPORARY)
  })

  test('beside a good one spoils the answer: half a set is worse than none', async () => {
    const session = await resolverTo({ udp: query => [answer(query, [{ data: ADDRESS }, { data: Buffer.from([1]) }])] })
    expect(await session.lookup('example.com', 'A')).toMatchObject(TEMPORARY)
  })

  test.each(['MX', 'CNAME', 'NS', 'SOA'] as const)('%s without its name is no answer', async type => {
    const session = await resolverTo({ udp: query => [answer(query, [{ data: Buffer.from([0]) }]).subarray(0, -1)] })
    expect(await session.lookup('example.com', type)).toMatchObject(TEMPORARY)
  })
})

describe('datagrams that are not the answer are passed over', () => {
  const other = (query: Buffer, change: (copy: Buffer) => void) => {
    const copy = Buffer.from(good(query))
    change(copy)
    return copy
  }
  test.each<[string, (query: Buffer) => Buffer]>([
    ['another id', query => other(query, copy => copy.writeUInt16BE(copy.readUInt16BE(0) ^ 1, 0))],
    ['a query', query => other(query, copy => copy.writeUInt16BE(0x0100, 2))],
    ['nonsense', () => Buffer.from('nonsense')],
    ['nothing', () => Buffer.alloc(0)],
    [
      'another question',
      query =>
        answer(
          Buffer.concat([
            query.subarray(0, 12),
            encodeName('other.example'),
            Buffer.from([0, 1, 0, 1, 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]),
          ]),
          [],
        ),
    ],
  ])('%s', async (_, wrong) => {
    const session = await resolverTo({ udp: query => [wrong(query), good(query)] })
    expect(await session.lookup('example.com', 'A')).toEqual(FOUND)
  })

  test('and without the right one the result is unknown', async () => {
    const session = await resolverTo({ udp: () => [Buffer.from('nonsense')] })
    expect(await session.lookup('example.com', 'A')).toMatchObject(TEMPORARY)
  })
})

describe('a truncated answer is asked for again over TCP', () => {
  const truncated = (query: Buffer) => [answer(query, [], TRUNCATED)]

  test('and the whole one counts', async () => {
    const session = await resolverTo({ udp: truncated, tcp: query => prefixed(good(query)) })
    expect(await session.lookup('example.com', 'A')).toEqual(FOUND)
  })

  test.each<[string, (query: Buffer) => Buffer]>([
    ['a connection that ends', () => Buffer.alloc(0)],
    ['half an answer', query => prefixed(good(query)).subarray(0, 20)],
    ['a length of nothing', () => Buffer.from([0, 0])],
    ['nonsense', () => prefixed(Buffer.from('this is no DNS message at all'))],
    [
      'the answer to another question',
      query =>
        prefixed(
          answer(
            Buffer.concat([
              query.subarray(0, 12),
              encodeName('other.example'),
              Buffer.from([0, 1, 0, 1, 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]),
            ]),
            [{ data: ADDRESS }],
          ),
        ),
    ],
    [
      'the answer to another query',
      query => {
        const copy = Buffer.from(good(query))
        copy.writeUInt16BE(copy.readUInt16BE(0) ^ 1, 0)
        return prefixed(copy)
      },
    ],
  ])('%s there is no answer', async (_, tcp) => {
    const session = await resolverTo({ udp: truncated, tcp })
    expect(await session.lookup('example.com', 'A')).toMatchObject(TEMPORARY)
  })
})

describe('aliases', () => {
  const alias = (name: string, to: string) => ({ name, type: TYPE.CNAME, data: encodeName(to) })

  test('in a circle end, with nothing found', async () => {
    const session = await resolverTo({
      udp: query => [answer(query, [alias('example.com', 'b.example'), alias('b.example', 'example.com')])],
    })
    expect(await session.lookup('example.com', 'A')).toEqual({ kind: 'missing', reason: 'nodata' })
  })

  test('lead to the address at their end, not to one beside the chain', async () => {
    const records = [
      alias('example.com', 'b.example'),
      { name: 'b.example', data: ADDRESS },
      { name: 'c.example', data: Buffer.from([9, 9, 9, 9]) },
    ]
    const session = await resolverTo({ udp: query => [answer(query, records)] })
    expect(await session.lookup('example.com', 'A')).toEqual(FOUND)
  })
})

describe('what cannot be a name', () => {
  test.each(['a..example.com', `${'x'.repeat(64)}.example.com`, `${'a.'.repeat(130)}example.com`, '.'.repeat(3)])(
    '%s does not exist, and nobody is asked',
    async name => {
      const session = await resolverTo({ udp: query => [good(query)] })
      expect(await session.lookup(name, 'TXT')).toEqual({ kind: 'missing', reason: 'nxdomain' })
      expect(session.queries()).toBe(0)
    },
  )
})

test.each([
  [2, 'SERVFAIL'],
  [5, 'REFUSED'],
  [9, 'NOTAUTH'],
  [15, 'RCODE 15'],
])('response code %i is reported as %s, never as "missing"', async (rcode, code) => {
  const session = await resolverTo({ udp: query => [answer(query, [], 0x8480 | rcode)] })
  expect(await session.lookup('example.com', 'TXT')).toEqual({ kind: 'temporary', reason: verbatim(code) })
})

test('a session ends at its deadline, however many questions are left', async () => {
  const session = await resolverTo({ udp: () => [] })
  const began = performance.now()
  const names = Array.from({ length: 40 }, (_, i) => `n${i}.example.com`)
  for (const name of names) expect(await session.lookup(name, 'A')).toMatchObject(TEMPORARY)
  expect(performance.now() - began).toBeLessThan(5_000)
})

describe('the zone of a name', () => {
  /** A server that holds these zones, and aliases. Counts its questions. */
  function zoneServer(zones: readonly string[], aliases: Record<string, string> = {}) {
    const asked: string[] = []
    const udp = (query: Buffer): Buffer[] => {
      const { id, questions } = decodeMessage(query)
      const name = questions[0]?.name ?? ''
      asked.push(name)
      const zone = longestZone(
        zones.map(known => ({ name: known })),
        aliases[name] ?? name,
      )
      const soa = zone && { name: zone.name, type: TYPE.SOA, class: CLASS.IN, ttl: 60, data: Buffer.alloc(22) }
      const isApex = zone?.name === name
      const [answers, authorities] = soa ? [isApex ? [soa] : [], isApex ? [] : [soa]] : [[], []]
      return [encodeMessage({ id, flags: 0x8180, questions, answers, authorities, additionals: [] })]
    }
    return { udp, asked }
  }

  test.each<[string, string, string[], Record<string, string>, string | undefined]>([
    ['the apex answers with its record', 'example.com', ['com', 'example.com'], {}, 'example.com'],
    ['a name below it with that of its zone', '_dmarc.mail.example.com', ['com', 'example.com'], {}, 'example.com'],
    ['a delegated name has its own', 'mail.example.com', ['example.com', 'mail.example.com'], {}, 'mail.example.com'],
    [
      'an alias is in the zone above it',
      'a.b.example.com',
      ['example.com', 'vendor.test'],
      { 'a.b.example.com': 'x.vendor.test' },
      'example.com',
    ],
    ['an answer without one says nothing', 'example.com', [], {}, undefined],
  ])('%s', async (_, name, zones, aliases, expected) => {
    const server = zoneServer(zones, aliases)
    const session = await resolverTo(server)
    expect(await session.zoneOf(name)).toBe(expected)
    expect(server.asked.length).toBeLessThanOrEqual(2)
  })

  test('a recursor that is silent leaves it unknown', async () => {
    const session = await resolverTo({ udp: () => [] })
    expect(await session.zoneOf('example.com')).toBeUndefined()
  })
})
