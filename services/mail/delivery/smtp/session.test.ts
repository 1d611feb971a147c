/** The client against servers that are slow, wrong or hostile: what is reported for the message, and that nothing hangs. */
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  CLOSE,
  type Script,
  type ScriptedServer,
  startScriptedServer,
} from '../../../../test/support/mail/scripted-server.ts'
import { transaction as transactionOf } from '../../../../test/support/mail/smtp-transaction.ts'
import { until } from '../../../../test/support/time/until.ts'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { createOutbound } from './outbound.ts'
import { type Deadlines, Session } from './session.ts'
import { createTlsPolicy } from './tls-policy.ts'
import type { RecipientOutcome, Transaction } from './transport.ts'

const QUICK: Deadlines = { connect: 5_000, greeting: 5_000, command: 5_000, data: 5_000, block: 5_000, dot: 5_000 }
const PLAIN = '250-scripted.test\r\n250 8BITMIME'

async function serve(script: Script, pieces?: number): Promise<ScriptedServer> {
  const server = await startScriptedServer(script, pieces)
  onTestFinished(() => server.stop())
  return server
}

async function open({ port }: ScriptedServer, deadlines: Partial<Deadlines> = {}): Promise<Session> {
  const session = await Session.open({
    host: 'localhost',
    ip: '127.0.0.1',
    port,
    helo: 'us.example',
    deadlines: { ...QUICK, ...deadlines },
    tls: 'offered',
  })
  onTestFinished(() => session.wire.destroy(verbatim('the test is over')))
  return session
}

/** The transport over one server, as the worker uses it. */
function transportTo({ port }: ScriptedServer, deadlines: Partial<Deadlines> = {}) {
  const transport = createOutbound({
    mx: {
      hostsOf: async () => ({ kind: 'hosts', hosts: [] }),
      addressesOf: async () => ({ kind: 'addresses', ips: ['127.0.0.1'] }),
    },
    tlsPolicy: createTlsPolicy({ now: Date.now }),
    helo: 'us.example',
    port,
    deadlines: { ...QUICK, ...deadlines },
    now: Date.now,
    onConnections: () => undefined,
  })
  onTestFinished(() => transport.stop())
  return (given: Partial<Transaction> = {}, most = 100) =>
    transport.send({ key: 'one', hosts: ['localhost'] }, transaction(given), most)
}

const TWO = [{ email: 'b@example.net' }, { email: 'c@example.net' }]
const transaction = (given: Partial<Transaction> = {}) => transactionOf({ recipients: TWO, ...given })

/** `dot 250`, `rcpt 550`, or the kind of what went wrong. */
const show = (outcomes: readonly RecipientOutcome[]) =>
  outcomes.map(outcome => (outcome.kind === 'reply' ? `${outcome.stage} ${outcome.reply.code}` : outcome.kind))

describe('replies in pieces', () => {
  test.each([1, 2, 3, 7])('of %i octets are the same replies', async pieces => {
    const server = await serve(
      { RCPT: ['250-2.1.5 first\r\n250 2.1.5 second', '550-5.1.1 no\r\n550 5.1.1 such user'] },
      pieces,
    )
    const session = await open(server)
    const outcomes = await session.transact(transaction())
    expect(outcomes).toMatchObject([
      { kind: 'reply', stage: 'dot', reply: { code: 250, enhanced: '2.0.0', text: 'taken' } },
      { kind: 'reply', stage: 'rcpt', reply: { code: 550, enhanced: '5.1.1', text: 'no such user' } },
    ])
    expect(session.offers('DSN')).toBe(true)
    expect(server.contents).toHaveLength(1)
  })
})

