/** Several hosts of one domain, some of which cut the connection, refuse or are silent: which one gets the mail, and when again. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Receiver, startReceiver } from '../../../../test/support/mail/receiving-server.ts'
import {
  CLOSE,
  type Script,
  type ScriptedServer,
  startScriptedServer,
} from '../../../../test/support/mail/scripted-server.ts'
import { transaction } from '../../../../test/support/mail/smtp-transaction.ts'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import type { AddressAnswer } from './mx.ts'
import { createOutbound } from './outbound.ts'
import type { Deadlines } from './session.ts'
import { createTlsPolicy } from './tls-policy.ts'
import type { RecipientOutcome, Relay, Sent } from './transport.ts'

const QUICK = { connect: 300, greeting: 300, command: 300, data: 300, block: 300, dot: 300 }
const MINUTE = 60_000
const OFFERS_TLS = '250-scripted.test\r\n250 STARTTLS'

const ADDRESSES: Readonly<Record<string, AddressAnswer>> = {
  'bad.test': { kind: 'addresses', ips: ['127.0.0.1'] },
  'good.test': { kind: 'addresses', ips: ['127.0.0.2'] },
  'both.test': { kind: 'addresses', ips: ['127.0.0.1', '127.0.0.2'] },
  'closed.test': { kind: 'addresses', ips: ['127.0.0.9'] },
  'nowhere.test': { kind: 'permanent', reason: verbatim('nowhere.test has no address') },
  'unsure.test': { kind: 'temporary', reason: verbatim('DNS gave no answer') },
}

interface Fixture {
  bad: ScriptedServer
  good: Receiver
  time: { now: number }
  connections: number[]
  send(
    ...hosts: string[]
  ): Promise<{ outcome: string; mx: string | undefined; conversation: string; unreachable: Sent['unreachable'] }>
}

/** A server with a script, and a second one, at the next address, that accepts everything. */
async function createFixture(
  script: Script,
  relay?: Omit<Relay, 'port'>,
  deadlines: Deadlines = QUICK,
): Promise<Fixture> {
  const bad = await startScriptedServer(script)
  const good = await startReceiver({ host: '127.0.0.2', port: bad.port })
  const time = { now: 1_000_000 }
  const connections: number[] = []
  const transport = createOutbound({
    mx: {
      hostsOf: async () => ({ kind: 'temporary', reason: verbatim('not asked here') }),
      addressesOf: async host => ADDRESSES[host] ?? { kind: 'temporary', reason: verbatim(`unknown host ${host}`) },
    },
    tlsPolicy: createTlsPolicy({ now: () => time.now }),
    ...{ helo: 'us.example', port: bad.port, deadlines, now: () => time.now },
    onConnections: count => connections.push(count),
    ...(relay && { relay: { ...relay, port: bad.port } }),
  })
  onTestFinished(async () => {
    await transport.stop()
    await Promise.all([bad.stop(), good.stop()])
  })
  let sent = 0
  return {
    ...{ bad, good, time, connections },
    async send(...hosts) {
      const { outcomes, mx, conversation, unreachable } = await transport.send(
        { key: `${hosts.join(' ')} ${sent++}`, hosts },
        transaction(),
        100,
      )
      return { outcome: show(outcomes[0]), mx, conversation, unreachable }
    },
  }
}

function show(outcome: RecipientOutcome | undefined): string {
  if (outcome?.kind === 'reply') return `${outcome.stage} ${outcome.reply.code}`
  if (outcome?.kind === 'error') return `${outcome.kind} ${outcome.error.kind}`
  return outcome?.kind ?? 'nothing'
}

describe('a host that fails before the first transaction leaves the mail to the next one', () => {
  const cases: [string, Script][] = [
    ['closes without a greeting', { greeting: CLOSE }],
    ['closes within its greeting', { greeting: `220-half${CLOSE}` }],
    ['is silent', { greeting: '' }],
    ['greets with a refusal', { greeting: '554 5.7.1 not you' }],
    ['greets with "later"', { greeting: `421 4.3.2 too busy${CLOSE}` }],
    ['closes at EHLO', { EHLO: CLOSE }],
    ['is silent at EHLO', { EHLO: '' }],
    ['refuses EHLO for now', { EHLO: '450 4.7.1 later' }],
    ['knows no EHLO and closes at HELO', { EHLO: '500 what', HELO: CLOSE }],
    ['knows no EHLO and refuses HELO', { EHLO: '500 what', HELO: '550 no' }],
    ['closes at STARTTLS', { EHLO: OFFERS_TLS, STARTTLS: CLOSE }],
  ]
  test.each(cases)('it %s', async (_, script) => {
    const { bad, good, send, connections } = await createFixture(script)
    expect(await send('bad.test', 'good.test')).toMatchObject({ outcome: 'dot 250', mx: 'good.test' })
    expect([bad.contents, good.received.length]).toEqual([[], 1])
    expect(bad.connections()).toBe(1)
    expect(connections.at(-1)).toBe(1)
  })

  test.each(cases)('as do the addresses of one host, when it %s', async (_, script) => {
    const { good, send } = await createFixture(script)
    expect(await send('both.test')).toMatchObject({ outcome: 'dot 250', mx: 'both.test' })
    expect(good.received).toHaveLength(1)
  })
})

