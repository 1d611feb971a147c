import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import { normaliseDomain } from './domain-name.ts'

test.each([
  ['lower case', 'Example.COM', 'example.com'],
  ['the root dot', 'example.com.', 'example.com'],
  ['an ideographic full stop', '例子。测试', 'xn--fsqu00a.xn--0zwm56d'],
  ['spaces around', '  example.com ', 'example.com'],
  ['U-labels', 'Bücher.example', 'xn--bcher-kva.example'],
  ['A-labels', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['a subdomain', 'mail.example.co.uk', 'mail.example.co.uk'],
  ['a name below a private suffix', 'me.github.io', 'me.github.io'],
  ['a suffix nobody knows', 'corp.internal', 'corp.internal'],
  ['the sandbox of a laptop', 'sandbox.localhost.localdomain', 'sandbox.localhost.localdomain'],
])('%s', (_, input, name) => expect(normaliseDomain(input)).toEqual({ ok: true, name }))

test.each([
  ['empty', '', 'not a domain name'],
  ['a dot', '.', 'not a domain name'],
  ['a public suffix', 'co.uk', 'public suffix (co.uk)'],
  ['a top level domain', 'com', 'public suffix (com)'],
  ['a private suffix', 'github.io', 'public suffix (github.io)'],
  ['a single label', 'localhost', 'public suffix (localhost)'],
  ['an IPv4 address', '192.0.2.1', 'is an address'],
  ['a number that URLs take for an address', '1.2', 'is an address'],
  ['an IPv6 address', '[2001:db8::1]', 'not a domain name'],
  ['an empty label', 'a..example.com', 'not a domain name'],
  ['an underscore', '_dmarc.example.com', 'not a domain name'],
  ['a hyphen in front', '-a.example.com', 'not a domain name'],
  ['a label of 64', `${'a'.repeat(64)}.example.com`, 'not a domain name'],
  ['more than 253', `${'a.'.repeat(130)}example.com`, 'not a domain name'],
  ['no room for the records below it', `${'a.'.repeat(115)}example.com`, 'is too long'],
  ['a wildcard', '*.example.com', 'not a domain name'],
  ['a port', 'example.com:25', 'not a domain name'],
  ['a path', 'example.com/x', 'not a domain name'],
  ['credentials', 'user@example.com', 'not a domain name'],
  ['percent signs', '%65xample.com', 'not a domain name'],
  ['a line end', 'example.com\r\nevil.com', 'not a domain name'],
  ['NUL', 'example.com\0', 'not a domain name'],
])('refused: %s', (_, input, reason) => {
  const name = normaliseDomain(input)
  expect(name.ok ? name.name : inEnglish(name.reason)).toContain(reason)
})

test.each([
  [231, true],
  [232, false],
])('a name of %i characters leaves room for the record of its proof: %s', (length, ok) => {
  const labels = ['a', 'b', 'c'].map(letter => letter.repeat(63))
  const name = [...labels, 'd'.repeat(length - 204), 'example.com'].join('.')
  expect([name.length, normaliseDomain(name).ok]).toEqual([length, ok])
  expect(`_postwright-challenge.${name}`.length <= 253).toBe(ok)
})

test('whatever passes stays the same when it is normalised again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string(), fc.webAuthority()), input => {
      const once = normaliseDomain(input)
      if (once.ok) expect(normaliseDomain(once.name)).toEqual(once)
    }),
  )
})