describe('a server that closes sends 421', () => {
  const cases: [string, Script, string[]][] = [
    ['instead of MAIL', { MAIL: `421 4.7.0 too many${CLOSE}` }, ['mail 421', 'mail 421']],
    ['instead of the first RCPT', { RCPT: `421 4.7.0 too many${CLOSE}` }, ['rcpt 421', 'rcpt 421']],
    ['instead of the second RCPT', { RCPT: ['250 ok', `421 4.7.0 too many${CLOSE}`] }, ['data 421', 'rcpt 421']],
    [
      'behind a recipient that does not exist',
      { RCPT: ['550 5.1.1 no', `421 4.7.0 too many${CLOSE}`] },
      ['rcpt 550', 'rcpt 421'],
    ],
    ['instead of DATA', { DATA: `421 4.3.2 shutting down${CLOSE}` }, ['data 421', 'data 421']],
    ['after the dot', { dot: `421 4.3.2 shutting down${CLOSE}` }, ['dot 421', 'dot 421']],
  ]
  test.each(
    cases.flatMap(([name, script, expected]) =>
      [true, false].map(pipelining => ({ name, script, expected, pipelining })),
    ),
  )(
    '$name (pipelining: $pipelining), and everything left open has this answer',
    async ({ script, expected, pipelining }) => {
      const server = await serve({ ...script, ...(!pipelining && { EHLO: PLAIN }) })
      const session = await open(server)
      const outcomes = await session.transact(transaction())
      expect(show(outcomes)).toEqual(expected)
      expect(session.wire.usable).toBe(false)
      expect(server.contents).toHaveLength('dot' in script ? 1 : 0)
    },
  )

  test('on a kept connection: the message goes over another one', async () => {
    for (const EHLO of [PLAIN, '250-scripted.test\r\n250 PIPELINING']) {
      const server = await serve({ EHLO, MAIL: ['250 ok', `421 4.4.2 idle${CLOSE}`, '250 ok'] })
      const send = transportTo(server)
      await send()
      expect(show((await send()).outcomes)).toEqual(['dot 250', 'dot 250'])
      expect(server.connections()).toBe(2)
    }
  })

  test('on every connection: the message waits, and the answer is known', async () => {
    const server = await serve({ MAIL: ['250 ok', `421 4.7.0 too many${CLOSE}`] })
    const send = transportTo(server)
    await send()
    expect(show((await send()).outcomes)).toEqual(['mail 421', 'mail 421'])
    expect(server.connections()).toBe(2)
  })
})

describe('before the final dot nothing is ambiguous', () => {
  /** A mark that is written only after the server has gone. */
  const lateMark = (session: Session) => async () => {
    while (session.wire.usable) await new Promise(resolve => setTimeout(resolve, 5))
    return true
  }

  test('a server that closes while the mark is written got no message', async () => {
    const server = await serve({ DATA: `354 go on${CLOSE}` })
    const session = await open(server)
    const outcomes = await session.transact(transaction({ mark: lateMark(session) }))
    expect(show(outcomes)).toEqual(['error', 'error'])
  })

  test.each([
    ['451 4.3.0 tired of waiting', ['data 451', 'data 451']],
    ['421 4.4.2 timeout', ['data 421', 'data 421']],
    ['554 5.7.1 I do not want this', ['data 554', 'data 554']],
  ])('a refusal that comes before the content is the answer: %s', async (text, expected) => {
    const server = await serve({ DATA: `354 go on\r\n${text}${CLOSE}` })
    const session = await open(server)
    expect(show(await session.transact(transaction({ mark: lateMark(session) })))).toEqual(expected)
    expect(server.contents).toEqual([])
  })

  test('a refusal in the middle of a large content is the answer, and the dot stays away', async () => {
    const server = await serve({ content: `552 5.3.4 too large${CLOSE}`, EHLO: PLAIN })
    const session = await open(server)
    const content = Buffer.alloc(12_000_000, `${'x'.repeat(70)}\r\n`) // more than the buffers between us hold
    expect(show(await session.transact(transaction({ content })))).toEqual(['data 552', 'data 552'])
    expect(server.contents).toEqual([])
  })

  test('a server that approves before the end does not get the end', async () => {
    const server = await serve({ DATA: '354 go on\r\n250 2.0.0 taken' })
    const session = await open(server)
    expect(show(await session.transact(transaction({ mark: lateMark(session) })))).toEqual(['error', 'error'])
    expect(server.contents).toEqual([])
    expect(session.wire.usable).toBe(false)
  })
})

