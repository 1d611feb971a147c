import { once } from 'node:events'
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Submission } from '../../../services/mail/submission/submission.ts'
import { refuse } from '../../../services/mail/submission/validate-sender.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import {
  acceptedAnswer,
  certificateFiles,
  LOGIN,
  startListener,
  type TestListener,
} from '../../support/mail/submission-listener.ts'
import { until } from '../../support/time/until.ts'

const MAIL = 'From: a@example.org\r\n\r\nhi\r\n'
const MODES = ['starttls', 'tls'] as const

/** A client that is logged in. */
async function loggedIn(listener: TestListener, mode: (typeof MODES)[number] = 'tls') {
  const client = await converse(listener[mode], { tls: mode === 'tls' })
  await client.reply()
  const reply = await client.logIn(LOGIN.username, LOGIN.password)
  if (reply.code !== 235) throw new Error(reply.text)
  return client
}

describe.each(MODES)('a regular client on the %s port', mode => {
  test('logs in, submits and quits', async () => {
    const listener = await startListener()
    const client = await converse(listener[mode], { tls: mode === 'tls' })
    expect((await client.reply()).text).toBe('220 mail.example.com ESMTP Postwright')
    expect((await client.logIn(LOGIN.username, LOGIN.password)).text).toBe('235 2.7.0 Authentication successful')
    const reply = await client.submit('bounce@example.org', ['b@example.net', 'c@example.net'], MAIL)
    expect(reply.text).toMatch(/^250 2\.0\.0 queued as em_[0-9a-z]{26}$/)
    expect((await client.command('QUIT')).code).toBe(221)
    await client.closed
    expect(listener.received).toMatchObject([
      {
        mailFrom: 'bounce@example.org',
        recipients: [
          { email: 'b@example.net', type: 'envelope' },
          { email: 'c@example.net', type: 'envelope' },
        ],
        received: { from: 'client.example', ip: '127.0.0.1', protocol: 'ESMTPSA' },
      },
    ])
    expect(listener.received[0]?.raw.toString()).toBe(MAIL)
  })

  test('gets the extensions, and AUTH only with TLS', async () => {
    const listener = await startListener()
    const client = await converse(listener[mode], { tls: mode === 'tls' })
    await client.reply()
    const { lines } = await client.command('EHLO client.example')
    const offered = lines.map(line => line.slice(4))
    expect(offered).toEqual(
      expect.arrayContaining(['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'DSN', 'SIZE 26214400']),
    )
    expect(offered.includes('STARTTLS')).toBe(mode === 'starttls')
    expect(offered.includes('AUTH PLAIN LOGIN')).toBe(mode === 'tls')
  })

  test('sends two messages in one pipelined stream', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener, mode)
    const envelope = 'MAIL FROM:<x@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'
    client.write(`${envelope}`)
    for (const code of [250, 250, 354]) expect((await client.reply()).code).toBe(code)
    client.write(`${MAIL}.\r\n${envelope}`)
    for (const code of [250, 250, 250, 354]) expect((await client.reply()).code).toBe(code)
    client.write(`${MAIL}.\r\nQUIT\r\n`)
    for (const code of [250, 221]) expect((await client.reply()).code).toBe(code)
    expect(listener.received).toHaveLength(2)
  })
})

