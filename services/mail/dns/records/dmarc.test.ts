import { describe, expect, test } from 'vitest'
import { zoneLookup } from '../../../../test/support/dns/lookup-table.ts'
import { discoverDmarc, isDmarc, newDmarc, parseDmarc, treeWalk, weakenings } from './dmarc.ts'

const read = (txt: string) => parseDmarc(txt) ?? expect.fail(`${txt} is no record`)

describe('reading', () => {
  test.each([
    ['v=DMARC1', { p: 'none', sp: 'none', np: 'none' }],
    ['v=DMARC1; p=reject', { p: 'reject', sp: 'reject', np: 'reject' }],
    ['v=DMARC1;p=REJECT;sp=none;np=quarantine', { p: 'reject', sp: 'none', np: 'quarantine' }],
    ['v=DMARC1; p=reject; sp=quarantine', { sp: 'quarantine', np: 'quarantine' }],
    ['v=DMARC1; p=nonsense; rua=mailto:a@example.com', { p: 'none' }],
    ['v=DMARC1; p=none; t=y; adkim=s; aspf=S; psd=n', { testing: true, adkim: 's', aspf: 's', psd: 'n' }],
    ['v=DMARC1; p=none; pct=50; rf=afrf; ri=1', { obsolete: ['pct', 'rf', 'ri'] }],
    [
      'v=DMARC1; p=none; rua=mailto:a@x.example, mailto:b@x.example!10m',
      { rua: ['mailto:a@x.example', 'mailto:b@x.example!10m'] },
    ],
  ])('%s', (txt, expected) => expect(read(txt)).toMatchObject(expected))

  test.each(['v=dmarc1; p=none', 'p=none; v=DMARC1', 'v=DMARC12; p=none', 'v=spf1 -all', 'v=DMARC1 p=none'])(
    '%s is ignored',
    txt => expect(isDmarc(txt)).toBe(false),
  )
  test('a list with a tag twice is void', () => expect(parseDmarc('v=DMARC1; p=none; p=reject')).toBeUndefined())
})

test('a proposal has no address that the owner did not give', () => {
  expect(newDmarc('none', [])).toBe('v=DMARC1; p=none')
  expect(newDmarc('quarantine', ['a@example.com', 'b@example.com'])).toBe(
    'v=DMARC1; p=quarantine; rua=mailto:a@example.com,mailto:b@example.com',
  )
})

describe('strength', () => {
  test.each([
    ['v=DMARC1; p=none', 'v=DMARC1; p=reject', 0],
    ['v=DMARC1; p=reject', 'v=DMARC1; p=reject; rua=mailto:a@example.com', 0],
    ['v=DMARC1; p=reject', 'v=DMARC1; p=quarantine', 3],
    ['v=DMARC1; p=reject', 'v=DMARC1; p=reject; sp=none', 2],
    ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=reject; sp=none; np=none', 0],
    ['v=DMARC1; p=reject; adkim=s; aspf=s', 'v=DMARC1; p=reject', 2],
    ['v=DMARC1; p=reject', 'v=DMARC1; p=reject; t=y', 1],
    ['v=DMARC1; p=quarantine; sp=reject', 'v=DMARC1; p=reject; sp=quarantine', 2],
  ])('%s to %s loses %i', (before, after, losses) => expect(weakenings(read(before), read(after))).toHaveLength(losses))
})

describe('tree walk', () => {
  test('goes up label by label and skips the middle of long names', () => {
    expect(treeWalk('a.b.example.com')).toEqual(['a.b.example.com', 'b.example.com', 'example.com', 'com'])
    const long = treeWalk('a.b.c.d.e.f.g.h.i.j.mail.example.com')
    expect(long).toHaveLength(8)
    expect(long[1]).toBe('g.h.i.j.mail.example.com')
  })

  test.each([
    ['its own record', { 'TXT _dmarc.sub.example.com': ['v=DMARC1; p=none'] }, { kind: 'own', at: 'sub.example.com' }],
    [
      "the organisation's sub-domain policy",
      { 'TXT _dmarc.example.com': ['v=DMARC1; p=reject; sp=quarantine'] },
      { kind: 'inherited', at: 'example.com', effective: 'quarantine' },
    ],
    [
      'the public suffix above an organisation with a record',
      { 'TXT _dmarc.com': ['v=DMARC1; p=none; psd=y'], 'TXT _dmarc.example.com': ['v=DMARC1; p=reject'] },
      { kind: 'inherited', at: 'example.com', effective: 'reject' },
    ],
    [
      'the public suffix itself, for an organisation without one',
      { 'TXT _dmarc.com': ['v=DMARC1; p=reject; psd=y'] },
      { kind: 'inherited', at: 'com', effective: 'reject' },
    ],
    [
      'a walk that ends at psd=n',
      { 'TXT _dmarc.example.com': ['v=DMARC1; p=quarantine; psd=n'], 'TXT _dmarc.com': ['v=DMARC1; p=reject'] },
      { kind: 'inherited', at: 'example.com' },
    ],
    [
      'two records, which are none',
      { 'TXT _dmarc.sub.example.com': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
      { kind: 'several' },
    ],
    ['foreign TXT beside it', { 'TXT _dmarc.sub.example.com': ['hello', 'v=DMARC1; p=none'] }, { kind: 'own' }],
    ['nothing', {}, { kind: 'none' }],
    ['a failure for now', { 'TXT _dmarc.example.com': 'servfail' as const }, { kind: 'temporary' }],
  ])('finds %s', async (_, table, expected) =>
    expect(await discoverDmarc('sub.example.com', zoneLookup(table))).toMatchObject(expected),
  )
})

test.each([
  ['reports+dmarc@example.com', 'mailto:reports+dmarc@example.com'],
  ['a,b@example.com', 'mailto:a%2Cb@example.com'],
  ['x@example.com;p=none', 'mailto:x@example.com%3Bp%3Dnone'],
  ['big!10m@example.com', 'mailto:big%2110m@example.com'],
  ['50%@example.com', 'mailto:50%25@example.com'],
  ['post@b\u00fccher.example', 'mailto:post@b%C3%BCcher.example'],
])('an address of reports cannot break the record: %s', (address, uri) => {
  const txt = newDmarc('reject', [address, 'second@example.com'])
  expect(parseDmarc(txt)).toMatchObject({ p: 'reject', rua: [uri, 'mailto:second@example.com'] })
  expect(txt).toMatch(/^[\x20-\x7e]+$/)
})
