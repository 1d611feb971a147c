import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { describe, expect, test } from 'vitest'
import { dkimpyVerdicts } from '../../../../test/support/programs/dkimpy.ts'
import { dkimName, dkimRecord, publicKeyValue } from '../../dns/records/dkim.ts'
import { type SigningKey, signMessage } from './signer.ts'

const domain = 'example.com'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ed = generateKeyPairSync('ed25519').privateKey
const keys: SigningKey[] = [
  { domain, selector: 'rsa', algorithm: 'rsa-sha256', key: rsa },
  { domain, selector: 'ed', algorithm: 'ed25519-sha256', key: ed },
]

const record = (key: KeyObject, algorithm: SigningKey['algorithm']) => dkimRecord(algorithm, publicKeyValue(key))
const zone = {
  [dkimName('rsa', domain)]: record(rsa, 'rsa-sha256'),
  [dkimName('ed', domain)]: record(ed, 'ed25519-sha256'),
}

/** The verdicts of an independent verifier that finds our keys in DNS. */
async function verdicts(content: Buffer): Promise<string[]> {
  const { results } = await dkimVerify(content, {
    resolver: async (name: string) => {
      const found = zone[name]
      if (!found) throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' })
      return [[found]]
    },
  })
  return results.map(({ status, selector }) => `${selector} ${status.result}`)
}

const header =
  'From: A <a@example.com>\r\nTo: b@example.net\r\nSubject: =?utf-8?Q?h=C3=A9?=\r\n  folded \r\nDate: Sat, 21 Nov 2026 10:15:12 +0000\r\nMessage-ID: <1@example.com>\r\n'

const now = () => Math.floor(Date.now() / 1000)

describe('signMessage', () => {
  test.each([
    ['plain text', `${header}\r\nhello\r\n`],
    ['no body', `${header}\r\n`],
    ['blanks and empty lines', `${header}\r\n a  b\t \r\n\r\n  \r\n\r\n`],
    ['no line end at the end', `${header}\r\nhello`],
    ['dots and 8-bit text', `${header}\r\n.dot\r\n..two\r\nh\u00e9llo \u4f60\u597d\r\n`],
    ['two recipients fields', `To: first@example.net\r\n${header}\r\nhello\r\n`],
    ['a large body', `${header}\r\n${'some text  with blanks \r\n'.repeat(60_000)}`],
  ])('an independent verifier accepts both signatures: %s', async (_, text) => {
    const { content } = await signMessage(Buffer.from(text), keys, now())
    expect((await verdicts(content)).sort()).toEqual(['ed pass', 'rsa pass'])
  })

  test.each([
    ...['From: evil@example.org', 'Subject: other', 'To: other@example.org', 'Cc: other@example.org'],
    ...['Reply-To: evil@example.org', 'Date: Mon, 23 Nov 2026 10:15:12 +0000', 'Message-ID: <2@example.com>'],
    ...['MIME-Version: 1.0', 'Content-Type: text/html', 'Content-Transfer-Encoding: base64'],
    ...['List-Unsubscribe: <https://evil.example/>', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'],
  ])('a field that is added later breaks both signatures, whether the message had one or not: %s', async field => {
    for (const own of ['', `${field}\r\n`]) {
      const message = `${own && header.includes(`\r\n${field.split(':')[0]}:`) ? '' : own}${header}\r\nhello\r\n`
      const { content } = await signMessage(Buffer.from(message), keys, now())
      const forged = Buffer.concat([Buffer.from(`${field}\r\n`), content])
      expect((await verdicts(forged)).map(verdict => verdict.replace(/^\w+ /, ''))).toEqual(['fail', 'fail'])
    }
  })

  test.each([
    ...['Feedback-ID: 1:2:3:sender', 'CFBL-Address: fbl@example.com; report=arf', 'CFBL-Feedback-ID: 1'],
    ...[
      'List-ID: <news.example.com>',
      'List-Owner: <mailto:owner@example.com>',
      'List-Archive: <https://example.com/>',
    ],
    ...['Sender: a@example.com', 'Resent-From: a@example.com'],
  ])('a field that names the sender, or where to send complaints, is signed: %s', async field => {
    const { content } = await signMessage(Buffer.from(`${field}\r\n${header}\r\nhello\r\n`), keys, now())
    expect((await verdicts(content)).sort()).toEqual(['ed pass', 'rsa pass'])
    const changed = Buffer.from(content.toString('latin1').replace(field, `${field}x`), 'latin1')
    expect((await verdicts(changed)).every(verdict => verdict.endsWith(' fail'))).toBe(true)
  })

  test.each([
    ['ASCII', 'Subject: a\r\n\r\nb\r\n', false, false],
    ['an 8-bit body', 'Subject: a\r\n\r\n\u00e9\r\n', true, false],
    ['an 8-bit header', 'Subject: \u00e9\r\n\r\nb\r\n', true, true],
  ])('lists the extensions that a server must offer: %s', async (_, text, eightBit, utf8Header) => {
    expect(await signMessage(Buffer.from(text), [], 0)).toMatchObject({ eightBit, utf8Header })
  })

  test('without keys the bytes stay what they are', async () => {
    const raw = Buffer.from(`${header}\r\nhello\r\n`)
    expect((await signMessage(raw, [], 0)).content).toBe(raw)
  })
})

describe('dkimpy agrees', () => {
  const full =
    `${header}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nReply-To: c@example.com\r\n` +
    'List-Unsubscribe: <https://example.com/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n' +
    'Feedback-ID: 1:2\r\nCFBL-Address: fbl@example.com\r\n\r\nGr\u00fc\u00dfe  \r\n.\r\n'

  const short = `${header}\r\nhello\r\n`
  const sign = async (text: string) => (await signMessage(Buffer.from(text), keys, now())).content

  test('short and full messages verify, by both algorithms', async () => {
    const signed = await Promise.all([short, full].map(sign))
    expect(await dkimpyVerdicts(signed, zone)).toEqual([
      ['pass', 'pass'],
      ['pass', 'pass'],
    ])
  })

  test('a second field of the oversigned ones does not', async () => {
    const names = ['From', 'Subject', 'To', 'Cc', 'Reply-To', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type']
    const signed = await Promise.all([short, full].map(sign))
    const forged = [...names, 'List-Unsubscribe', 'List-Unsubscribe-Post'].flatMap(name =>
      signed.map(content => Buffer.concat([Buffer.from(`${name}: x@example.org\r\n`), content])),
    )
    expect((await dkimpyVerdicts(forged, zone)).flat()).not.toContain('pass')
  })
})
