import { expect, test } from 'vitest'
import { ROUTE53_VALUES, route53Name } from './values.ts'

test.each([
  ['TXT', 'v=spf1 -all', '"v=spf1 -all"'],
  ['TXT', 'a "quoted" \\ text', '"a \\"quoted\\" \\\\ text"'],
  ['TXT', 'grüß\u0007', '"gr\\303\\274\\303\\237\\007"'],
  ['TXT', '\\303', '"\\\\303"'],
  ['TXT', 'x'.repeat(300), `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`],
  ['MX', '10 mx.example.com', '10 mx.example.com.'],
  ['CNAME', 'other.example.com', 'other.example.com.'],
  ['A', '192.0.2.1', '192.0.2.1'],
])('%s %s is written as %s and read back', (type, value, raw) => {
  expect(ROUTE53_VALUES.encode(type, value)).toBe(raw)
  expect(ROUTE53_VALUES.decode(type, raw)).toBe(value)
})

test.each([
  ['\\052.Example.COM.', '*.example.com'],
  ['_dmarc.example.com.', '_dmarc.example.com'],
  ['a\\134b.example.com.', 'a\\b.example.com'],
])('the name %s is %s', (text, name) => expect(route53Name(text)).toBe(name))