describe('login', () => {
  test('AUTH LOGIN works like AUTH PLAIN', async () => {
    const listener = await startListener()
    const client = await converse(listener.tls, { tls: true })
    await client.reply()
    await client.command('EHLO client.example')
    expect((await client.command('AUTH LOGIN')).text).toBe('334 VXNlcm5hbWU6')
    expect((await client.command(btoa(LOGIN.username))).text).toBe('334 UGFzc3dvcmQ6')
    expect((await client.command(btoa(LOGIN.password))).code).toBe(235)
  })

  test('AUTH is rejected before TLS', async () => {
    const listener = await startListener()
    const client = await converse(listener.starttls)
    await client.reply()
    await client.command('EHLO client.example')
    expect((await client.command(`AUTH PLAIN ${btoa('\0a\0b')}`)).text).toMatch(/^538 5\.7\.0 /)
    expect((await client.command('AUTH LOGIN')).code).toBe(538)
  })

  test.each(MODES)('the %s port accepts nothing without login, for foreign and own domains', async mode => {
    const listener = await startListener()
    const client = await converse(listener[mode], { tls: mode === 'tls' })
    await client.reply()
    await client.command('EHLO client.example')
    for (const line of ['MAIL FROM:<a@example.org>', 'RCPT TO:<postmaster@example.org>', 'DATA'])
      expect((await client.command(line)).text).toMatch(/^530 5\.7\.0 /)
    expect(listener.received).toEqual([])
  })

  test('a wrong password and an unknown name get the same reply; the third failure ends the connection', async () => {
    const listener = await startListener()
    const client = await converse(listener.tls, { tls: true })
    await client.reply()
    const replies = [await client.logIn(LOGIN.username, 'wrong'), await client.logIn('nobody', 'wrong')]
    expect(replies.map(({ text }) => text)).toEqual(Array(2).fill('535 5.7.8 Wrong user name or password.'))
    expect((await client.logIn('', '')).code).toBe(535)
    expect((await client.reply()).text).toMatch(/^421 4\.7\.0 /)
    await client.closed
  })

  test('a database error gets 454 and does not count as a failed login', async () => {
    const listener = await startListener({ checkLogin: () => Promise.reject(new Error('away')) })
    const client = await converse(listener.tls, { tls: true })
    await client.reply()
    for (let i = 0; i < 4; i++)
      expect((await client.logIn(LOGIN.username, LOGIN.password)).text).toMatch(/^454 4\.7\.0 /)
  })

  test('does not wait for a database that is known to be unavailable, for logins and messages', async () => {
    let up = true
    const never = () => new Promise<never>(() => undefined)
    const listener = await startListener({ isUp: () => up, validateSender: never })
    const [early, late] = [await loggedIn(listener), await converse(listener.tls, { tls: true })]
    await late.reply()
    up = false
    expect((await early.command('MAIL FROM:<a@example.org>')).text).toMatch(/^451 4\.3\.0 /)
    expect((await late.logIn(LOGIN.username, LOGIN.password)).text).toMatch(/^454 4\.7\.0 /)
  })

  test('TLS 1.1 is rejected', async () => {
    const listener = await startListener()
    const socket = connect({
      ...{ port: listener.tls, host: '127.0.0.1', rejectUnauthorized: false },
      ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    })
    const outcome = await new Promise(resolve =>
      socket.once('secureConnect', () => resolve('connected')).once('error', resolve),
    )
    expect(outcome).toBeInstanceOf(Error)
  })
})

