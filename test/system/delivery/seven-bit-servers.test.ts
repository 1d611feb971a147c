/** 8-bit mail for servers without 8BITMIME: the content stays the same, and the signature is valid. */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DEADLINES } from '../../../services/mail/delivery/smtp/session.ts'
import { dkimName, dkimRecord } from '../../../services/mail/dns/records/dkim.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { startPostfix } from '../../support/mail/postfix.ts'
import { runPython } from '../../support/programs/python.ts'
import { until } from '../../support/time/until.ts'

const OLD = ['PIPELINING', 'SIZE 10485760', 'ENHANCEDSTATUSCODES']
const HEAD =
  'From: a@example.com\r\nMIME-Version: 1.0\r\nSubject: seven\r\nDate: Sun, 22 Nov 2026 10:15:12 +0000\r\n' +
  'Message-ID: <1@example.com>\r\n'
const parts = (type: string, ...given: string[]) =>
  `Content-Type: ${type}; boundary=b\r\n\r\n${given.map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`

const MESSAGES: [name: string, message: Buffer][] = [
  ['text', Buffer.from(`${HEAD}Content-Type: text/plain; charset=utf-8\r\n\r\nGrüße an alle\r\n.\r\nFrom here\r\n`)],
  [
    'text in Chinese',
    Buffer.from(`${HEAD}Content-Type: text/plain; charset=utf-8\r\n\r\n${'你好，世界。'.repeat(300)}\r\n`),
  ],
  [
    'text in Latin-1',
    Buffer.from(
      `${HEAD}Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\n<p>d\xe9j\xe0 vu</p>\r\n`,
      'latin1',
    ),
  ],
  [
    'parts with a file',
    Buffer.from(
      HEAD +
        parts(
          'multipart/mixed',
          'Content-Type: text/plain; charset=utf-8\r\n\r\nSchöne Grüße',
          'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: attachment; filename="Grüße.txt"\r\n\r\nÖ',
          `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.alloc(300, 255).toString('base64')}`,
        ),
    ),
  ],
]

/** Parses with Python's mail parser: type, file name and content of every leaf. */
async function readByPython(messages: readonly Buffer[]): Promise<string[][][]> {
  const script = `
import base64, email, email.policy, json, sys
def leaves(message):
    for part in message.walk():
        if part.is_multipart(): continue
        content = part.get_content()
        yield [part.get_content_type(), part.get_filename() or "", content if isinstance(content, str) else content.hex()]
given = [email.message_from_bytes(base64.b64decode(message), policy=email.policy.default) for message in json.load(sys.stdin)]
json.dump([list(leaves(message)) for message in given], sys.stdout)
`
  return JSON.parse(await runPython(script, JSON.stringify(messages.map(message => message.toString('base64')))))
}

async function verifySignature({ domain }: DeliveryEnvironment, content: Buffer): Promise<string | undefined> {
  const record = dkimRecord('rsa-sha256', domain.dkim[0]?.public_key ?? '')
  const { results } = await dkimVerify(content, {
    resolver: async (name: string) => (name === dkimName('s1', 'example.com') ? [[record]] : []),
  })
  return results[0]?.status.result
}

async function settled(environment: DeliveryEnvironment, id: string) {
  await until(async () => (await environment.message(id)).left === 0, 60_000)
  return { message: await environment.message(id), events: await environment.events(id) }
}

test('a server without 8BITMIME gets 7 bits that read the same, signed after the conversion', async () => {
  const environment = await startDeliveryEnvironment({ receiver: { extensions: OLD } })
  await environment.work()
  for (const [, raw] of MESSAGES) {
    const { events } = await settled(environment, await environment.submit({ raw }))
    expect(events).toMatchObject([{ type: 'delivered', code: 250 }])
    expect(events[0]?.conversation).toContain('converted to 7 bits')
  }
  const received = environment.receiver.received.map(({ content }) => content)
  expect(received).toHaveLength(MESSAGES.length)
  for (const [index, content] of received.entries()) {
    expect(content.toString('latin1')).toMatch(/^[\t\r\n -~]*$/)
    expect(environment.receiver.received[index]?.fromParameters).toEqual([`SIZE=${content.length}`])
    expect(await verifySignature(environment, content)).toBe('pass')
  }
  const before = await readByPython(MESSAGES.map(([, raw]) => raw))
  expect(before[0]?.[0]?.[2]).toContain('Grüße an alle')
  expect(await readByPython(received)).toEqual(before)
})

