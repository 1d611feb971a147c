import { afterEach, describe, expect, test } from 'vitest'
import { type Receiver, type ReceiverOptions, startReceiver } from '../../../../test/support/mail/receiving-server.ts'
import { transaction } from '../../../../test/support/mail/smtp-transaction.ts'
import { until } from '../../../../test/support/time/until.ts'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { createOutbound } from './outbound.ts'
import type { Deadlines } from './session.ts'
import { createTlsPolicy } from './tls-policy.ts'
import type { Relay, Route, Transaction, Transport } from './transport.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const AMPLE: Deadlines = { connect: 9_000, greeting: 9_000, command: 9_000, data: 9_000, block: 9_000, dot: 9_000 }

interface Setup {
  receiver: Receiver
  transport: Transport
  connections: number[]
}

async function setUp(
  given: ReceiverOptions = {},
  options: { relay?: Omit<Relay, 'port'>; now?: () => number; deadlines?: Partial<Deadlines> } = {},
): Promise<Setup> {
  const receiver = await startReceiver(given)
  stops.push(() => receiver.stop())
  const connections: number[] = []
  const now = options.now ?? Date.now
  const transport = createOutbound({
    mx: {
      hostsOf: async () => ({ kind: 'hosts', hosts: [] }),
      addressesOf: async host =>
        host === 'nowhere.test'
          ? { kind: 'permanent', reason: verbatim('no address') }
          : { kind: 'addresses', ips: [host === 'dead.test' ? '127.0.0.99' : '127.0.0.1'] },
    },
    tlsPolicy: createTlsPolicy({ now }),
    helo: 'us.example',
    port: receiver.port,
    ca: receiver.ca,
    deadlines: { ...AMPLE, ...options.deadlines },
    now,
    onConnections: count => connections.push(count),
    ...(options.relay && { relay: { ...options.relay, port: receiver.port } }),
  })
  stops.push(() => transport.stop())
  return { receiver, transport, connections }
}

const route = (...hosts: string[]): Route => ({ key: hosts.join(' '), hosts })
const to = (...emails: string[]) => emails.map(email => ({ email }))

