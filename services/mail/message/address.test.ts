import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inEnglish } from '../../platform/sentences/sentence.ts'
import { domainOf, needsSmtpUtf8, normaliseEmail, readMailbox } from './address.ts'

describe('an address is read', () => {
  test.each([
    ['ann@example.com', { name: '', email: 'ann@example.com' }],
    ['  ann@example.com ', { name: '', email: 'ann@example.com' }],
    ['<ann@example.com>', { name: '', email: 'ann@example.com' }],
    ['Ann Lee <ann@example.com>', { name: 'Ann Lee', email: 'ann@example.com' }],
    ['"Lee, Ann" <ann@example.com>', { name: 'Lee, Ann', email: 'ann@example.com' }],
    ['"say \\"hi\\"" <ann@example.com>', { name: 'say "hi"', email: 'ann@example.com' }],
    ['李安 <ann@example.com>', { name: '李安', email: 'ann@example.com' }],
    ["o'neil+tag@EXAMPLE.com", { name: '', email: "o'neil+tag@example.com" }],
    ['Ann@Example.COM', { name: '', email: 'Ann@example.com' }],
    ['ann@bücher.example', { name: '', email: 'ann@xn--bcher-kva.example' }],
    ['ännchen@example.com', { name: '', email: 'ännchen@example.com' }],
    ['"ann lee"@Example.com', { name: '', email: '"ann lee"@example.com' }],
    ['"ann..lee."@example.com', { name: '', email: '"ann..lee."@example.com' }],
    ['"a@b"@example.com', { name: '', email: '"a@b"@example.com' }],
    ['"a,b;c:d"@example.com', { name: '', email: '"a,b;c:d"@example.com' }],
    ['"a\\"b\\\\c"@example.com', { name: '', email: '"a\\"b\\\\c"@example.com' }],
    ['Ann <"ann lee"@example.com>', { name: 'Ann', email: '"ann lee"@example.com' }],
    ['"Lee, Ann" <"ann lee"@example.com>', { name: 'Lee, Ann', email: '"ann lee"@example.com' }],
    // The same mailbox in its shortest form (RFC 5321 section 4.1.2).
    ['"ann"@example.com', { name: '', email: 'ann@example.com' }],
    ['"a\\nn \\@"@example.com', { name: '', email: '"ann @"@example.com' }],
    ['"ü b"@example.com', { name: '', email: '"ü b"@example.com' }],
    [{ email: 'ann@example.com' }, { name: '', email: 'ann@example.com' }],
    [
      { email: 'ann@example.com', name: 'Lee, Ann' },
      { name: 'Lee, Ann', email: 'ann@example.com' },
    ],
  ])('%j', (given, mailbox) => {
    expect(readMailbox(given)).toEqual({ mailbox })
  })
})

describe('what is no address is refused', () => {
  test.each([
    '',
    'ann',
    'ann@',
    '@example.com',
    'ann@localhost',
    'ann@[192.0.2.1]',
    'ann@192.0.2.1',
    'ann@example.com.',
    'ann@-example.com',
    'ann@exa_mple.com',
    'a..b@example.com',
    '.a@example.com',
    'a b@example.com',
    '""@example.com',
    '"a b@example.com',
    'a"b"@example.com',
    '"a"b"@example.com',
    '"a b\\"@example.com',
    '"a<b"@example.com',
    '"a>b"@example.com',
    '"a\tb"@example.com',
    `"${'a'.repeat(63)}"@example.com`.replace('a', ' '),
    'ann@example.com, bob@example.com',
    'ann@example.com; bob@example.com',
    'Ann <ann@example.com> <bob@example.com>',
    'Lee, Ann <ann@example.com>',
    'ann@example.com> <bob@example.com',
    'ann@example.com\r\nBcc: eve@example.org',
    'Ann\nBcc: x <ann@example.com>',
    'ann\u0000@example.com',
    'ann\u2028@example.com',
    'ann\ud83d@example.com',
    'ann\ude00@example.com',
    'ann@example.com/x',
    'ann@bücher.example:25',
    `${'a'.repeat(65)}@example.com`,
    `ann@${'a'.repeat(64)}.example`,
    `ann@${'a.'.repeat(130)}example`,
    `${'n'.repeat(256)} <ann@example.com>`,
    42,
    null,
    undefined,
    true,
    ['ann@example.com'],
    {},
    { email: { $gt: '' } },
    { email: 'ann@example.com', name: 7 },
    { email: 'ann@example.com', role: 'cc' },
    { email: 'ann@example.com', name: 'Ann\r\nBcc: eve@example.org' },
    JSON.parse('{"email":"ann@example.com","__proto__":{"name":"x"}}'),
  ])('%j', given => {
    expect(readMailbox(given)).toHaveProperty('error')
  })
})

test('an error shows a long input only in part', () => {
  const result = readMailbox('x'.repeat(10_000))
  expect('error' in result && inEnglish(result.error).length).toBeLessThan(200)
})

test('whatever is read contains no control character and is read again as itself', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.emailAddress(),
        fc.tuple(fc.string(), fc.emailAddress()).map(([n, e]) => `${n} <${e}>`),
      ),
      text => {
        const result = readMailbox(text)
        if ('error' in result) return
        const { name, email } = result.mailbox
        expect(name + email).not.toMatch(/\p{Cc}/u)
        expect(readMailbox({ name, email })).toEqual(result)
        expect(normaliseEmail(email)).toBe(email)
      },
    ),
    { numRuns: 500 },
  )
})

test.each([
  ['ann@example.com', 'example.com', false],
  ['ännchen@example.com', 'example.com', true],
])('domain and SMTPUTF8 of %s', (email, domain, utf8) => {
  expect(domainOf(email)).toBe(domain)
  expect(needsSmtpUtf8(email)).toBe(utf8)
})