describe('after the final dot the outcome is unknown', () => {
  test.each([
    ['silence', ''],
    ['the end of the connection', CLOSE],
    ['no SMTP at all', 'HTTP/1.1 200 OK'],
    ['a reply of two minds', '250-fine\r\n550 not fine'],
    ['a reply without an end', '250-and so on'],
    ['a line without an end', 'x'.repeat(5_000)],
    ['a number that is no code', '999 what'],
    ['half a reply', `25${CLOSE}`],
  ])('with %s', async (_, dot) => {
    const session = await open(await serve({ dot }), { dot: 300 })
    expect(show(await session.transact(transaction()))).toEqual(['unknown', 'unknown'])
    expect(session.wire.usable).toBe(false)
  })

  test('a reply followed by nonsense still counts', async () => {
    const session = await open(await serve({ dot: `250 2.0.0 taken\r\n${'x'.repeat(5_000)}` }))
    expect(show(await session.transact(transaction()))).toEqual(['dot 250', 'dot 250'])
    expect(session.wire.usable).toBe(false)
  })
})

describe('a reply that never ends', () => {
  test.each(['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA'] as const)(
    '(%s) ends at the deadline or the bound',
    async moment => {
      for (const text of ['250-on and on', Array(500).fill('250-on and on').join('\r\n')]) {
        const send = transportTo(await serve({ [moment]: text }), { greeting: 200, command: 200, data: 200 })
        const { outcomes, conversation } = await send()
        expect(show(outcomes)).toEqual(['error', 'error'])
        expect(conversation.length).toBeLessThan(6_000)
      }
    },
  )

  test('lines that arrive in time do not extend the deadline of the reply', async () => {
    const lines = Array(100).fill('250-more').join('\r\n')
    const server = await serve({ MAIL: lines, RCPT: '', DATA: '' }, 10)
    const session = await open(server, { command: 50 })
    const began = performance.now()
    expect(show(await session.transact(transaction()))).toEqual(['error', 'error'])
    expect(performance.now() - began).toBeLessThan(3_000)
  })
})

describe('replies that do not match their number', () => {
  const cases: [string, Script][] = [
    ['one too many after MAIL', { MAIL: '250 ok\r\n250 ok' }],
    ['one too many after RCPT', { RCPT: ['250 ok\r\n250 ok', '250 ok'] }],
    ['one too few', { RCPT: ['', '250 ok'] }],
    ['none', { MAIL: '', RCPT: '', DATA: '' }],
    ['refusals for everything, one too many', { MAIL: '550 no\r\n550 no', RCPT: '503 no', DATA: '503 no' }],
  ]
  test.each(cases)(
    '%s: no delivery is reported as done, and the next message gets its own replies',
    async (_, script) => {
      const server = await serve(script)
      const send = transportTo(server, { command: 300, data: 300 })
      const first = await send()
      expect(show(first.outcomes)).not.toContain('dot 250')
      const second = await send()
      // Complete messages only, as many as reported, and no command inside one.
      expect(server.contents).toEqual(show(second.outcomes)[0] === 'dot 250' ? [String(transaction().content)] : [])
      expect(server.commands.filter(line => /^\d+ (Subject|hello)/.test(line))).toEqual([])
    },
  )

  test('data between two messages costs the connection, not the message', async () => {
    const server = await serve({ dot: ['250 2.0.0 taken\r\n250 2.0.0 taken twice', '250 2.0.0 taken'] })
    const send = transportTo(server)
    await send()
    expect(show((await send()).outcomes)).toEqual(['dot 250', 'dot 250'])
    expect(server.connections()).toBe(2)
  })
})