describe('the envelope', () => {
  test.each([
    ['MAIL FROM:<>', /^550 5\.7\.1 An empty envelope sender/],
    ['MAIL FROM:<a@victim.example>', /^550 5\.7\.1 /],
    ['MAIL FROM:<a@example.org> SIZE=26214401', /^552 5\.3\.4 /],
    ['MAIL FROM:<a@example.org> SIZE=26214400', /^250 2\.1\.0 /],
    ['MAIL FROM:a@example.org', /^501 /],
    ['MAIL FROM:<a b>', /^501 /],
    ['MAIL FROM:<root>', /^550 5\.7\.1 /],
    ['MAIL FROM:<root@web_1> SIZE=10', /^550 5\.7\.1 /],
    ['MAIL FROM:<root> HOLDFOR=1', /^555 5\.5\.4 /],
  ])('%s gets the expected reply', async (line, expected) => {
    const client = await loggedIn(await startListener())
    expect((await client.command(line)).text).toMatch(expected)
  })

  test.each([
    ['b@example.net', /^250 2\.1\.5 /],
    ['"john doe"@example.net', /^250 2\.1\.5 /],
    ['"john..doe"@example.net', /^250 2\.1\.5 /],
    ['"a@b"@example.net', /^250 2\.1\.5 /],
    ['@relay.example:"a b"@example.net', /^250 2\.1\.5 /],
    ['"a<b"@example.net', /^501 /],
    ['"a b@example.net', /^501 /],
    ['"a b"', /^501 /],
    ['"a\tb"@example.net', /^501 /],
    ['"a b"@[127.0.0.1]', /^553 5\.1\.3 /],
    [`"${'a '.repeat(40)}"@example.net`, /^553 5\.1\.3 /],
    ['b@[127.0.0.1]', /^553 5\.1\.3 /],
    ['b@localhost', /^553 5\.1\.3 /],
    ['postmaster', /^553 5\.1\.3 /],
    ['ü@example.net', /^553 5\.1\.3 /],
  ])('RCPT TO %s gets the expected reply', async (address, expected) => {
    const client = await loggedIn(await startListener())
    await client.command('MAIL FROM:<a@example.org>')
    expect((await client.command(`RCPT TO:<${address}>`)).text).toMatch(expected)
  })

  test.each([
    ['MAIL FROM:<a@example.org> REQUIRETLS', /^555 5\.5\.4 The parameter REQUIRETLS is not offered/],
    ['MAIL FROM:<a@example.org> SIZE=10 HOLDFOR=3600', /^555 5\.5\.4 The parameter HOLDFOR is not offered/],
    ['MAIL FROM:<a@example.org> NOTIFY=NEVER', /^555 5\.5\.4 /],
    [`MAIL FROM:<a@example.org> ${'x'.repeat(60)}=1`, /^555 5\.5\.4 The parameter X{40} is/],
    ['MAIL FROM:<a@victim.example> FOO', /^555 5\.5\.4 /],
    ['MAIL FROM:<a@example.org> AUTH=<> body=7bit', /^250 2\.1\.0 /],
    ['RCPT TO:<b@example.net> FOO=bar', /^555 5\.5\.4 The parameter FOO is not offered/],
    ['RCPT TO:<b@example.net> NOTIFY=NEVER RRVS=2014-04-03T23:01:00Z', /^555 5\.5\.4 /],
    ['RCPT TO:<b@example.net> notify=never', /^250 2\.1\.5 /],
  ])('rejects only parameters that EHLO does not offer: %s', async (line, expected) => {
    const client = await loggedIn(await startListener())
    if (line.startsWith('RCPT')) await client.command('MAIL FROM:<a@example.org>')
    expect((await client.command(line)).text).toMatch(expected)
  })

  test('a transaction can begin or continue after a rejected parameter', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    await client.command('MAIL FROM:<a@example.org> REQUIRETLS')
    expect((await client.command('RCPT TO:<b@example.net>')).code).toBe(503)
    await client.command('MAIL FROM:<a@example.org>')
    await client.command('RCPT TO:<lost@example.net> FOO')
    await client.command('RCPT TO:<b@example.net>')
    await client.command('DATA')
    client.write(`${MAIL}.\r\n`)
    expect((await client.reply()).code).toBe(250)
    expect(listener.received[0]?.recipients).toEqual([{ email: 'b@example.net', type: 'envelope' }])
  })

  test('passes quoted local parts and their parameters to the submission service', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    expect((await client.command('MAIL FROM:<"the team"@example.org> SIZE=100 ENVID=a+2Bb')).code).toBe(250)
    expect((await client.command('RCPT TO:<"J. \\"D\\" Doe"@example.net> NOTIFY=NEVER')).code).toBe(250)
    await client.command('DATA')
    client.write(`${MAIL}.\r\n`)
    expect((await client.reply()).code).toBe(250)
    expect(listener.received[0]).toMatchObject({
      mailFrom: '"the team"@example.org',
      dsn: { envid: 'a+2Bb' },
      recipients: [{ email: '"J. \\"D\\" Doe"@example.net', notify: ['NEVER'] }],
    })
  })

  test('BDAT, which is not offered, ends the connection: octets of its chunk are never read as commands', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    const { lines } = await client.command('EHLO client.example')
    expect(lines.join()).not.toMatch(/CHUNKING|BINARYMIME/)
    await client.command('MAIL FROM:<a@example.org>')
    await client.command('RCPT TO:<b@example.net>')
    client.write('BDAT 64 LAST\r\nRSET\r\nMAIL FROM:<smuggled@example.org>\r\nRCPT TO:<b@example.net>\r\n')
    expect((await client.reply()).text).toBe(
      '502 5.5.1 BDAT is not offered here (EHLO does not list CHUNKING); send the message with DATA',
    )
    await client.closed
    await expect(client.reply()).rejects.toThrow('closed')
    expect(listener.received).toEqual([])
  })

  test('passes the DSN, 8BITMIME and SMTPUTF8 parameters to the submission service', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    await client.command('MAIL FROM:<a@example.org> RET=HDRS ENVID=e+3D1+20X BODY=8BITMIME SMTPUTF8')
    await client.command('RCPT TO:<ü@example.net> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;b+2B1@example.net')
    await client.command('DATA')
    client.write(`${MAIL}.\r\n`)
    expect((await client.reply()).code).toBe(250)
    expect(listener.received[0]).toMatchObject({
      dsn: { ret: 'HDRS', envid: 'e+3D1+20X' },
      smtputf8: true,
      body8bit: true,
      recipients: [{ email: 'ü@example.net', notify: ['SUCCESS', 'FAILURE'], orcpt: 'rfc822;b+2B1@example.net' }],
    })
  })

  test('parameters that were not sent are absent', async () => {
    const listener = await startListener()
    await (await loggedIn(listener)).submit('a@example.org', ['b@example.net'], MAIL)
    const keys: (keyof Submission)[] = ['submitter', 'mailFrom', 'recipients', 'raw', 'received']
    expect(Object.keys(listener.received[0] ?? {})).toEqual(keys)
    expect(listener.received[0]?.recipients).toEqual([{ email: 'b@example.net', type: 'envelope' }])
  })

  test('accepts only the permitted number of 10,000 recipients, and sends to these', async () => {
    const listener = await startListener({ env: { MAX_RECIPIENTS: '50' } })
    const client = await loggedIn(listener)
    await client.command('MAIL FROM:<a@example.org>')
    client.write(Array.from({ length: 10_000 }, (_, i) => `RCPT TO:<r${i}@example.net>\r\n`).join(''))
    const codes = new Map<string, number>()
    for (let i = 0; i < 10_000; i++) {
      const { text } = await client.reply()
      codes.set(text.slice(0, 9), (codes.get(text.slice(0, 9)) ?? 0) + 1)
    }
    expect([...codes]).toEqual([
      ['250 2.1.5', 50],
      ['452 4.5.3', 9_950],
    ])
    await client.command('DATA')
    client.write(`${MAIL}.\r\n`)
    expect((await client.reply()).code).toBe(250)
    expect(listener.received[0]?.recipients).toHaveLength(50)
  })
})

