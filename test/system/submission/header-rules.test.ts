/** The header rules apply to every channel: SMTP, HTTP fields and raw messages over HTTP. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { giveCredential, giveDomain, giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../support/database/test-database.ts'
import { type SendApi, startSendApi } from '../../support/http/send-api.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import { type SubmissionService, startSubmission } from '../../support/mail/submission-service.ts'
import { runPython } from '../../support/programs/python.ts'

let mongo: TestDatabase
let api: SendApi
beforeAll(async () => {
  mongo = await freshDatabase()
  api = await startSendApi({}, { mongo })
  await giveCredential(mongo.db, api.user._id, 'header-rules')
  const stranger = await giveUser(mongo.db)
  await giveDomain(mongo.db, stranger._id, 'foreign.example', { status: 'verified', verified_by: 'dns' })
})
afterAll(() => api.stop())

const idIn = (text: string) => /\bem_[0-9a-z]{26}\b/.exec(text)?.[0]
const rawOf = async (id: string | undefined) => (await readBody(mongo, id ?? '', 1))?.toString('latin1') ?? ''

/** Sends a message through a channel and returns the stored octets, or the reason of the rejection. */
const channels: [name: string, send: (message: Buffer) => Promise<string>][] = [
  [
    'SMTP',
    async message => {
      const service = await startSubmission(mongo)
      const client = await converse(service.tls, { tls: true })
      onTestFinished(() => client.destroy())
      await client.reply()
      await client.logIn('header-rules', PASSWORD)
      const { text } = await client.submit('ann@example.com', ['bob@example.net'], message)
      return text.startsWith('250') ? rawOf(idIn(text)) : text
    },
  ],
  [
    'HTTP',
    async message => {
      const body = { from: 'ann@example.com', to: 'bob@example.net', raw: message.toString('base64') }
      const answer = await api.call('POST', '/api/v1/emails/raw', { body })
      return answer.status === 202 ? rawOf(idIn(answer.text)) : answer.text
    },
  ],
]

const message = (fields: string, body = 'hi\r\n') =>
  Buffer.from(`From: Ann <ann@example.com>\r\n${fields}\r\n\r\n${body}`, 'latin1')

describe.each(channels)('over %s', (_, send) => {
  test.each([
    ['Sender: eve@foreign.example', 'Sender: foreign.example is not a domain of this account.'],
    ['Sender: eve@nobody.example', 'Sender: nobody.example is not a domain of this account.'],
    ['Resent-From: eve@foreign.example', 'Resent-From: foreign.example is not a domain of this account.'],
    ['Resent-Sender: eve@foreign.example', 'Resent-Sender: foreign.example is not a domain of this account.'],
    ['Subject: one\r\nSubject: two', 'A message has at most one Subject field.'],
    ['To: a@example.net\r\nTO: b@example.net', 'A message has at most one To field.'],
    ['Message-ID: <1@example.com>\r\nMessage-ID: <2@example.com>', 'A message has at most one Message-ID field.'],
    ['Content-Type: text/plain\r\nContent-Type: text/html', 'A message has at most one Content-Type field.'],
  ])('rejects with the reason: %s', async (fields, reason) => {
    expect(await send(message(fields))).toContain(reason)
  })

  test('keeps own names, removes fields that only receivers may add, and does not reveal the client', async () => {
    const stored = await send(
      message(
        'Sender: team@example.com\r\nResent-From: ann@example.com\r\nReturn-Path: <eve@foreign.example>\r\n' +
          'Authentication-Results: mx.example.net; dkim=pass\r\nReceived-SPF: pass\r\nSubject: hello',
      ),
    )
    expect(stored).toMatch(/\r\nSender: team@example\.com\r\nResent-From: ann@example\.com\r\nSubject: hello\r\n/)
    expect(stored).not.toMatch(/return-path|authentication-results|received-spf|127\.0\.0\.1|client\.example/i)
  })

  test.each([
    ['UTF-8', 'Gr\xc3\xbc\xc3\x9fe', '=?utf-8?Q?Gr=C3=BC=C3=9Fe?='],
    ['Latin-1', 'Gr\xfc\xdfe', '=?utf-8?Q?Gr=C3=BC=C3=9Fe?='],
    ['GBK', '\xc4\xe3\xba\xc3', '=?utf-8?B?5L2g5aW9?='],
  ])('encodes header text in %s, so that every server accepts it', async (_name, text, encoded) => {
    const stored = await send(message(`Subject: ${text}\r\nReply-To: ${text} <ann@example.com>`, `${text}\r\n`))
    expect(stored).toContain(`\r\nSubject: ${encoded}\r\nReply-To: ${encoded} <ann@example.com>\r\n`)
    expect(stored.slice(0, stored.indexOf('\r\n\r\n'))).toMatch(/^[\0-\x7f]*$/)
    expect(stored).toMatch(new RegExp(`\r\n\r\n${text}\r\n$`))
  })
})

test.each(['Sender', 'Return-Path', 'Authentication-Results', 'Received-SPF', 'Delivered-To', 'Resent-From'])(
  'HTTP fields cannot contain the header %s',
  async name => {
    const body = {
      from: 'ann@example.com',
      to: 'bob@example.net',
      subject: 's',
      text: 't',
      headers: { [name]: 'x@example.com' },
    }
    expect(await api.call('POST', '/api/v1/emails', { body })).toMatchObject({
      status: 422,
      body: { code: 'validation_failed' },
    })
  },
)

test('HTTP fields cannot contain the same header twice in different letter case', async () => {
  const headers = { 'In-Reply-To': '<1@example.net>', 'in-reply-to': '<2@example.net>' }
  const body = { from: 'ann@example.com', to: 'bob@example.net', subject: 's', text: 't', headers }
  const answer = await api.call('POST', '/api/v1/emails', { body })
  expect([answer.status, answer.text]).toMatchObject([422, expect.stringContaining('at most one In-Reply-To field')])
})

/** What simple scripts send: the octets of their file in the header, through Python's smtplib. */
async function smtplib(service: SubmissionService, mail: Buffer): Promise<void> {
  const script = `
import smtplib, ssl, sys
context = ssl._create_unverified_context()
with smtplib.SMTP("127.0.0.1", ${service.starttls}) as client:
    client.starttls(context=context)
    client.login("header-rules", ${JSON.stringify(PASSWORD)})
    client.sendmail("ann@example.com", ["bob@example.net"], sys.stdin.buffer.read())
`
  await runPython(script, mail)
}

test('octets that a script of Python sends as they are arrive as text', async () => {
  const service = await startSubmission(mongo)
  await smtplib(service, message('Subject: Tr\xe8s bient\xf4t\r\nX-Script: smtplib', 'caf\xe9\r\n'))
  const found = await mongo.db.collection('messages').findOne({ subject: 'Très bientôt' })
  expect(await rawOf(String(found?._id))).toContain('Subject: =?utf-8?Q?Tr=C3=A8s_bient=C3=B4t?=\r\n')
})