test('a server with 8BITMIME gets the octets as they are', async () => {
  const environment = await startDeliveryEnvironment()
  await environment.work()
  const [[, raw] = ['', Buffer.alloc(0)]] = MESSAGES
  await settled(environment, await environment.submit({ raw }))
  const [mail] = environment.receiver.received
  expect(mail?.fromParameters).toContain('BODY=8BITMIME')
  expect(mail?.content.subarray(-raw.length)).toEqual(raw)
})

describe('what cannot be converted bounces with the reason', () => {
  test.each([
    [
      'a signed part',
      HEAD +
        parts(
          'multipart/signed; micalg=pgp-sha256; protocol="application/pgp-signature"',
          'Content-Type: text/plain; charset=utf-8\r\n\r\nÖ',
          'Content-Type: application/pgp-signature\r\n\r\nsig',
        ),
      '5.6.2',
      /would break its signature/,
    ],
    ['a structure without boundaries', `${HEAD}Content-Type: multipart/mixed\r\n\r\nÖ\r\n`, '5.6.3', /MIME structure/],
  ])('%s', async (_, raw, enhanced, text) => {
    const environment = await startDeliveryEnvironment({ receiver: { extensions: OLD } })
    await environment.work()
    const { message, events } = await settled(environment, await environment.submit({ raw: Buffer.from(raw) }))
    expect(message.rcpts).toMatchObject([{ status: 'bounced', enhanced }])
    expect(events).toMatchObject([{ type: 'bounced', text: expect.stringMatching(text) }])
    expect(environment.receiver.commands.filter(line => line.includes('MAIL FROM:<a@'))).toEqual([])
  })
})

test.each([1, 3])('one conversion serves all recipients at servers of the old kind (%s)', async count => {
  const environment = await startDeliveryEnvironment({ receiver: { extensions: OLD } })
  await environment.work()
  const to = Array.from({ length: count }, (_, i) => at(`r${i}`))
  const [[, raw] = ['', Buffer.alloc(0)]] = MESSAGES
  await settled(environment, await environment.submit({ raw, to }))
  expect(environment.receiver.received.flatMap(({ rcpts }) => rcpts.map(({ email }) => email)).sort()).toEqual(to)
})

describe('Postfix without 8BITMIME', () => {
  test('has every message, in 7 bits, with the same text', async () => {
    const postfix = await startPostfix('inbox.test', 'smtpd_discard_ehlo_keywords = 8bitmime, smtputf8')
    onTestFinished(() => postfix.stop())
    const environment = await startDeliveryEnvironment({
      env: { DELIVERY_MODE: 'relay', RELAY_URL: `smtp://127.0.0.1:${postfix.port}` },
    })
    // Postfix starts a process for the greeting, and answers the dot once the message is on the disk.
    await environment.work({ deadlines: DEADLINES })
    const ids = await Promise.all(MESSAGES.map(([, raw]) => environment.submit({ raw, to: ['you@inbox.test'] })))
    for (const id of ids) expect((await settled(environment, id)).events).toMatchObject([{ type: 'delivered' }])
    await until(async () => (await postfix.mail()).length === MESSAGES.length, 60_000)
    const arrived = (await postfix.mail()).map(mail => Buffer.from(mail.replaceAll('\n', '\r\n')))
    expect(arrived.every(mail => /^[\t\r\n -~]*$/.test(mail.toString('latin1')))).toBe(true)
    expect(await Promise.all(arrived.map(mail => verifySignature(environment, mail)))).toEqual(
      MESSAGES.map(() => 'pass'),
    )
    const sorted = (read: string[][][]) => read.map(leaves => JSON.stringify(leaves)).sort()
    expect(sorted(await readByPython(arrived))).toEqual(sorted(await readByPython(MESSAGES.map(([, raw]) => raw))))
  })
})
