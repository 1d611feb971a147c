/** Sessions with real servers, with good, bad and no TLS: what is counted for the domains of their recipients. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ReceiverOptions, startReceiver } from '../../../../test/support/mail/receiving-server.ts'
import { CLOSE, startScriptedServer } from '../../../../test/support/mail/scripted-server.ts'
import { transaction } from '../../../../test/support/mail/smtp-transaction.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { makeCertificate } from '../../../platform/security/self-signed-certificate.ts'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { NO_POLICY, type ReportedPolicy, reportedPolicyOf, type TlsResult } from '../rules/tls-results.ts'
import { createOutbound, type OutboundOptions } from './outbound.ts'
import { createTlsPolicy } from './tls-policy.ts'
import type { Route } from './transport.ts'

const QUICK = { connect: 1_000, greeting: 1_000, command: 1_000, data: 1_000, block: 1_000, dot: 1_000 }
const stsOf = (mode: 'enforce' | 'testing', ...mx: string[]): Pick<Route, 'policy' | 'reported'> => ({
  policy: { mode, mx },
  reported: reportedPolicyOf({ id: '1', mode, mx, fetched: 0, expires: DAY_MS }),
})
const opportunistic = { reported: NO_POLICY }

/** A way out whose hosts are all at 127.0.0.1, and what it counted. */
function createFixture(port: number, given: Partial<OutboundOptions> = {}) {
  const counted: TlsResult[] = []
  const transport = createOutbound({
    mx: {
      hostsOf: async () => ({ kind: 'temporary', reason: verbatim('not asked here') }),
      addressesOf: async () => ({ kind: 'addresses', ips: ['127.0.0.1'] }),
    },
    tlsPolicy: createTlsPolicy({ now: () => 0 }),
    ...{ helo: 'us.example', port, deadlines: QUICK, now: () => 0, onConnections: () => {} },
    countTls: result => counted.push(result),
    ...given,
  })
  onTestFinished(() => transport.stop())
  const send = (route: Partial<Route>, ...recipients: string[]) =>
    transport.send(
      { key: 'key', hosts: ['localhost'], ...route },
      transaction({ recipients: recipients.map(email => ({ email })) }),
      100,
    )
  return { counted, send }
}

async function receiving(options: ReceiverOptions, given: Partial<OutboundOptions> = {}) {
  const receiver = await startReceiver(options)
  onTestFinished(() => receiver.stop())
  return { receiver, ...createFixture(receiver.port, { ca: receiver.ca, ...given }) }
}

/** As in `a.example: ok`, or with the reasons. */
const show = (results: readonly TlsResult[]) =>
  results.map(({ domain, failures }) => {
    const reasons = failures.map(({ type, reason }) => (reason ? `${type} (${reason})` : type))
    return `${domain}: ${reasons.join(', ') || 'ok'}`
  })

const expired = () => makeCertificate(['localhost'], 1, new Date(Date.now() - 10 * DAY_MS))
const ofOther = () => makeCertificate(['other.example'], 30, new Date())
const good = () => makeCertificate(['localhost'], 30, new Date())