describe('after a refusal', () => {
  test('RSET comes before the next MAIL', async () => {
    const server = await serve({ MAIL: ['550 5.7.1 not you', '250 ok'] })
    const send = transportTo(server)
    expect(show((await send()).outcomes)).toEqual(['mail 550', 'mail 550'])
    expect(show((await send()).outcomes)).toEqual(['dot 250', 'dot 250'])
    const verbs = server.commands.map(line => line.split(' ')[1])
    expect(verbs.slice(-5)).toEqual(['RSET', 'MAIL', 'RCPT', 'RCPT', 'DATA'])
    expect(server.connections()).toBe(1)
  })

  test.each(['500 what', '421 4.3.2 closing', `${CLOSE}`, '354 go on'])(
    'a server that does not reset (%s) gets the next message over a new connection',
    async RSET => {
      const server = await serve({
        RCPT: ['550 5.1.1 no', '550 5.1.1 no', '250 ok'],
        DATA: ['554 none', '354 go on'],
        RSET,
      })
      const send = transportTo(server)
      expect(show((await send()).outcomes)).toEqual(['rcpt 550', 'rcpt 550'])
      expect(show((await send()).outcomes)).toEqual(['dot 250', 'dot 250'])
      expect(server.connections()).toBe(2)
    },
  )

  test.each([['250 empty'], ['554 no recipients'], [CLOSE], ['']])(
    'of all recipients, DATA that is accepted all the same gets an empty message; its answer (%s) does not matter',
    async dot => {
      const server = await serve({ RCPT: '550 5.1.1 no', dot })
      const session = await open(server, { dot: 200 })
      expect(show(await session.transact(transaction()))).toEqual(['rcpt 550', 'rcpt 550'])
      await until(() => server.contents.length > 0)
      expect(server.contents).toEqual([''])
    },
  )

  test('of MAIL, DATA that is accepted all the same gets an empty message', async () => {
    const server = await serve({ MAIL: '550 5.7.1 not you' })
    const session = await open(server)
    expect(show(await session.transact(transaction()))).toEqual(['mail 550', 'mail 550'])
    expect(server.contents).toEqual([''])
  })
})

