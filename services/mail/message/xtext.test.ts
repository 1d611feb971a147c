import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromXtext, toOrcpt, toXtext } from './xtext.ts'

test.each([
  ['abc-1.2@example.org', 'abc-1.2@example.org'],
  ['a+b=c', 'a+2Bb+3Dc'],
  ['a NOTIFY=NEVER', 'a+20NOTIFY+3DNEVER'],
  ['a\r\nDATA', 'a+0D+0ADATA'],
  ['ü', '+C3+BC'],
  ['', ''],
])('%j becomes %s', (value, expected) => {
  expect(toXtext(value)).toBe(expected)
})

test('what is encoded is one word and decodes to what it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), value => {
      const encoded = toXtext(value)
      expect(encoded).toMatch(/^(?:[!-*,-<>-~]|\+[0-9A-F]{2})*$/)
      expect(fromXtext(encoded)).toBe(value)
    }),
  )
})

test.each([
  ['abc-1.2', 'abc-1.2'],
  ['a+2Bb+3Dc', 'a+b=c'],
  ['+C3+BC', 'ü'],
  ['a+2', 'a+2'],
  ['a+2bb', 'a+2bb'], // small letters are no hexchar
  ['+FF', '\ufffd'],
])('%j is read as %j', (encoded, expected) => expect(fromXtext(encoded)).toBe(expected))

test('the type of an original recipient stays', () => {
  expect(toOrcpt('rfc822;a+b@example.org')).toBe('rfc822;a+2Bb@example.org')
})
