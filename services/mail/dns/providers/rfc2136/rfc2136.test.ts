/** The update adapter against a server that answers wrongly: whatever it says becomes an error that callers can act on. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { noBudget } from '../../../../../test/support/dns/no-budget.ts'
import { startTcpServer } from '../../../../../test/support/mail/tcp-server.ts'
import { CLASS, decodeMessage, encodeMessage, encodeName, type Message, TYPE } from '../../dns-message.ts'
import { signMessage, type TsigKey } from '../../tsig.ts'
import type { Zone } from '../provider.ts'
import { createRfc2136 } from './rfc2136.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const KEY: TsigKey = { name: 'upd-key', algorithm: 'hmac-sha256', secret: Buffer.from('secret') }
const ZONE: Zone = { id: 'zone.test', name: 'zone.test', minTtl: 0, maxTxt: 4_000, nameServers: [], warnings: [] }
const RECORD = { name: 'zone.test', type: 'TXT' as const, value: 'v=spf1 -all', ttl: 600 }

/** An answer that only lacks its signature. */
const plain = (query: Buffer, more: Partial<Message> = {}): Buffer => {
  const { id, questions } = decodeMessage(query)
  return encodeMessage({ id, flags: 0x8400, questions, answers: [], authorities: [], additionals: [], ...more })
}
/** One with a TSIG record of this error and data behind it, whose MAC is none. */
function withTsig(query: Buffer, error: number, flags = 0x8409): Buffer {
  const data = Buffer.concat([encodeName('hmac-sha256'), Buffer.alloc(6), Buffer.from([1, 44, 0, 0, 0, 0])])
  const record = { name: KEY.name, type: TYPE.TSIG, class: CLASS.ANY, ttl: 0 }
  const whole = Buffer.concat([data, Buffer.from([0, error, 0, 0])])
  return plain(query, { flags, additionals: [{ ...record, data: whole }] })
}
const framed = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])

/** A provider whose server sends `reply(query)` to everything and then closes, unless there is nothing to send. */
async function behind(reply: (query: Buffer) => Buffer | undefined) {
  const server = await startTcpServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', bytes => {
      const bytesToSend = reply(bytes.subarray(2))
      if (bytesToSend) socket.end(bytesToSend)
    })
  })
  onTestFinished(() => server.stop())
  const counted: string[] = []
  const provider = createRfc2136(
    { server: 'test', key_name: KEY.name, key_algorithm: KEY.algorithm, key_secret: KEY.secret.toString('base64') },
    {
      budget: noBudget,
      now: () => NOW,
      counted: (operation, outcome) => void counted.push(`${operation} ${outcome}`),
      serverAddress: async () => ({ ip: '127.0.0.1', port: server.port }),
      timeoutMs: 300,
    },
  )
  return { provider, counted }
}

