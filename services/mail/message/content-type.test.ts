import { describe, expect, test } from 'vitest'
import { parameters, tokenOf, withoutComments } from './content-type.ts'

test.each([
  ['8bit', '8bit'],
  [' 8BIT (x)', '8bit'],
  ['(x) base64 (y (z) \\) )', 'base64'],
  ['7bit (never ends', '7bit'],
  ['', ''],
])('the token of %j is %j', (value, expected) => {
  expect(tokenOf(value)).toBe(expected)
})

test.each([
  ['a; b="(c)"', 'a; b="(c)"'],
  ['a (say "hi); b=c', 'a  ; b=c'],
  ['a; b="\\"(" (c)', 'a; b="\\"("  '],
  ['a) (b', 'a) '],
])('%j without comments is %j', (value, expected) => {
  expect(withoutComments(value)).toBe(expected)
})

describe('type and parameters', () => {
  test.each<[value: string, type: string, values: Record<string, string>]>([
    ['text/plain', 'text/plain', {}],
    ['Text/Plain; Charset=UTF-8', 'text/plain', { charset: 'UTF-8' }],
    ['multipart/signed (PGP); boundary=x', 'multipart/signed', { boundary: 'x' }],
    ['multipart / signed ; boundary="a b" (c)', 'multipart/signed', { boundary: 'a b' }],
    ['a/b; boundary="a\\"b"', 'a/b', { boundary: 'a"b' }],
    ['a/b; boundary=x; boundary=y', 'a/b', { boundary: 'x' }],
    ['a/b; boundary*0=x; boundary*1="y z"', 'a/b', { boundary: 'xy z' }],
    ['a/b; boundary*1=y; boundary*0=x', 'a/b', { boundary: 'xy' }],
    ['a/b; boundary*0=x; boundary*2=z', 'a/b', { boundary: 'x' }],
    ['a/b; boundary*1=y', 'a/b', {}],
    ['a/b; boundary*0=x; boundary=y', 'a/b', { boundary: 'y' }],
    ["a/b; name*=utf-8'de'Gr%C3%BC", 'a/b', { name: 'Gr\xc3\xbc' }],
    ["a/b; name*0*=utf-8''%41'; name*1=%41; name*2*=%42", 'a/b', { name: "A'%41B" }],
  ])('%s', (value, type, values) => {
    expect(parameters(value)).toEqual([type, new Map(Object.entries(values))])
  })

  test.each([
    '; a="'.repeat(50_000),
    '('.repeat(250_000),
    '(\\'.repeat(100_000),
    '"'.repeat(250_001),
    ';a*1=b'.repeat(40_000),
  ])('values of 250 kB are read: %#', value => {
    expect(parameters(`a/b${value}`)[0]).toMatch(/^a\/b/)
  })
})
