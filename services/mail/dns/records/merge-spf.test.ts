import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spfRecord } from '../../../../test/support/dns/spf-records.ts'
import { mergeSpf, newSpf, withoutSpfTerms } from './merge-spf.ts'
import { parseSpf } from './spf.ts'
import { SpfSyntaxError } from './spf-term.ts'

const OURS = ['ip4:192.0.2.10', 'include:_spf.example.net']

describe('merge', () => {
  test.each([
    ['before all', 'v=spf1 mx -all', 'v=spf1 mx ip4:192.0.2.10 include:_spf.example.net -all'],
    ['alone', 'v=spf1', 'v=spf1 ip4:192.0.2.10 include:_spf.example.net'],
    ['at the end without all', 'v=spf1 mx ', 'v=spf1 mx ip4:192.0.2.10 include:_spf.example.net'],
    [
      'before a redirect',
      'v=spf1 redirect=_spf.example.org',
      'v=spf1 ip4:192.0.2.10 include:_spf.example.net redirect=_spf.example.org',
    ],
    [
      'before the first of two alls',
      'v=spf1 ?all mx -all',
      'v=spf1 ip4:192.0.2.10 include:_spf.example.net ?all mx -all',
    ],
    ['only what is missing', 'v=spf1 IP4:192.0.2.10/32 -all', 'v=spf1 IP4:192.0.2.10/32 include:_spf.example.net -all'],
    [
      'again, when ours comes after all',
      'v=spf1 -all ip4:192.0.2.10',
      'v=spf1 ip4:192.0.2.10 include:_spf.example.net -all ip4:192.0.2.10',
    ],
    [
      'with foreign text untouched',
      'V=SPF1  A   x-y=%{i}  ~ALL ',
      'V=SPF1  A   x-y=%{i} ip4:192.0.2.10 include:_spf.example.net  ~ALL ',
    ],
  ])('%s', (_, txt, merged) => expect(mergeSpf(txt, OURS).value).toBe(merged))

  test('the same term is not added twice, however it is written', () => {
    const { value, added } = mergeSpf('v=spf1 +include:_SPF.example.net ip4:192.0.2.10 ~all', [...OURS, ...OURS])
    expect(added).toEqual([])
    expect(value).toBe('v=spf1 +include:_SPF.example.net ip4:192.0.2.10 ~all')
  })

  test('an earlier term that fails our server is reported', () => {
    expect(mergeSpf('v=spf1 -ip4:192.0.2.10 -all', OURS).warnings).toEqual([
      { code: 'dns.spf_term_first', params: { term: '-ip4:192.0.2.10' } },
    ])
  })

  test('a broken record is not touched', () =>
    expect(() => mergeSpf('v=spf1 ipv4:1 -all', OURS)).toThrow(SpfSyntaxError))

  test('a new record never says +all', () => expect(newSpf(OURS)).toBe(`v=spf1 ${OURS.join(' ')} ~all`))
})

const ours = fc.uniqueArray(
  fc.oneof(
    fc.ipV4().map(ip => `ip4:${ip}`),
    fc.domain().map(name => `include:${name}`),
  ),
  {
    minLength: 1,
    maxLength: 4,
  },
)

describe('laws', () => {
  test('merging twice is merging once, and every foreign term survives in order', () =>
    fc.assert(
      fc.property(spfRecord, ours, (txt, terms) => {
        const once = mergeSpf(txt, terms)
        expect(mergeSpf(once.value, terms)).toMatchObject({ value: once.value, added: [] })
        const foreign = parseSpf(txt).terms.map(entry => entry.gap + entry.text)
        const kept = parseSpf(once.value).terms.map(entry => entry.gap + entry.text)
        let at = 0
        for (const entry of kept) if (entry === foreign[at]) at++
        expect(at).toBe(foreign.length)
        expect(kept.length).toBe(foreign.length + once.added.length)
      }),
      { numRuns: 2000 },
    ))

  test('taking our terms out again gives back the terms as they were', () =>
    fc.assert(
      fc.property(spfRecord, ours, (txt, terms) => {
        const { value, added } = mergeSpf(txt, terms)
        const texts = (spf: string) => parseSpf(spf).terms.map(entry => entry.text)
        const others = (spf: string) => texts(spf).filter(text => !added.includes(text))
        expect(others(withoutSpfTerms(value, added))).toEqual(others(txt))
      }),
      { numRuns: 1000 },
    ))
})
