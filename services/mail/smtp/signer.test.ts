import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { describe, expect, test } from 'vitest'
import { dkimName, dkimRecord, publicKeyValue } from '../rules/dkim.ts'
import { type SigningKey, signMessage } from './signer.ts'

const domain = 'example.com'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ed = generateKeyPairSync('ed25519').privateKey
const keys: SigningKey[] = [
  { domain, selector: 'rsa', algorithm: 'rsa-sha256', key: rsa },
  { domain, selector: 'ed', algorithm: 'ed25519-sha256', key: ed },
]

/** The verdicts of an independent verifier that finds our keys in DNS. */
async function verdicts(content: Buffer): Promise<string[]> {
  const record = (key: KeyObject, algorithm: SigningKey['algorithm']) => [[dkimRecord(algorithm, publicKeyValue(key))]]
  const zone = new Map([
    [dkimName('rsa', domain), record(rsa, 'rsa-sha256')],
    [dkimName('ed', domain), record(ed, 'ed25519-sha256')],
  ])
  const { results } = await dkimVerify(content, {
    resolver: async (name: string) => {
      const found = zone.get(name)
      if (!found) throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' })
      return found
    },
  })
  return results.map(({ status, selector }) => `${selector} ${status.result}`)
}

const header =
  'From: A <a@example.com>\r\nTo: b@example.net\r\nSubject: =?utf-8?Q?h=C3=A9?=\r\n  folded \r\nDate: Sat, 21 Nov 2026 10:15:12 +0000\r\nMessage-ID: <1@example.com>\r\n'

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
    const { content } = await signMessage(Buffer.from(text), keys, Math.floor(Date.now() / 1000))
    expect((await verdicts(content)).sort()).toEqual(['ed pass', 'rsa pass'])
  })

  test('a second From breaks the signature', async () => {
    const { content } = await signMessage(Buffer.from(`${header}\r\nhello\r\n`), keys, Math.floor(Date.now() / 1000))
    const forged = Buffer.concat([Buffer.from('From: evil@example.org\r\n'), content])
    expect((await verdicts(forged)).every(verdict => !verdict.endsWith('pass'))).toBe(true)
  })

  test.each([
    ['ASCII', 'Subject: a\r\n\r\nb\r\n', false, false],
    ['an 8-bit body', 'Subject: a\r\n\r\n\u00e9\r\n', true, false],
    ['an 8-bit header', 'Subject: \u00e9\r\n\r\nb\r\n', true, true],
  ])('tells what a server must offer: %s', async (_, text, eightBit, utf8Header) => {
    expect(await signMessage(Buffer.from(text), [], 0)).toMatchObject({ eightBit, utf8Header })
  })

  test('without keys the bytes stay what they are', async () => {
    const raw = Buffer.from(`${header}\r\nhello\r\n`)
    expect((await signMessage(raw, [], 0)).content).toBe(raw)
  })
})
