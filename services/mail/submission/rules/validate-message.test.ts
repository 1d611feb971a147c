import { describe, expect, test } from 'vitest'
import { inEnglish, sentence } from '../../../platform/sentences/sentence.ts'
import { finishMessage, isAllowedSender, type ReadMessage, readMessage } from './validate-message.ts'

const LIMIT = 100_000
const stamp = {
  id: 'em_1',
  hostname: 'mail.example.com',
  at: new Date('2026-11-21T10:26:32Z'),
  received: { from: 'client.example', ip: '192.0.2.1', protocol: 'ESMTPSA' },
  showClient: true,
  smtputf8: false,
}

function read(text: string): ReadMessage {
  const result = readMessage(Buffer.from(text), LIMIT)
  if ('code' in result) throw new Error(inEnglish(result.detail))
  return result
}

const finish = (text: string, over: Partial<typeof stamp> = {}) => {
  const { raw, messageId } = finishMessage(Buffer.from(text), read(text), { ...stamp, ...over })
  return { text: raw.toString(), messageId }
}

describe('reading a submission', () => {
  test('the fields that acceptance needs are read once', () => {
    const text =
      'From: Ann <a@Example.org>, b@example.net\r\nSubject: =?utf-8?q?gr=C3=BC=C3=9Fe?=\r\n' +
      'message-id: <x@y>\r\nDATE: now\r\nX-Idempotency-Key: k1\r\n\r\nhi\r\n'
    expect(read(text)).toMatchObject({
      from: ['a@example.org', 'b@example.net'],
      subject: 'grüße',
      messageId: '<x@y>',
      hasDate: true,
      idempotencyKey: 'k1',
    })
  })

  test('the stream and its list are read and do not leave', () => {
    const raw = 'X-Postwright-Stream: Bulk\r\nX-Postwright-List: weekly\r\nFrom: a@example.org\r\n\r\n'
    const message = read(raw)
    expect(message).toMatchObject({ stream: 'bulk', list: 'weekly' })
    expect(finish(raw).text).not.toMatch(/x-postwright/i)
  })

  test('what is missing is missing', () => {
    const { header, ...rest } = read('From: a@example.org\r\n\r\n')
    expect(rest).toEqual({
      ...{ from: ['a@example.org'], identities: [], subject: '', hasDate: false },
      ...{ unsubscribe: 'none', hasFeedbackId: false },
    })
    expect(header.fields).toHaveLength(1)
  })

  test.each([
    ['no From', 'Subject: x\r\n\r\n', 'bad_header'],
    ['an empty From', 'From:\r\n\r\n', 'bad_header'],
    ['two From fields', 'From: a@example.org\r\nFrom: a@example.org\r\n\r\n', 'bad_header'],
    ['two From fields, in other letters', 'From: a@example.org\r\nfROM: b@evil.example\r\n\r\n', 'bad_header'],
    ['a From hidden by a space', 'From: a@example.org\r\nFrom : b@evil.example\r\n\r\n', 'bad_header'],
    ['a From of a group', 'From: g: a@example.org;\r\n\r\n', 'bad_header'],
    ['a From of 11 addresses', `From: a@example.org${', a@example.org'.repeat(10)}\r\n\r\n`, 'too_many_authors'],
    ['no header', 'hello\r\n', 'bad_header'],
    ['51 hops', `${'Received: x\r\n'.repeat(51)}From: a@example.org\r\n\r\n`, 'mail_loop'],
    ['bare LF', 'From: a@example.org\n\r\n\r\n', 'bad_line_endings'],
    ['NUL', 'From: a@example.org\r\n\r\n\0', 'bad_bytes'],
    ['a long line', `From: a@example.org\r\n\r\n${'x'.repeat(999)}`, 'line_too_long'],
    [
      'one byte too many',
      `From: a@example.org\r\n\r\n${'x\r\n'.repeat(LIMIT)}`.slice(0, LIMIT + 1),
      'message_too_large',
    ],
  ])('refused: %s', (_, text, code) => {
    expect(readMessage(Buffer.from(text), LIMIT)).toMatchObject({ code })
  })

  test.each([
    ...['Sender', 'Reply-To', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'In-Reply-To', 'References', 'MIME-Version'],
    ...['Content-Type', 'Content-Transfer-Encoding', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'List-ID'],
  ])('refused: a second %s, in whatever letters', name => {
    const text = `From: a@example.org\r\n${name}: <a@example.org>\r\n${name.toUpperCase()}: <b@example.org>\r\n\r\n`
    expect(readMessage(Buffer.from(text), LIMIT)).toEqual({
      code: 'bad_header',
      detail: sentence('detail.field_at_most_once', { field: name }),
    })
  })

  test.each(['Received', 'Comments', 'Keywords', 'X-Tag', 'Resent-To', 'Bcc', 'Return-Path', 'DKIM-Signature'])(
    '%s may be repeated',
    name => {
      expect(read(`From: a@example.org\r\n${name}: x\r\n${name}: y\r\n\r\n`).from).toEqual(['a@example.org'])
    },
  )

  test('those in whose name it goes are read, each once, with the field that names them', () => {
    const text =
      'Resent-From: R <r@Example.net>, a@example.org\r\nResent-Sender: s@example.net\r\nResent-From: r@example.net\r\n' +
      'Sender: Some One <s@example.org>\r\nFrom: a@example.org\r\n\r\n'
    expect(read(text).identities).toEqual([
      { field: 'Resent-From', email: 'r@example.net' },
      { field: 'Resent-From', email: 'a@example.org' },
      { field: 'Resent-Sender', email: 's@example.net' },
      { field: 'Sender', email: 's@example.org' },
    ])
  })

  test.each([
    ['Sender: nobody', 'The Sender field is not an address like Name <user@example.com>.'],
    ['Sender: a@example.org, b@example.org', 'The Sender field has more than one address.'],
    ['Resent-From: g: a@example.org;', 'The Resent-From field is not an address like Name <user@example.com>.'],
    [
      Array.from({ length: 11 }, (_, i) => `Resent-From: a${i}@example.org`).join('\r\n'),
      'Sender, Resent-From and Resent-Sender have more than 10 addresses together.',
    ],
  ])('refused: %s', (field, text) => {
    const result = readMessage(Buffer.from(`From: a@example.org\r\n${field}\r\n\r\n`), LIMIT)
    expect('code' in result && [result.code, inEnglish(result.detail)]).toEqual(['bad_header', text])
  })

  test('50 hops and the full size pass', () => {
    const raw = Buffer.from(`${'Received: x\r\n'.repeat(50)}From: a@example.org\r\n\r\n${'x\r\n'.repeat(1000)}`)
    expect(readMessage(raw, raw.length)).toMatchObject({ from: ['a@example.org'] })
    expect(readMessage(raw, raw.length - 1)).toMatchObject({ code: 'message_too_large' })
  })
})