describe('what a server offers', () => {
  const full = { eightBit: true, utf8: true, dsn: { ret: 'HDRS' as const, envid: 'E+2B1' } }
  const recipient = { email: 'b@example.net', notify: ['FAILURE', 'DELAY'], orcpt: 'rfc822;b@example.net' }
  const size = transaction().content.length
  const parameters = ` SIZE=${size} BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=E+2B1`

  test.each<[string, Partial<Transaction>, string, string]>([
    ['PIPELINING,SIZE,8BITMIME,SMTPUTF8,DSN', full, parameters, ' NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.net'],
    ['size,8bitmime,smtputf8,dsn', full, parameters, ' NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.net'],
    ['8BITMIME,SMTPUTF8', full, ' BODY=8BITMIME SMTPUTF8', ''],
    ['DSN', { dsn: { envid: 'E1' } }, ' ENVID=E1', ' NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.net'],
    ['DSN', { dsn: { ret: 'FULL' } }, ' RET=FULL', ' NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.net'],
    ['8BITMIME,SMTPUTF8,DSN', {}, '', ' NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.net'],
    ['STARTTLSX,SIZEX 3,DSNX', {}, '', ''],
    ['SIZE 0', {}, ` SIZE=${size}`, ''],
    ['SIZE', {}, ` SIZE=${size}`, ''],
    ['SIZE unlimited', {}, ` SIZE=${size}`, ''],
    [`SIZE ${size}`, {}, ` SIZE=${size}`, ''],
    ['SIZE 99999999999999999999999', {}, ` SIZE=${size}`, ''],
  ])('%s decides what it is asked', async (offers, given, mail, rcpt) => {
    const lines = ['scripted.test', ...offers.split(',')]
    const EHLO = lines.map((line, index) => `250${index === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n')
    const server = await serve({ EHLO })
    const session = await open(server)
    expect(show(await session.transact(transaction({ recipients: [recipient], ...given })))).toEqual(['dot 250'])
    expect(server.commands).toContain(`1 MAIL FROM:<a@example.com>${mail}`)
    expect(server.commands).toContain(`1 RCPT TO:<b@example.net>${rcpt}`)
  })

  test.each<[string, Partial<Transaction>, string]>([
    ['SMTPUTF8', { eightBit: true }, '5.6.3'],
    ['8BITMIME', { eightBit: true, utf8: true }, '5.6.7'],
    ['8BITMIME', { utf8: true }, '5.6.7'],
    [`SIZE ${size - 1}`, {}, '5.3.4'],
    ['SIZE 1', {}, '5.3.4'],
  ])('%s alone cannot accept it, which is decided without a command (%o)', async (offer, given, enhanced) => {
    const server = await serve({ EHLO: `250-scripted.test\r\n250 ${offer}` })
    const session = await open(server)
    expect(await session.transact(transaction(given))).toMatchObject([
      { kind: 'unsupported', reply: { enhanced } },
      { kind: 'unsupported', reply: { enhanced } },
    ])
    expect(server.commands).toEqual(['1 EHLO us.example'])
    expect(session.wire.usable).toBe(true)
  })

  test('without 8BITMIME the message is sent in 7 bits, with its own size, and the log records it', async () => {
    const server = await serve({ EHLO: '250-scripted.test\r\n250 SIZE 1000' })
    const session = await open(server)
    const content = Buffer.from('Subject: hello\r\n\r\n=C3=A9\r\n')
    const given = transaction({ eightBit: true, sevenBit: async () => ({ content }) })
    expect(show(await session.transact(given))).toEqual(['dot 250', 'dot 250'])
    expect(server.commands).toContain(`1 MAIL FROM:<a@example.com> SIZE=${content.length}`)
    expect(server.contents).toEqual([content.toString()])
    expect(session.takeConversation()).toContain('does not offer 8BITMIME: the message was converted to 7 bits')
    const large = { ...given, sevenBit: async () => ({ content: Buffer.alloc(1001, 'x\r\n') }) }
    expect(await session.transact(large)).toMatchObject(
      Array(2).fill({ kind: 'unsupported', reply: { enhanced: '5.3.4' } }),
    )
  })

  test('a message that cannot be converted is not begun; one for a server that takes it is not converted', async () => {
    const refusal = { code: 554, enhanced: '5.6.2', text: 'signed' }
    const given = transaction({ eightBit: true, sevenBit: async () => refusal })
    const old = await open(await serve({ EHLO: '250 scripted.test' }))
    expect(await old.transact(given)).toEqual(Array(2).fill({ kind: 'unsupported', reply: refusal }))
    const modern = await open(await serve({ EHLO: PLAIN }))
    expect(show(await modern.transact(given))).toEqual(['dot 250', 'dot 250'])
  })

  test('a server that knows no EHLO is greeted with HELO and offered nothing', async () => {
    const server = await serve({ EHLO: '500 what' })
    const session = await open(server)
    const dsn = { ret: 'FULL' as const }
    expect(show(await session.transact(transaction({ recipients: [recipient], dsn })))).toEqual(['dot 250'])
    expect(server.commands.slice(0, 4)).toEqual([
      '1 EHLO us.example',
      '1 HELO us.example',
      '1 MAIL FROM:<a@example.com>',
      '1 RCPT TO:<b@example.net>',
    ])
  })

  test('data injected after the reply to STARTTLS is ignored', async () => {
    const server = await serve({
      EHLO: '250-scripted.test\r\n250 STARTTLS',
      STARTTLS: '220 go on\r\n250-evil.test\r\n250-PIPELINING\r\n250 AUTH PLAIN',
    })
    const failed = await open(server, { connect: 2_000 }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ kind: 'tls' })
    // What follows is the handshake, octets that may hold line ends.
    expect(server.commands.slice(0, 2)).toEqual(['1 EHLO us.example', '1 STARTTLS'])
    expect(server.commands.filter(line => /^\d+ (EHLO|AUTH|MAIL) /.test(line))).toHaveLength(1)
  })
})

test('whatever the content, the server reads it back unchanged', async () => {
  const server = await serve({ EHLO: PLAIN })
  const session = await open(server)
  const line = fc.constantFrom('', '.', '..', '.x', 'x.', '...', 'text', 'é', '. ', ' .')
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.boolean(), async (lines, ended) => {
      const content = Buffer.from(lines.join('\r\n') + (ended ? '\r\n' : ''))
      expect(show(await session.transact(transaction({ content, eightBit: true })))).toEqual(['dot 250', 'dot 250'])
      const read = (server.contents.at(-1) ?? '').replace(/(^|\r\n)\./g, '$1')
      const sent = content.toString('latin1')
      expect(read).toBe(sent.endsWith('\r\n') ? sent : `${sent}\r\n`)
    }),
    { numRuns: 150 },
  )
})