describe('replies of the submission service', () => {
  test.each([
    [refuse('bad_line_endings', sentence('detail.nul', { at: 3 })), '550 5.6.0 There is a NUL at octet 3.'],
    [refuse('mail_loop'), '554 5.4.6 Too many Received headers: the message loops.'],
    [refuse('quota_exceeded'), '452 4.7.1 The hourly limit is used up; try again later.'],
    [refuse('daily_quota_exceeded', sentence('detail.no_recipient')), '452 4.7.1 The message has no recipient.'],
    [refuse('queue_unavailable'), '451 4.3.0 The queue cannot take the message now; try again later.'],
    [refuse('idempotency_key_reused'), '554 5.7.1 This idempotency key was used with another body.'],
    [refuse('invalid_json'), '554 5.0.0 The body is not valid JSON.'],
  ])('%j', async (answer, expected) => {
    const client = await loggedIn(await startListener({ accept: async () => answer }))
    expect((await client.submit('a@example.org', ['b@example.net'], MAIL)).text).toBe(expected)
    expect((await client.command('NOOP')).code).toBe(250)
  })

  test('a replay returns the id of the first message', async () => {
    const answer = { ...acceptedAnswer(), replayed: true }
    const client = await loggedIn(await startListener({ accept: async () => answer }))
    expect((await client.submit('a@example.org', ['b@example.net'], MAIL)).text).toBe(
      `250 2.0.0 queued as ${answer.id}`,
    )
  })
})

describe('certificates', () => {
  test('new connections use a new certificate on every port, without a restart', async () => {
    const files = await certificateFiles()
    const listener = await startListener({ env: { SUBMISSION_TLS_CERT: files.cert, SUBMISSION_TLS_KEY: files.key } })
    const before = await loggedIn(listener)
    const next = await makeCertificate(['next.example'], 1, new Date())
    await files.replace(next)
    const seen = async () => {
      const socket = connect({ port: listener.tls, host: '127.0.0.1', rejectUnauthorized: false })
      await new Promise(resolve => socket.once('secureConnect', resolve))
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      return subject.CN
    }
    await until(async () => (await seen()) === 'next.example')
    expect((await before.submit('a@example.org', ['b@example.net'], MAIL)).code).toBe(250)
    await loggedIn(listener, 'starttls')
  })

  test('a start without certificate fails', async () => {
    await expect(startListener({ env: { SUBMISSION_TLS_CERT: '', SUBMISSION_TLS_KEY: '' } })).rejects.toThrow(
      'SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY are missing',
    )
  })
})

