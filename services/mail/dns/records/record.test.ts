import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalValue, parseTxt, quoteTxt, sameRecord, txtChunks } from './record.ts'

describe('TXT text', () => {
  test.each([
    ['plain', 'v=spf1 -all', 'v=spf1 -all'],
    ['quoted', '"v=spf1 -all"', 'v=spf1 -all'],
    ['in pieces', '"v=spf1 " "-all"', 'v=spf1 -all'],
    ['escaped', String.raw`"a\"b\\c\032d"`, 'a"b\\c d'],
    ['numbers that are none', String.raw`"\25a\300\1"`, '25a3001'],
    ['an escape beyond ASCII', '"\\\u{1F4E7}"', '\u{1F4E7}'],
    ['a lone quote stays', '"half', '"half'],
    ['quotes inside stay', 'a "b" c', 'a "b" c'],
    ['empty', '""', ''],
    ['beyond ASCII', '"\u{1F4E7} \\195\\164"', '\u{1F4E7} ä'],
  ])('%s', (_, text, value) => expect(parseTxt(text)).toBe(value))

  test('is split at 255 bytes, not characters', () => {
    expect(txtChunks('ä'.repeat(200)).map(chunk => chunk.length)).toEqual([255, 145])
    expect(quoteTxt('x'.repeat(256))).toBe(`"${'x'.repeat(255)}" "x"`)
    expect(quoteTxt('')).toBe('""')
  })

  test('any value survives quoting', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 700 }).filter(v => v.isWellFormed()),
        value => parseTxt(quoteTxt(value)) === value,
      ),
      {
        numRuns: 1000,
      },
    ))
})

test.each([
  ['AAAA', '2001:DB8:0:0::1', '2001:db8::1'],
  ['A', '192.0.2.1', '192.0.2.1'],
  ['CNAME', 'Bounce.Example.NET.', 'bounce.example.net'],
  ['TXT', 'Case Matters.', 'Case Matters.'],
])('%s %s compares as %s', (type, value, canonical) => expect(canonicalValue(type, value)).toBe(canonical))

test('records are the same by name, type and meaning', () => {
  const stored = { id: '1', name: 'a.example', type: 'AAAA', value: '2001:db8:0::1', ttl: 60 }
  expect(sameRecord(stored, { name: 'a.example', type: 'AAAA', value: '2001:db8::1' })).toBe(true)
  expect(sameRecord(stored, { name: 'b.example', type: 'AAAA', value: '2001:db8::1' })).toBe(false)
  expect(sameRecord(stored, { name: 'a.example', type: 'A', value: '2001:db8::1' })).toBe(false)
})