describe('a server that', () => {
  test.each<[string, (query: Buffer) => Buffer | undefined, string, string]>([
    ['says nothing', () => undefined, 'unavailable', 'unknown_outcome'],
    ['closes at once', () => Buffer.alloc(0), 'unavailable', 'unknown_outcome'],
    ['closes within the length', () => Buffer.of(0), 'unavailable', 'unknown_outcome'],
    ['closes within the answer', query => framed(plain(query)).subarray(0, 9), 'unavailable', 'unknown_outcome'],
    ['sends an empty answer', () => framed(Buffer.alloc(0)), 'unavailable', 'unknown_outcome'],
    ['speaks HTTP', () => framed(Buffer.from('HTTP/1.1 400 Bad Request')), 'unavailable', 'unknown_outcome'],
    [
      'answers another question',
      query => framed(plain(query, { id: decodeMessage(query).id ^ 1 })),
      'unavailable',
      'unknown_outcome',
    ],
    ['fails with SERVFAIL', query => framed(plain(query, { flags: 0x8402 })), 'unavailable', 'unknown_outcome'],
    ['does not understand', query => framed(plain(query, { flags: 0x8401 })), 'unavailable', 'invalid'],
    ['does not sign', query => framed(plain(query)), 'auth', 'unknown_outcome'],
    ['signs with half a record', query => framed(halfSigned(query)), 'auth', 'unknown_outcome'],
    ['signs with another key', query => framed(signedByOther(query)), 'auth', 'unknown_outcome'],
    ['knows no such key', query => framed(withTsig(query, 17)), 'auth', 'permission'],
    ['finds our signature wrong', query => framed(withTsig(query, 16)), 'auth', 'auth'],
  ])('%s', async (_, reply, ofRead, ofWrite) => {
    const { provider, counted } = await behind(reply)
    const error = (kind: string) => ({ name: 'DnsProviderError', kind, message: expect.not.stringContaining('c2Vj') })
    await expect(provider.list(ZONE, 'zone.test')).rejects.toMatchObject(error(ofRead))
    const write = provider.batch?.write(ZONE, [{ action: 'create', record: RECORD }], [], '')
    await expect(write).rejects.toMatchObject(error(ofWrite))
    // A key that only updates are refused with is counted as what the server said.
    expect(counted).toEqual([`query ${ofRead}`, `update ${ofWrite === 'permission' ? 'auth' : ofWrite}`])
  })

  test('refuses without a signature has no such zone, and takes no update', async () => {
    const { provider } = await behind(query => framed(plain(query, { flags: 0x8405 })))
    expect(await provider.findZone('zone.test')).toBeUndefined()
    expect(await provider.read([{ name: 'zone.test', types: ['TXT'] }])).toEqual([{ name: 'zone.test', records: [] }])
    await expect(provider.create(ZONE, RECORD, '')).rejects.toMatchObject({ kind: 'permission', permission: 'update' })
  })
})

test('a server that is not there leaves no doubt about a write', async () => {
  const { provider } = await behind(() => undefined)
  const gone = createRfc2136(
    { server: 'test', key_name: 'k', key_algorithm: 'hmac-sha256', key_secret: 'eA==' },
    {
      budget: noBudget,
      now: () => NOW,
      counted: () => undefined,
      serverAddress: async () => ({ ip: '127.0.0.1', port: 1 }),
    },
  )
  const write = gone.batch?.write(ZONE, [{ action: 'create', record: RECORD }], [], '')
  await expect(write).rejects.toMatchObject({ kind: 'unavailable' })
  const silent = provider.batch?.write(ZONE, [{ action: 'create', record: RECORD }], [], '')
  await expect(silent).rejects.toMatchObject({ kind: 'unknown_outcome' })
})

test('nothing is asked about names outside the zone of the account', async () => {
  const { provider, counted } = await behind(() => undefined)
  const narrow = createRfc2136(
    { server: 'test', zone: 'zone.test', key_name: 'k', key_algorithm: 'hmac-sha256', key_secret: 'eA==' },
    { budget: noBudget, now: () => NOW, counted: () => undefined, serverAddress: () => expect.fail('it was asked') },
  )
  expect(await narrow.findZone('other.test')).toBeUndefined()
  expect(await narrow.findZone('notzone.test')).toBeUndefined()
  expect(await narrow.read([{ name: 'x.other.test', types: ['TXT', 'CNAME'] }])).toEqual([
    { name: 'x.other.test', records: [] },
  ])
  expect(await provider.read([])).toEqual([])
  expect(counted).toEqual([])
})

function halfSigned(query: Buffer): Buffer {
  const record = { name: KEY.name, type: TYPE.TSIG, class: CLASS.ANY, ttl: 0, data: Buffer.from([0, 1, 2, 3]) }
  return plain(query, { additionals: [record] })
}

function signedByOther(query: Buffer): Buffer {
  return signMessage(plain(query), { ...KEY, secret: Buffer.from('another') }, NOW).bytes
}