describe('load balancers', () => {
  const V1 = 'PROXY TCP4 192.0.2.7 127.0.0.1 4321 587\r\n'
  const V2 = Buffer.from([
    ...[0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a],
    ...[0x21, 0x11, 0, 12, 192, 0, 2, 7, 127, 0, 0, 1, 0x10, 0xe1, 0x02, 0x4b],
  ])

  test.each(MODES.flatMap(mode => [V1, V2].map(prefix => ({ mode, prefix }))))(
    'uses the address that a trusted one sends ($mode)',
    async ({ mode, prefix }) => {
      const ips: string[] = []
      const listener = await startListener({
        env: { SUBMISSION_PROXY_FROM: '127.0.0.0/8' },
        checkLogin: async (_, __, ip) => {
          ips.push(ip)
          return { userId: 'usr_1', via: { channel: 'smtp', id: 'crd_1' }, allowedSenders: [], messagesPerHour: 0 }
        },
      })
      const client = await converse(listener[mode], { tls: mode === 'tls', prefix })
      await client.reply()
      await client.logIn('x', 'y')
      await client.submit('a@example.org', ['b@example.net'], MAIL)
      expect(ips).toEqual(['192.0.2.7'])
      expect(listener.received[0]?.received.ip).toBe('192.0.2.7')
    },
  )

  test.each(MODES.flatMap(mode => [V1, V2].map(prefix => ({ mode, prefix }))))(
    'reads a header in single octets directly before the first command or the handshake ($mode)',
    async ({ mode, prefix }) => {
      const ips: string[] = []
      const listener = await startListener({
        env: { SUBMISSION_PROXY_FROM: '127.0.0.0/8' },
        checkLogin: async (_, __, ip) => {
          ips.push(ip)
          return refuse('invalid_login')
        },
      })
      const balancer = createServer({ noDelay: true, pauseOnConnect: true }, async client => {
        const onward = connectPlain({ port: listener[mode], host: '127.0.0.1', noDelay: true })
        for (const octet of Buffer.from(prefix).subarray(0, -1)) {
          onward.write(Buffer.of(octet))
          await turn()
        }
        // The last octet is in one segment with the client's first octets; on the clear port it waits for the greeting.
        const last = Buffer.from(prefix).subarray(-1)
        if (mode === 'starttls') onward.write(last)
        else onward.write(Buffer.concat([last, (await once(client.resume(), 'data'))[0] as Buffer]))
        client.pipe(onward)
        onward.pipe(client)
        for (const socket of [client, onward]) socket.on('error', () => undefined)
      })
      balancer.listen(0, '127.0.0.1')
      await once(balancer, 'listening')
      onTestFinished(() => void balancer.close())
      const { port } = balancer.address() as AddressInfo
      const client = await converse(port, { tls: mode === 'tls' })
      await client.reply()
      await client.logIn('x', 'y')
      expect(ips).toEqual(['192.0.2.7'])
      client.destroy()
    },
  )

  test('treats a second header as an unknown command', async () => {
    const listener = await startListener({ env: { SUBMISSION_PROXY_FROM: '127.0.0.1' } })
    const client = await converse(listener.starttls, { prefix: V1 })
    await client.reply()
    expect((await client.command('PROXY TCP4 198.51.100.9 127.0.0.1 1 587')).code).toBe(500)
    client.destroy()
  })

  test('counts connections for the client in the header, not for the balancer', async () => {
    const listener = await startListener({
      env: { SUBMISSION_PROXY_FROM: '127.0.0.1', SUBMISSION_MAX_CLIENTS_PER_ADDRESS: '1' },
    })
    const from = (address: string) =>
      converse(listener.starttls, { prefix: `PROXY TCP4 ${address} 127.0.0.1 1 587\r\n` })
    const first = await from('192.0.2.7')
    expect((await first.reply()).code).toBe(220)
    expect((await (await from('192.0.2.7')).reply()).code).toBe(421)
    const other = await from('192.0.2.8')
    expect((await other.reply()).code).toBe(220)
    first.destroy()
    await first.closed
    await until(async () => {
      const again = await from('192.0.2.7')
      const { code } = await again.reply()
      again.destroy()
      return code === 220
    })
    other.destroy()
  })

  test('accepts health checks without a source address', async () => {
    const listener = await startListener({ env: { SUBMISSION_PROXY_FROM: '127.0.0.1' } })
    for (const prefix of ['PROXY UNKNOWN\r\n', Buffer.from([...V2.subarray(0, 12), 0x20, 0, 0, 0])]) {
      const client = await converse(listener.starttls, { prefix })
      expect((await client.reply()).code).toBe(220)
      client.destroy()
    }
  })

  test('treats the header as an unknown command from other addresses', async () => {
    const listener = await startListener({ env: { SUBMISSION_PROXY_FROM: '192.0.2.0/24' } })
    const client = await converse(listener.starttls)
    await client.reply()
    expect((await client.command(V1.trim())).code).toBe(500)
  })

  test.each([
    ['another command', 'EHLO client.example\r\n'],
    ['nothing', ''],
  ])('drops a trusted connection that sends %s instead of the header', async (_, prefix) => {
    const listener = await startListener({
      env: { SUBMISSION_PROXY_FROM: '127.0.0.1' },
      limits: { handshakeMs: 50 },
    })
    const client = await converse(listener.starttls, { prefix })
    await client.closed
    await expect(client.reply()).rejects.toThrow('closed')
  })
})