describe('a transaction', () => {
  test('is delivered with all its bytes', async () => {
    const { receiver, transport } = await setUp()
    const content = Buffer.from('Subject: dots\r\n\r\n.one\r\n..two\r\n.\r\nend')
    const sent = await transport.send(route('localhost'), transaction({ content }), 100)
    expect(sent.outcomes).toMatchObject([{ kind: 'reply', stage: 'dot', reply: { code: 250, enhanced: '2.0.0' } }])
    expect(sent).toMatchObject({ mx: 'localhost', ip: '127.0.0.1', dsn: true, tls: undefined })
    expect(receiver.received[0]?.content.toString()).toBe(`${content}\r\n`)
    expect(receiver.protocolErrors).toEqual([])
    expect(sent.conversation).toContain('C: MAIL FROM:<a@example.com>')
    expect(sent.conversation).not.toContain('dots')
  })

  test.each([
    ['with pipelining', undefined],
    ['without', ['8BITMIME']],
  ])('gives each recipient its own result, %s', async (_, extensions) => {
    const { receiver, transport } = await setUp(extensions ? { extensions } : {})
    const recipients = to('a@x.test', 'rcpt-550-5.1.1@x.test', 'b@x.test', 'rcpt-451-4.2.0@x.test')
    const { outcomes } = await transport.send(route('localhost'), transaction({ recipients }), 100)
    expect(
      outcomes.map(outcome => (outcome.kind === 'reply' ? `${outcome.stage} ${outcome.reply.code}` : outcome.kind)),
    ).toEqual(['dot 250', 'rcpt 550', 'dot 250', 'rcpt 451'])
    expect(receiver.received[0]?.rcpts.map(({ email }) => email)).toEqual(['a@x.test', 'b@x.test'])
    expect(receiver.protocolErrors).toEqual([])
  })

  test.each([
    ['the sender', { from: 'mail-550-5.7.1@example.com' }, 'mail 550'],
    ['every recipient', { recipients: to('rcpt-550-5.1.1@x.test') }, 'rcpt 550'],
    ['the content', { recipients: to('dot-554-5.7.1@x.test') }, 'dot 554'],
  ])('that is refused for %s leaves a connection that still works', async (_, given, expected) => {
    for (const extensions of [undefined, ['SIZE 1000']]) {
      const { receiver, transport } = await setUp(extensions ? { extensions } : {})
      const { outcomes } = await transport.send(route('localhost'), transaction(given), 100)
      expect(
        outcomes.map(outcome => (outcome.kind === 'reply' ? `${outcome.stage} ${outcome.reply.code}` : outcome.kind)),
      ).toEqual([expected])
      await transport.send(route('localhost'), transaction(), 100)
      expect(receiver.received).toHaveLength(1)
      expect(receiver.connections()).toBe(1)
      expect(receiver.protocolErrors).toEqual([])
    }
  })

  test.each([
    ['drop', 'the server closed the connection'],
    ['hang', 'no reply within'],
  ])('whose reply to the dot is lost (%s) has an unknown outcome', async (local, reason) => {
    const { transport, receiver } = await setUp({}, { deadlines: { dot: local === 'hang' ? 300 : AMPLE.dot } })
    const { outcomes } = await transport.send(
      route('localhost'),
      transaction({ recipients: to(`${local}@x.test`) }),
      100,
    )
    expect(outcomes).toMatchObject([{ kind: 'unknown', error: { message: expect.stringContaining(reason) } }])
    expect(receiver.received).toHaveLength(1)
  })

  test.each<[string, Partial<Transaction>]>([
    ['the mark says that it is not ours', { mark: async () => false }],
    ['the lease ends before the dot', { mayFinish: () => false }],
    [
      'the lease ends before the dot of a large message',
      { mayFinish: () => false, content: Buffer.alloc(2_000_000, 'x\r\n') },
    ],
  ])('is withheld when %s', async (_, given) => {
    const { transport, receiver } = await setUp()
    const { outcomes } = await transport.send(route('localhost'), transaction(given), 100)
    expect(outcomes).toEqual([{ kind: 'withheld' }])
    await until(() => receiver.commands.some(line => line.endsWith('DATA')))
    expect(receiver.received).toHaveLength(0)
  })

  test.each([
    ['8-bit text', { eightBit: true }, [], '5.6.3'],
    ['internationalised mail', { utf8: true }, ['8BITMIME'], '5.6.7'],
    ['its size', {}, ['SIZE 10'], '5.3.4'],
  ])('is not begun when the server cannot take %s', async (_, given, extensions, enhanced) => {
    const { transport, receiver } = await setUp({ extensions })
    const { outcomes } = await transport.send(route('localhost'), transaction(given), 100)
    expect(outcomes).toMatchObject([{ kind: 'unsupported', reply: { enhanced } }])
    expect(receiver.commands.some(line => line.includes('MAIL'))).toBe(false)
  })

  test('passes on parameters that the server offers, and only those', async () => {
    const given = {
      eightBit: true,
      utf8: true,
      from: 'j\u00f6@example.com',
      dsn: { ret: 'HDRS' as const, envid: 'E1' },
      recipients: [{ email: 'b@x.test', notify: ['SUCCESS', 'FAILURE'], orcpt: 'rfc822;b@x.test' }],
    }
    const full = await setUp()
    await full.transport.send(route('localhost'), transaction(given), 100)
    expect(full.receiver.received[0]?.fromParameters).toEqual([
      'SIZE=22',
      'BODY=8BITMIME',
      'SMTPUTF8',
      'RET=HDRS',
      'ENVID=E1',
    ])
    expect(full.receiver.received[0]?.rcpts[0]?.parameters).toEqual(['NOTIFY=SUCCESS,FAILURE', 'ORCPT=rfc822;b@x.test'])
    const bare = await setUp({ extensions: ['8BITMIME', 'SMTPUTF8'] })
    const sent = await bare.transport.send(route('localhost'), transaction(given), 100)
    expect(bare.receiver.received[0]?.fromParameters).toEqual(['BODY=8BITMIME', 'SMTPUTF8'])
    expect(bare.receiver.received[0]?.rcpts[0]?.parameters).toEqual([])
    expect(sent.dsn).toBe(false)
  })
})

describe('connections', () => {
  test('are kept, up to the number of messages that they may carry', async () => {
    const { transport, receiver, connections } = await setUp()
    for (let i = 0; i < 5; i++) await transport.send(route('localhost'), transaction(), 2)
    expect(receiver.received.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3])
    expect(Math.max(...connections)).toBe(1)
  })

  test('that the server closed in between are replaced', async () => {
    const { transport, receiver } = await setUp()
    await transport.send(route('localhost'), transaction(), 100)
    await transport.send(route('localhost'), transaction({ recipients: to('drop@x.test') }), 100)
    const { outcomes } = await transport.send(route('localhost'), transaction(), 100)
    expect(outcomes).toMatchObject([{ reply: { code: 250 } }])
    expect(receiver.connections()).toBe(2)
  })

  test('of other routes are not shared', async () => {
    const { transport, receiver } = await setUp()
    await transport.send({ key: 'one', hosts: ['localhost'] }, transaction(), 100)
    await transport.send({ key: 'two', hosts: ['localhost'] }, transaction(), 100)
    expect(receiver.connections()).toBe(2)
  })

  test('go to the next host when one does not answer, and a dead one is left alone for a while', async () => {
    let now = 0
    const { transport, receiver } = await setUp({}, { now: () => now })
    for (let i = 0; i < 2; i++) {
      const sent = await transport.send({ key: `${i}`, hosts: ['dead.test', 'localhost'] }, transaction(), 100)
      expect(sent).toMatchObject({ mx: 'localhost', outcomes: [{ reply: { code: 250 } }] })
    }
    const only = await transport.send(route('dead.test'), transaction(), 100)
    expect(only).toMatchObject({ outcomes: [{ kind: 'withheld' }], unreachable: { until: 55_000 } })
    now += 3 * 60_000
    const again = await transport.send(route('dead.test'), transaction(), 100)
    expect(again.outcomes).toMatchObject([
      { kind: 'error', error: { message: expect.stringContaining('ECONNREFUSED') } },
    ])
    expect(receiver.received).toHaveLength(2)
  })

  test('a host without an address is a permanent failure, alone', async () => {
    const { transport } = await setUp()
    const alone = await transport.send(route('nowhere.test'), transaction(), 100)
    expect(alone.outcomes).toMatchObject([{ kind: 'unsupported', reply: { enhanced: '5.4.4' } }])
    const both = await transport.send(route('nowhere.test', 'localhost'), transaction(), 100)
    expect(both.outcomes).toMatchObject([{ reply: { code: 250 } }])
  })

  test.each([
    ['554 no service', 'greeting', 554],
    ['421 too busy', 'greeting', 421],
  ])('the greeting %s refuses everything', async (greeting, stage, code) => {
    const { transport } = await setUp({ greeting })
    expect((await transport.send(route('localhost'), transaction(), 100)).outcomes).toMatchObject([
      { kind: 'reply', stage, reply: { code } },
    ])
  })

  test.each([
    'hello',
    '250 wrong code',
    `220-${'x'.repeat(5_000)}`,
    Array.from({ length: 200 }, () => '220-more').join('\r\n'),
  ])('nonsense as a greeting ends the connection', async greeting => {
    const { transport } = await setUp({ greeting }, { deadlines: { greeting: 1_000 } })
    const { outcomes } = await transport.send(route('localhost'), transaction(), 100)
    expect(['error', 'reply']).toContain(outcomes[0]?.kind)
  })
})

