import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spfRecord } from '../../../../test/support/dns/spf-records.ts'
import { isSpf, parseSpf, printSpf } from './spf.ts'
import { isMechanism, parseTerm, SpfSyntaxError } from './spf-term.ts'

describe('which TXT values are SPF', () => {
  test.each(['v=spf1', 'v=spf1 ', 'V=SPF1 -all', 'v=spf1  a'])('%j is', txt => expect(isSpf(txt)).toBe(true))
  test.each(['v=spf10 -all', 'v=spf1;-all', ' v=spf1 -all', 'spf1', ''])('%j is not', txt =>
    expect(isSpf(txt)).toBe(false),
  )
})

describe('what is printed is what was read', () => {
  test.each([
    'v=spf1',
    'v=spf1 ',
    'V=SPF1  A  mx   -ALL ',
    'v=spf1 a:mail.example.com/24//64 ip6:2001:db8::/32 ?exists:%{i}._x.%{d2} ~all',
    'v=spf1 unknown=%{l} exp=why.%{d} redirect=_spf.example.com',
    'v=spf1 a/0 mx//0 a:example.com/32//128 a:foo:bar/baz.example.com -ip4:0.0.0.0/0 ?ip6:::/0 ip6:::ffff:192.0.2.1/96',
    'v=spf1 include:%{i}._ip.%{h}._ehlo.%{d}._spf.vendor.example exists:%{l1r+-}.%{d2} a:%{d} ptr:%{o} exists:a%%b%_c%-.d',
    'v=spf1 a:1and1.example.c0m mx:example.xn--p1ai. unknown= x-y=100%% redirect=%{d}._spf.example.com',
  ])('%j', txt => expect(printSpf(parseSpf(txt))).toBe(txt))

  test.each([
    ['v=spf1 ip5:1', '"ip5:1"'],
    ['v=spf1 ip4', 'lacks its value'],
    ['v=spf1 include:', 'lacks its value'],
    ['v=spf1 all:x', 'takes no value'],
    ['v=spf1 redirect=a.example redirect=b.example', 'twice'],
    ['v=spf1 "quoted"', 'not an SPF term'],
    ['v=spf1 ä', 'not an SPF term'],
    ['v=DMARC1', 'does not begin'],
    ...(
      [
        [
          'not a network',
          ['ip4:192.0.2.300', 'ip4:192.0.2', 'ip4:192.0.2.1/33', 'ip4:192.0.2.1/032', 'ip4:192.0.2.1//24'],
        ],
        [
          'not a network',
          ['ip4:2001:db8::1', 'ip4:192.0.2.1:25', 'ip6:192.0.2.1', 'ip6:2001:db8::/129', 'ip6:fe80::1%1'],
        ],
        ['not a network', ['a/33', 'mx//129', 'a:example.com/24//200', 'a/24/64']],
        ['receivers can read', ['a/032', 'a:', 'mx:', 'a:localhost', 'a:192.0.2.1', 'a:example.-com']],
        [
          'receivers can read',
          ['a:example.com:8080', 'include:_spf', 'include:_spf.example.com/24', 'exists:%(i).x.y'],
        ],
        ['receivers can read', ['include:%{a}.example.com', 'include:100%.example.com', 'exists:x.%{i', 'ptr:museum']],
        ['receivers can read', ['redirect=', 'redirect=-all', 'exp=', 'unknown=%abc']],
        ['lacks its value', ['ptr/24', 'ptr:', 'include/24', 'exists', 'ip6']],
      ] as const
    ).flatMap(([message, terms]) => terms.map((text): [string, string] => [`v=spf1 ${text} -all`, message])),
  ])('%j is refused: %s', (txt, message) => expect(() => parseSpf(txt)).toThrow(message))
})

describe('text that a stranger made to keep us busy is refused at once', () => {
  const SHAPES = [
    'a',
    'a-',
    '1',
    '1a',
    'a1',
    '-',
    '.a',
    '.',
    'a.',
    '%',
    '%{s',
    '%{s1',
    '%{s1r-',
    '%%',
    '/',
    '/1',
    '//1',
    ':',
  ]
  const MANY = 60_000
  test.each(SHAPES)('%j again and again, in a term', unit => {
    const text = unit.repeat(MANY / unit.length)
    for (const before of [
      'include:',
      'include:x.',
      'a:x.',
      'a:x.y/',
      'exists:%{i}.',
      'redirect=x.',
      'x=',
      '',
      'ip4:',
      'ip6:',
    ])
      for (const after of ['', '!', '.', '..', '-', '/24', '%'])
        try {
          expect(parseTerm(' ', `${before}${text}${after}`).kind).toMatch(/^(?:modifier|mechanism)$/)
        } catch (error) {
          expect(error).toBeInstanceOf(SpfSyntaxError)
        }
  })

  test.each(['include:x.', ' ', 'a ', 'a  ', '% '])('%j: a record of 60,000 characters', unit =>
    expect(() => parseSpf(`v=spf1 ${unit}${'a'.repeat(9)}${unit.repeat(MANY / unit.length)}!`)).toThrow(SpfSyntaxError),
  )

  test('what is just short enough is read', () => {
    const longest = `v=spf1 ${' '.repeat(9_989)}-all`
    expect(longest).toHaveLength(10_000)
    expect(printSpf(parseSpf(longest))).toBe(longest)
    expect(() => parseSpf(`${longest} `)).toThrow('more than 10000 characters')
  })

  test('a name has 255 characters at most', () => {
    const name = (length: number) => `${'a.'.repeat(120)}${'b'.repeat(length - 240)}`
    expect(isMechanism(`include:${name(255)}`)).toBe(true)
    expect(isMechanism(`include:${name(256)}`)).toBe(false)
  })
})

describe('laws', () => {
  test('parse and print are inverse', () =>
    fc.assert(
      fc.property(spfRecord, txt => printSpf(parseSpf(txt)) === txt),
      { numRuns: 2000 },
    ))
})