describe('finishing a message', () => {
  test('a complete message only gets its trace', () => {
    const text = 'Date: d\r\nMessage-ID: <x@y>\r\nFrom: a@example.org\r\n\r\nbody\r\n'
    expect(finish(text)).toEqual({
      messageId: '<x@y>',
      text:
        'Received: from client.example ([192.0.2.1])\r\n\tby mail.example.com with ESMTPSA id em_1;\r\n' +
        `\tSat, 21 Nov 2026 10:26:32 +0000\r\n${text}`,
    })
  })

  test('Date and Message-ID are added when missing', () => {
    const { text, messageId } = finish('From: a@example.org\r\n\r\nbody\r\n')
    expect(messageId).toBe('<em_1@example.org>')
    expect(text).toContain(
      '\r\nDate: Sat, 21 Nov 2026 10:26:32 +0000\r\nMessage-ID: <em_1@example.org>\r\nFrom: a@example.org\r\n\r\nbody\r\n',
    )
  })

  test('an empty Message-ID is replaced', () => {
    const { text, messageId } = finish('Message-ID: \r\nFrom: a@example.org\r\n\r\n')
    expect(messageId).toBe('<em_1@example.org>')
    expect(text.match(/message-id/gi)).toHaveLength(1)
  })

  test('blind recipients and our own field go, with their folded lines; all else stays in place', () => {
    const { text } = finish(
      'Bcc: x@example.net,\r\n y@example.net\r\nFrom: a@example.org\r\nbcc: z@example.net\r\nX-Idempotency-Key: k\r\n' +
        'Resent-Bcc: w@example.net\r\nTo: b@example.net\r\n\r\nBcc: in the body\r\n',
    )
    expect(text.replace(/^[\s\S]*?(?=From:)/, '')).toBe(
      'From: a@example.org\r\nTo: b@example.net\r\n\r\nBcc: in the body\r\n',
    )
    expect(text).not.toContain('y@example.net')
  })

  test('what only receivers may add goes, too', () => {
    const { text } = finish(
      'Return-Path: <x@example.net>\r\nAuthentication-Results: example.net; dmarc=pass\r\n header.from=x\r\n' +
        'From: a@example.org\r\nReceived-SPF: pass\r\nDelivered-To: b@example.net\r\nOriginal-Recipient: rfc822;b\r\n' +
        'BIMI-Location: v=BIMI1; l=https://x.example/a.svg\r\nbimi-indicator: PHN2Zz4=\r\nBIMI-Selector: v=BIMI1; s=a\r\n' +
        'ARC-Seal: i=1\r\nDKIM-Signature: v=1\r\nReceived: from x\r\n\r\n',
    )
    expect(text.replace(/^[\s\S]*?(?=From:)/, '')).toBe(
      'From: a@example.org\r\nBIMI-Selector: v=BIMI1; s=a\r\nARC-Seal: i=1\r\nDKIM-Signature: v=1\r\nReceived: from x\r\n\r\n',
    )
  })

  test('fields beyond ASCII go encoded, in their place and under their name; all others keep their octets', () => {
    const raw = Buffer.from(
      'SUBJECT: Gr\xfc\xdfe\r\nX-A:  b\r\nFrom: J\xfcrgen <a@example.org>\r\nBcc: \xfc@example.net\r\n\r\n\xfc\r\n',
      'latin1',
    )
    const result = readMessage(raw, LIMIT)
    if ('code' in result) throw new Error(inEnglish(result.detail))
    expect(result).toMatchObject({ subject: 'Grüße', from: ['a@example.org'] })
    const { text } = { text: finishMessage(raw, result, stamp).raw.toString('latin1') }
    expect(text.replace(/^[\s\S]*?(?=SUBJECT:)/, '')).toBe(
      'SUBJECT: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nX-A:  b\r\nFrom: =?utf-8?Q?J=C3=BCrgen?= <a@example.org>\r\n\r\n\xfc\r\n',
    )
  })

  test('by default the trace does not contain the origin of the message', () => {
    const { text } = finish('From: a@example.org\r\n\r\n', { showClient: false })
    expect(text).toMatch(
      /^Received: by mail\.example\.com with ESMTPSA id em_1;\r\n\tSat, 21 Nov 2026 10:26:32 \+0000\r\n/,
    )
    expect(text).not.toMatch(/client\.example|192\.0\.2\.1/)
  })

  test.each([
    ['IPv6', { received: { from: 'h', ip: '2001:db8::1', protocol: 'ESMTPSA' } }, 'from h ([IPv6:2001:db8::1])'],
    [
      'a name that tries to add a field',
      { received: { from: 'h)\r\nX-Evil: y', ip: '192.0.2.1', protocol: 'ESMTPSA' } },
      'from h???X-Evil:?y ([192.0.2.1])',
    ],
    ['no name', { received: { from: '', ip: '192.0.2.1', protocol: 'HTTPS' } }, 'from unknown ([192.0.2.1])'],
    ['SMTPUTF8', { smtputf8: true }, 'with UTF8SMTPSA id em_1'],
  ])('trace: %s', (_, over, expected) => {
    expect(finish('From: a@example.org\r\n\r\n', over).text).toContain(expected)
  })
})

describe('allowed senders of a login', () => {
  test.each([
    ['a@example.org', [], true],
    ['a@example.org', ['a@example.org'], true],
    ['A@example.org', ['a@Example.org'], true],
    ['a@example.org', ['@example.org'], true],
    ['a@sub.example.org', ['@example.org'], false],
    ['a@example.org', ['b@example.org'], false],
    ['a@example.org', ['example.org'], false],
    ['a@notexample.org', ['@example.org'], false],
    ['b@example.net', ['a@example.org', '@example.net'], true],
  ])('%s with %j: %s', (email, allowed, expected) => {
    expect(isAllowedSender(email, allowed)).toBe(expected)
  })
})