describe('a session', () => {
  test.each<[string, ReceiverOptions & { given?: typeof good; untrusted?: true }, string, string]>([
    ['with a good certificate', { tls: 'good' }, 'ok', 'ok'],
    ['with an expired certificate', { tls: 'good', given: expired }, 'ok', 'certificate-expired (CERT_HAS_EXPIRED)'],
    [
      'with a certificate of another host',
      { tls: 'good', given: ofOther },
      'ok',
      'certificate-host-mismatch (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
    [
      'with a certificate that nobody signed',
      { tls: 'good', untrusted: true },
      'ok',
      'certificate-not-trusted (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
    ['without STARTTLS', { tls: 'none' }, 'starttls-not-supported', 'starttls-not-supported'],
  ])('%s: without a policy, with one that is tested, and with one that is enforced', async (_, options, none, sts) => {
    const { given, untrusted, ...receiver } = options
    const certificate = await given?.()
    const { counted, send } = await receiving(
      { ...receiver, ...(certificate && { certificate }) },
      untrusted ? { ca: (await good()).cert } : {},
    )
    const delivered = [
      await send({ key: '1', ...opportunistic }, 'x@a.example'),
      await send({ key: '2', ...stsOf('testing', 'localhost') }, 'x@b.example'),
      await send({ key: '3', ...stsOf('enforce', 'localhost') }, 'x@c.example'),
    ].map(({ outcomes: [outcome] }) => outcome?.kind === 'reply' && outcome.reply.code === 250)
    expect(delivered).toEqual([true, true, sts === 'ok'])
    // An enforced policy asks for TLS whatever the server offers, and the server has a reply.
    const enforced = sts === 'starttls-not-supported' ? `${sts} (502)` : sts
    expect(show(counted)).toEqual([`a.example: ${none}`, `b.example: ${sts}`, `c.example: ${enforced}`])
    expect(counted.map(({ policy }) => policy.type)).toEqual(['no-policy-found', 'sts', 'sts'])
    for (const failure of counted.flatMap(({ failures }) => failures))
      expect(failure).toMatchObject({ mx: 'localhost', ip: '127.0.0.1', from: '127.0.0.1' })
  })

  test('at a host that the policy does not name fails, and is only held when the policy is tested', async () => {
    const { receiver, counted, send } = await receiving({ tls: 'good' })
    await send({ key: '1', ...stsOf('testing', 'mx.b.example') }, 'x@b.example')
    await send({ key: '2', ...stsOf('enforce', 'mx.c.example') }, 'x@c.example')
    expect(receiver.connections()).toBe(1)
    expect(show(counted)).toEqual([
      'b.example: validation-failure (mx-not-in-policy)',
      'c.example: validation-failure (mx-not-in-policy)',
    ])
    expect(counted[1]?.failures).toEqual([{ type: 'validation-failure', reason: 'mx-not-in-policy', mx: 'localhost' }])
  })

  test('whose handshake fails counts once, although the mail then goes in clear, and so do the next ones', async () => {
    const { receiver, counted, send } = await receiving({ tls: 'broken' })
    await send(opportunistic, 'x@a.example')
    await send(opportunistic, 'y@a.example')
    expect(receiver.received).toHaveLength(2)
    // The code depends on whether the octets or the end of the connection are seen first.
    const failure = /^\w\.example: validation-failure \((ERR_SSL_\w+|ECONNRESET)\)$/
    expect(show(counted)).toEqual([expect.stringMatching(failure)])
    await send({ key: 'other', ...opportunistic }, 'x@b.example')
    expect(show(counted).slice(1)).toEqual([expect.stringMatching(failure)])
    await send({ key: 'enforced', ...stsOf('enforce', 'localhost') }, 'x@c.example')
    expect(show(counted).slice(2)).toEqual([expect.stringMatching(failure)])
    expect(counted.map(({ domain }) => domain)).toEqual(['a.example', 'b.example', 'c.example'])
  })

  test('that ends before TLS says nothing about it', async () => {
    const server = await startScriptedServer({ greeting: CLOSE })
    onTestFinished(() => server.stop())
    const { counted, send } = createFixture(server.port)
    await send(opportunistic, 'x@a.example')
    expect(counted).toEqual([])
  })
})

describe('a session counts', () => {
  test('once for each domain, however many recipients and messages', async () => {
    const { receiver, counted, send } = await receiving({ tls: 'good' })
    await send(opportunistic, 'x@a.example', 'y@A.example', 'x@bücher.example')
    await send(opportunistic, 'z@a.example')
    await send(opportunistic, 'z@c.example')
    expect(receiver.connections()).toBe(1)
    expect(show(counted)).toEqual(['a.example: ok', 'xn--bcher-kva.example: ok', 'c.example: ok'])
  })

  test('whatever the server says to the message', async () => {
    const { counted, send } = await receiving({ tls: 'good' })
    await send(opportunistic, 'rcpt-550-5.1.1@a.example')
    expect(show(counted)).toEqual(['a.example: ok'])
  })

  test.each<[string, Partial<Route>, string]>([
    ['for an address literal', opportunistic, 'x@[127.0.0.1]'],
    ['for a name of one label', opportunistic, 'x@localhost'],
    ['on a route that is not reported: relays, and TLS reports themselves', {}, 'x@a.example'],
  ])('not %s', async (_, route, recipient) => {
    const { receiver, counted, send } = await receiving({ tls: 'good' })
    await send(route, recipient)
    expect([receiver.received.length, counted]).toEqual([1, []])
  })

  test('for other mail also when a TLS report opened it', async () => {
    const { receiver, counted, send } = await receiving({ tls: 'good' })
    await send({}, 'tls-reports@a.example')
    await send(opportunistic, 'x@a.example')
    expect(receiver.connections()).toBe(1)
    expect(show(counted)).toEqual(['a.example: ok'])
  })

  test('not without a counter: TLS reports are off', async () => {
    const { receiver, counted, send } = await receiving({ tls: 'none' }, { countTls: undefined })
    await send(opportunistic, 'x@a.example')
    expect([receiver.received.length, counted]).toEqual([1, []])
  })
})

test('the policy is that of the route, with the reason why another one cannot be used', async () => {
  const reported: ReportedPolicy = { ...NO_POLICY, failure: 'sts-webpki-invalid' }
  const { counted, send } = await receiving({ tls: 'good' })
  await send({ reported }, 'x@a.example')
  expect(counted).toEqual([{ domain: 'a.example', policy: reported, failures: [] }])
})