describe('TLS', () => {
  test('is used when offered, whatever the certificate', async () => {
    const { transport, receiver } = await setUp({ tls: 'good' })
    const sent = await transport.send(route('elsewhere.test'), transaction(), 100)
    expect(receiver.received[0]?.tls).toBe(true)
    expect(sent.tls).toMatchObject({ version: 'TLSv1.3', verified: false })
    expect(sent.tls?.cipher).toMatch(/AES|CHACHA/)
  })

  test('that is broken is gone without, and remembered', async () => {
    const { transport, receiver } = await setUp({ tls: 'broken' })
    await transport.send({ key: '1', hosts: ['localhost'] }, transaction(), 100)
    await transport.send({ key: '2', hosts: ['localhost'] }, transaction(), 100)
    expect(receiver.received.map(({ tls }) => tls)).toEqual([false, false])
    expect(receiver.commands.filter(line => line.endsWith('STARTTLS'))).toHaveLength(1)
  })

  const policy = { mode: 'enforce', mx: ['localhost', 'elsewhere.test'] } as const

  test('under an enforced policy needs a good certificate of the right name', async () => {
    const { transport, receiver } = await setUp({ tls: 'good' })
    const good = await transport.send({ ...route('localhost'), policy }, transaction(), 100)
    expect(good.tls?.verified).toBe(true)
    const wrong = await transport.send({ ...route('elsewhere.test'), policy }, transaction(), 100)
    expect(wrong.outcomes).toMatchObject([{ kind: 'error', error: { kind: 'tls' } }])
    expect(receiver.received).toHaveLength(1)
  })

  test.each([['none'], ['broken']] as const)('under an enforced policy is not gone without (%s)', async tls => {
    const { transport, receiver } = await setUp({ tls })
    const { outcomes } = await transport.send({ ...route('localhost'), policy }, transaction(), 100)
    expect(['error', 'reply']).toContain(outcomes[0]?.kind)
    expect(receiver.received).toHaveLength(0)
  })

  test('under an enforced policy a host that it does not list is not even asked', async () => {
    const { transport, receiver } = await setUp({ tls: 'good' })
    const { outcomes } = await transport.send({ ...route('evil.test'), policy }, transaction(), 100)
    expect(outcomes).toMatchObject([{ kind: 'error', error: { kind: 'tls' } }])
    expect(receiver.connections()).toBe(0)
  })
})

describe('a relay with a login', () => {
  const login = { user: 'me', password: 'p\u00e4ss' }
  const relay = { host: 'localhost', implicitTls: false, login }

  test('gets it over verified TLS, and no log shows it', async () => {
    const { transport, receiver } = await setUp({ tls: 'good', login }, { relay })
    const sent = await transport.send(route('localhost'), transaction(), 100)
    expect(receiver.received).toHaveLength(1)
    expect(sent.conversation).toContain('C: AUTH PLAIN [secret]')
  })

  test('that refuses it is an outcome of the stage auth', async () => {
    const { transport } = await setUp({ tls: 'good', login: { user: 'me', password: 'other' } }, { relay })
    expect((await transport.send(route('localhost'), transaction(), 100)).outcomes).toMatchObject([
      { stage: 'auth', reply: { code: 535 } },
    ])
  })

  test('never gets it in clear', async () => {
    const { transport, receiver } = await setUp({ tls: 'none', login }, { relay })
    await transport.send(route('localhost'), transaction(), 100)
    expect(receiver.commands.some(line => line.includes('AUTH'))).toBe(false)
  })
})
