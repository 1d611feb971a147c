import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyHash, draftSignature, relaxedBody, splitMessage } from './dkim-signature-draft.ts'

const piecesOf = (body: Buffer) => Array.from(relaxedBody(body), piece => piece.toString('latin1'))
const relaxed = (text: string) => piecesOf(Buffer.from(text, 'latin1')).join('')

describe('relaxedBody (RFC 6376 section 3.4.4)', () => {
  test.each([
    ['nothing', '', ''],
    ['only empty lines', '\r\n\r\n', ''],
    ['lines of blanks at the end', 'a\r\n \t\r\n\r\n', 'a\r\n'],
    ['the example of section 3.4.5', ' C \r\nD \t E\r\n\r\n\r\n', ' C\r\nD E\r\n'],
    ['a missing last line end', 'abc', 'abc\r\n'],
    ['blanks at the very end', 'abc \t', 'abc\r\n'],
    ['blanks before and inside', '\t a\t\tb', ' a b\r\n'],
    ['empty lines inside', 'a\r\n\r\nb\r\n', 'a\r\n\r\nb\r\n'],
    ['blanks alone', '  ', ''],
  ])('%s', (_, given, expected) => {
    expect(relaxed(given)).toBe(expected)
  })

  test('large bodies come in pieces that add up to the same text', () => {
    const line = `${'word  and\tmore '.repeat(5)}\r\n`
    const body = line.repeat(20_000)
    const pieces = piecesOf(Buffer.from(body))
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.join('')).toBe('word and more '.repeat(5).trimEnd().concat('\r\n').repeat(20_000))
  })

  test.each([
    ['without blanks', 'YWJj\xe9\r\n'],
    ['with blanks that stay', 'YWJ j\xe9\r\n'],
  ])('a large body %s is hashed as it is', (_, line) => {
    const body = Buffer.from(line.repeat(60_000), 'latin1')
    expect(bodyHash(body)).toBe(createHash('sha256').update(body).digest('base64'))
  })

  test('is idempotent', () => {
    const chunk = fc.constantFrom('a', ' ', '\t', '\r\n', 'word', '.', '\xe9')
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 60 }), chunks => {
        const once = relaxed(chunks.join(''))
        expect(relaxed(once)).toBe(once)
      }),
    )
  })
})

test('the hash of an empty body is the one of RFC 6376 section 3.4.4', () => {
  expect(bodyHash(Buffer.alloc(0))).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
})

test.each([
  ['From: a\r\n\r\nbody\r\n', 'From: a\r\n', 'body\r\n'],
  ['From: a\r\nTo: b\r\n\r\n', 'From: a\r\nTo: b\r\n', ''],
  ['From: a', 'From: a\r\n', ''],
])('%j is split at its first empty line', (raw, header, body) => {
  const split = splitMessage(Buffer.from(raw))
  expect([split.header, split.body.toString()]).toEqual([header, body])
})

describe('draftSignature', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { domain: 'example.com', selector: 's1', algorithm: 'rsa-sha256' } as const

  test('covers each field once per occurrence from the bottom up, what must not be added once more, and nothing that relays change', () => {
    const header =
      'Received: by x\r\nTo: one\r\nFrom:  Some   One\r\n\t<a@example.com>  \r\nTO : two\r\nX-Other: 1\r\nSubject: hi\r\n'
    const { data } = draftSignature(header, 'HASH', key, 1_700_000_000)
    expect(data.toString()).toBe(
      'subject:hi\r\nto:two\r\nfrom:Some One <a@example.com>\r\nto:one\r\n' +
        'dkim-signature:v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=s1; t=1700000000; ' +
        'h=subject:to:from:to:from:subject:to:cc:reply-to:date:message-id: mime-version:content-type:content-transfer-encoding:' +
        'list-unsubscribe: list-unsubscribe-post; bh=HASH; b=',
    )
  })

  test('the field unfolds to what was signed', () => {
    const { data, field } = draftSignature('From: a@example.com\r\n', 'HASH', key, 1)
    const signature = sign('sha256', data, privateKey).toString('base64')
    const text = field(signature)
    expect(text.split('\r\n').every(line => line.length <= 78)).toBe(true)
    const value = text
      .replace(/\r\n(?=[ \t])/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim()
    const [, tags = '', b = ''] = /^DKIM-Signature: (.* b=)(.*)$/.exec(value) ?? []
    const signed = Buffer.from(`from:a@example.com\r\ndkim-signature:${tags}`)
    expect(signed).toEqual(data)
    expect(verify('sha256', signed, createPublicKey(privateKey), Buffer.from(b.replaceAll(' ', ''), 'base64'))).toBe(
      true,
    )
    expect(createHash('sha256').update(data).digest('hex')).toHaveLength(64)
  })
})