describe('a host that closes within the transaction', () => {
  test.each<[keyof Script, string]>([
    ['MAIL', 'error network'],
    ['RCPT', 'error network'],
    ['DATA', 'error network'],
    ['dot', 'unknown'],
  ])('at %s ends the attempt (%s): no other host gets what this one may have', async (moment, outcome) => {
    const { bad, good, send, connections } = await createFixture({ [moment]: CLOSE })
    expect(await send('bad.test', 'good.test')).toMatchObject({ outcome, mx: 'bad.test' })
    expect(good.received).toEqual([])
    expect([bad.connections(), connections.at(-1)]).toEqual([1, 0])
  })
})

describe('TLS that a host offers and breaks', () => {
  test.each([
    ['closes instead of the handshake', `220 go on${CLOSE}`],
    ['answers in clear', '220 go on\r\n250 this is no handshake'],
    ['is silent', '220 go on'],
  ])('(it %s) is gone without at that host, immediately and the next time', async (_, STARTTLS) => {
    const { bad, send } = await createFixture({ EHLO: OFFERS_TLS, STARTTLS })
    expect(await send('bad.test', 'good.test')).toMatchObject({ outcome: 'dot 250', mx: 'bad.test' })
    expect(await send('bad.test', 'good.test')).toMatchObject({ outcome: 'dot 250', mx: 'bad.test' })
    expect(bad.commands.filter(line => line.endsWith('STARTTLS'))).toHaveLength(1)
  })

  test('that is refused in words is gone without on the same connection', async () => {
    const { bad, send } = await createFixture({ EHLO: OFFERS_TLS, STARTTLS: '454 4.7.0 not now' })
    expect(await send('bad.test')).toMatchObject({ outcome: 'dot 250' })
    expect(bad.connections()).toBe(1)
  })
})

describe('an address that did not answer', () => {
  const scripts: [string, Script, number][] = [
    ['that cut the connection', { greeting: CLOSE }, 2 * MINUTE],
    ['that let us wait', { greeting: '' }, 15 * MINUTE],
    ['that spoke no SMTP', { greeting: 'SSH-2.0-OpenSSH' }, 2 * MINUTE],
  ]
  test.each(scripts)('%s is passed over for its time while another one takes the mail', async (_, script, ms) => {
    const { bad, time, send } = await createFixture(script)
    await send('bad.test', 'good.test')
    time.now += ms - 1
    expect(await send('bad.test', 'good.test')).toMatchObject({ mx: 'good.test' })
    expect(bad.connections()).toBe(1)
    time.now += 1
    await send('bad.test', 'good.test')
    expect(bad.connections()).toBe(2)
  })

  test.each(scripts)('%s and is the only one is asked once a minute; the rest is withheld', async (_, script) => {
    const { bad, time, send } = await createFixture(script)
    const start = time.now
    expect(inEnglish((await send('bad.test')).unreachable?.reason ?? '')).toContain('127.0.0.1')
    for (let n = 0; n < 3; n++) {
      time.now += 10_000
      expect(await send('bad.test')).toMatchObject({ outcome: 'withheld', unreachable: { until: start + 55_000 } })
    }
    expect(bad.connections()).toBe(1)
    time.now = start + 55_000
    expect(await send('bad.test')).toMatchObject({ outcome: expect.stringContaining('error') })
    expect(bad.connections()).toBe(2)
  })

  test('of a relay is asked again within five seconds: nothing goes out without it', async () => {
    const { bad, time, send } = await createFixture({ greeting: '' }, { host: 'bad.test', implicitTls: false })
    await send('bad.test')
    time.now += 4_499
    expect((await send('bad.test')).outcome).toBe('withheld')
    expect(bad.connections()).toBe(1)
    time.now += 1
    await send('bad.test')
    expect(bad.connections()).toBe(2)
  })

  test.each([['554 5.7.1 not you'], ['421 4.3.2 too busy']])(
    'did, when it refused (%s): it is asked again',
    async greeting => {
      const { bad, send } = await createFixture({ greeting })
      await send('bad.test')
      await send('bad.test')
      expect(bad.connections()).toBe(2)
    },
  )
})

describe('when no host takes it', () => {
  test.each<[string[], string]>([
    [['nowhere.test'], 'unsupported'],
    [['nowhere.test', 'nowhere.test'], 'unsupported'],
    [['nowhere.test', 'unsure.test'], 'error network'],
    [['unsure.test', 'nowhere.test'], 'error network'],
    [['nowhere.test', 'bad.test', 'nowhere.test'], 'greeting 554'],
    [['closed.test', 'nowhere.test'], 'error network'],
    [['bad.test', 'closed.test'], 'error network'],
    [[], 'error network'],
  ])('%j: a failure that may pass counts more than a host without an address', async (hosts, outcome) => {
    const { send, connections } = await createFixture({ greeting: '554 5.7.1 not you' })
    const sent = await send(...hosts)
    expect(sent).toMatchObject({ outcome, mx: undefined })
    expect(sent.conversation.split('\n').filter(Boolean)).toHaveLength(hosts.length)
    expect(connections).toEqual([])
  })
})

test('an address that is silent at first contact keeps its place briefly; later it gets the time of the RFC', async () => {
  const { bad, time, send } = await createFixture({ greeting: ['', '220 slow.test'] }, undefined, {
    ...QUICK,
    first: 20,
    greeting: 60_000,
  })
  expect((await send('bad.test')).outcome).toBe('error timeout')
  time.now += MINUTE
  expect((await send('bad.test')).outcome).toBe('dot 250')
  expect(bad.connections()).toBe(2)
})
