import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { reportToken } from '../../message/report-address.ts'
import {
  guidance,
  isReturnPathRow,
  reverseName,
  type SendingHost,
  spfTerms,
  spfViolations,
  zoneFile,
} from './guidance.ts'

const host: SendingHost = {
  hostname: 'mail.postwright.example',
  addresses: ['192.0.2.10', '2001:db8::a'],
  spfMechanisms: ['include:_spf.example.net'],
}
const domain = {
  name: 'example.com',
  verification_token: 'token=abc',
  dkim: [
    { selector: 's1', algorithm: 'rsa-sha256', public_key: 'AAAA', state: 'retiring' },
    { selector: 's2', algorithm: 'rsa-sha256', public_key: 'BBBB', state: 'active' },
    { selector: 'e1', algorithm: 'ed25519-sha256', public_key: 'CCCC', state: 'pending' },
    { selector: 's0', algorithm: 'rsa-sha256', public_key: 'DDDD', state: 'revoked' },
  ],
} as const

test('every row has its purpose, need, host and value', () => {
  const rows = guidance(domain, host).map(({ id, need, type, host: at, value, writable }) =>
    [id, need, type, at, value, writable].join(' | '),
  )
  expect(rows).toEqual([
    'ownership | required | TXT | _postwright-challenge | token=abc | true',
    'dkim:s1 | required | TXT | s1._domainkey | v=DKIM1; k=rsa; p=AAAA | true',
    'dkim:s2 | required | TXT | s2._domainkey | v=DKIM1; k=rsa; p=BBBB | true',
    'dkim:e1 | recommended | TXT | e1._domainkey | v=DKIM1; k=ed25519; p=CCCC | true',
    'dkim:s0 | optional | TXT | s0._domainkey | v=DKIM1; k=rsa; p= | true',
    'spf | required | TXT | @ | v=spf1 ip4:192.0.2.10 ip6:2001:db8::a include:_spf.example.net ~all | true',
    'dmarc | required | TXT | _dmarc | v=DMARC1; p=none | true',
    'address:192.0.2.10 | recommended | A | mail.postwright.example | 192.0.2.10 | true',
    'address:2001:db8::a | recommended | AAAA | mail.postwright.example | 2001:db8::a | true',
    'ptr:192.0.2.10 | recommended | PTR | 10.2.0.192.in-addr.arpa | mail.postwright.example | false',
    `ptr:2001:db8::a | recommended | PTR | a.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa | mail.postwright.example | false`,
    'tls_rpt | optional | TXT | _smtp._tls | v=TLSRPTv1; rua=mailto:postmaster@example.com | false',
    'mta_sts | optional | TXT | _mta-sts | v=STSv1; id=1 | false',
  ])
})

describe('the return path', () => {
  const bounces = { ...host, bounceDomain: 'bounces.postwright.example' }
  const rowOf = (given: Parameters<typeof guidance>[0], at: SendingHost = bounces) =>
    guidance(given, at).filter(({ purpose }) => purpose === 'return_path')

  test('is an alias of the host that takes reports', () => {
    expect(rowOf(domain)).toEqual([
      {
        id: 'return_path',
        purpose: 'return_path',
        need: 'recommended',
        type: 'CNAME',
        name: 'bounce.example.com',
        host: 'bounce',
        value: 'bounces.postwright.example',
        ttl: 600,
        writable: true,
      },
    ])
    expect(zoneFile('example.com', rowOf(domain))).toContain(
      'bounce.example.com. 600 IN CNAME bounces.postwright.example.',
    )
  })
  test('is an MX and an SPF record where that was chosen', () => {
    const rows = guidance({ ...domain, dns: { return_path_records: 'mx', spf_all: '-all' } }, bounces).filter(
      ({ name }) => name === 'bounce.example.com',
    )
    expect(rows.map(({ id, type, host: at, value, writable }) => [id, type, at, value, writable])).toEqual([
      ['return_path_mx', 'MX', 'bounce', '10 bounces.postwright.example', true],
      ['return_path_spf', 'TXT', 'bounce', 'v=spf1 include:bounces.postwright.example -all', true],
    ])
    expect(rows.map(({ id, purpose, need }) => [id === purpose, need])).toEqual([
      [true, 'recommended'],
      [true, 'recommended'],
    ])
    expect(zoneFile('example.com', rows)).toContain('bounce.example.com. 600 IN MX 10 bounces.postwright.example.\n')
    const byHand = { ...domain, dns: { return_path_records: 'mx' as const, by_hand: ['return_path'] } }
    expect(
      guidance(byHand, bounces)
        .filter(({ id }) => isReturnPathRow(id))
        .map(({ writable }) => writable),
    ).toEqual([false, false])
    const shared = { ...domain, dns: { return_path_records: 'mx' as const, return_path: 'shared' as const } }
    expect(guidance(shared, bounces).filter(({ id }) => isReturnPathRow(id))).toEqual([])
  })
  test('set by hand is not written', () => {
    expect(rowOf({ ...domain, dns: { by_hand: ['return_path'] } })).toMatchObject([{ writable: false }])
  })
  test.each([
    ['without BOUNCE_DOMAIN', domain, host],
    ['shared with others', { ...domain, dns: { return_path: 'shared' as const } }, bounces],
    ['off', { ...domain, dns: { return_path: 'off' as const } }, bounces],
    ['that is BOUNCE_DOMAIN itself', domain, { ...host, bounceDomain: 'bounce.example.com' }],
    ['of a name that is too long', { ...domain, name: `${'a.'.repeat(95)}com` }, bounces],
  ])('%s needs no record', (_, given, at) => expect(rowOf(given, at)).toEqual([]))
})

describe('reports about the domain go to this installation', () => {
  const mac = (value: string) => [createHmac('sha256', 'key').update(value).digest()]
  const known = { ...domain, _id: 'dom_01abc', dns: { dmarc: { policy: 'none' as const, rua: ['me@example.com'] } } }
  const tls = reportToken('tls', known._id, mac)
  const dmarc = reportToken('dmarc', known._id, mac)
  const OWN = 'v=DMARC1; p=none; rua=mailto:me@example.com'
  const POSTMASTER = 'v=TLSRPTv1; rua=mailto:postmaster@example.com'
  test.each<[string, Partial<NonNullable<SendingHost['reports']>> | undefined, string, string]>([
    ['nowhere', undefined, OWN, POSTMASTER],
    ['nowhere, without a public address', {}, OWN, POSTMASTER],
    [
      'over HTTPS',
      { baseUrl: 'https://mail.example.net' },
      OWN,
      `v=TLSRPTv1; rua=https://mail.example.net/reports/tls/${tls}`,
    ],
    [
      'by mail',
      { mailDomain: 'bounce.example.net' },
      `${OWN},mailto:dmarc+${dmarc}@bounce.example.net`,
      `v=TLSRPTv1; rua=mailto:tlsrpt+${tls}@bounce.example.net`,
    ],
    [
      'over HTTPS first',
      { baseUrl: 'https://mail.example.net', mailDomain: 'bounce.example.net' },
      `${OWN},mailto:dmarc+${dmarc}@bounce.example.net`,
      `v=TLSRPTv1; rua=https://mail.example.net/reports/tls/${tls}`,
    ],
  ])('%s', (_, targets, dmarcValue, tlsValue) => {
    const rows = guidance(known, { ...host, ...(targets && { reports: { mac, ...targets } }) })
    const valueAt = (id: string) => rows.find(row => row.id === id)?.value
    expect([valueAt('dmarc'), valueAt('tls_rpt')]).toEqual([dmarcValue, tlsValue])
  })
})

describe('settings', () => {
  test('without addresses the host name is used, and there is no address row', () => {
    const bare = { hostname: 'mail.postwright.example', addresses: [], spfMechanisms: [] }
    expect(spfTerms({}, bare)).toEqual(['a:mail.postwright.example'])
    expect(guidance(domain, bare).filter(row => ['a', 'ptr'].includes(row.purpose))).toEqual([])
  })
  test('the end of SPF, the TTL and what the owner sets by hand', () => {
    const rows = guidance({ ...domain, dns: { spf_all: '-all', ttl: 60, by_hand: ['dkim', 'dmarc'] } }, host)
    expect(rows.find(row => row.id === 'spf')?.value).toMatch(/ -all$/)
    expect(rows.every(({ ttl }) => ttl === 60)).toBe(true)
    expect(rows.filter(({ writable }) => writable).map(({ purpose }) => purpose)).toEqual([
      'ownership',
      'spf',
      'a',
      'a',
    ])
  })
  test('mechanisms and policy of the domain are used', () => {
    const rows = guidance(
      {
        ...domain,
        dns: { spf: ['include:x.example'], dmarc: { policy: 'reject', rua: ['d@example.com'] }, address: false },
      },
      host,
    )
    expect(rows.find(row => row.id === 'spf')?.value).toContain('include:x.example ~all')
    expect(rows.find(row => row.id === 'dmarc')?.value).toBe('v=DMARC1; p=reject; rua=mailto:d@example.com')
    expect(rows.find(row => row.purpose === 'a')?.writable).toBe(false)
  })
})

test.each([
  ['192.0.2.10', '10.2.0.192.in-addr.arpa'],
  ['2001:db8:1:2:3:4:5:6', '6.0.0.0.5.0.0.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'],
])('%s is %s in the reverse tree', (ip, name) => expect(reverseName(ip)).toBe(name))

test('the zone file splits long TXT and comments out what is not yours to set', () => {
  const long = { ...domain, dkim: [{ ...domain.dkim[1], public_key: 'k'.repeat(392) }] }
  const lines = zoneFile('example.com', guidance(long, host)).split('\n')
  expect(lines).toContain('_dmarc.example.com. 600 IN TXT "v=DMARC1; p=none"')
  expect(lines.find(line => line.startsWith('s2._domainkey'))).toMatch(/IN TXT "v=DKIM1; k=rsa; p=k{237}" "k{155}"$/)
  expect(lines.filter(line => / PTR /.test(line)).every(line => line.startsWith(';'))).toBe(true)
})

test('the zone file holds what the owner sets by hand; notes do not hide a record', () => {
  const byHand = { ...domain, dns: { by_hand: ['ownership', 'dkim', 'spf', 'dmarc'] as const, address: false } }
  const lines = zoneFile('example.com', guidance(byHand, host)).split('\n')
  const names = lines.filter(line => line !== '' && !line.startsWith(';')).map(line => line.split(' ')[0])
  expect(names).toEqual([
    '_postwright-challenge.example.com.',
    's1._domainkey.example.com.',
    's2._domainkey.example.com.',
    'e1._domainkey.example.com.',
    's0._domainkey.example.com.',
    'example.com.',
    '_dmarc.example.com.',
  ])
})

test('a mechanism that is configured twice costs one lookup', () => {
  const twice = { dns: { spf: ['include:_spf.example.net', 'ip4:192.0.2.10', 'include:x.example'] } }
  expect(spfTerms(twice, host)).toEqual([
    'ip4:192.0.2.10',
    'ip6:2001:db8::a',
    'include:_spf.example.net',
    'include:x.example',
  ])
})

test.each<[string, Partial<SendingHost>, string[], ReturnType<typeof spfViolations>]>([
  [
    'nothing',
    {},
    ['ip4:192.0.2.10', 'ip6:2001:db8::a', 'include:_spf.example.net'],
    { unreadable: [], unnamed: false },
  ],
  [
    'terms that nobody can read',
    { spfMechanisms: ['mx', 'include:_spf', 'ipv4:192.0.2.1', '~all', 'redirect=_spf.example.net'] },
    ['ip4:192.0.2.10', 'ip6:2001:db8::a', 'mx'],
    { unreadable: ['include:_spf', 'ipv4:192.0.2.1', '~all', 'redirect=_spf.example.net'], unnamed: false },
  ],
  [
    'no address and no public name',
    { addresses: [], hostname: 'localhost', spfMechanisms: [] },
    [],
    { unreadable: [], unnamed: true },
  ],
  [
    'an address makes up for the name',
    { hostname: 'localhost', spfMechanisms: [] },
    ['ip4:192.0.2.10', 'ip6:2001:db8::a'],
    { unreadable: [], unnamed: false },
  ],
])('what keeps SPF from naming our servers: %s', (_, change, terms, errors) => {
  const changed = { ...host, ...change }
  expect(spfTerms({}, changed)).toEqual(terms)
  expect(spfViolations(changed)).toEqual(errors)
  expect(guidance(domain, changed).find(({ id }) => id === 'spf')?.writable).toBe(terms.length > 0)
})

describe('tracked links', () => {
  const host = { hostname: 'mail.example.net', addresses: [], spfMechanisms: [], trackingTarget: 'app.example.net' }
  const rowsOf = (name: string, tracking: { opens: boolean; clicks: boolean } | undefined, more: object = {}) =>
    guidance({ name, verification_token: 't', dkim: [], ...(tracking && { tracking }) }, { ...host, ...more })
      .filter(({ purpose }) => purpose === 'tracking')
      .map(row => `${row.name} ${row.type} ${row.value} ${row.need}`)

  test.each<[string, string[], string[]]>([
    ['on', rowsOf('example.com', { opens: true, clicks: false }), ['links.example.com CNAME app.example.net optional']],
    ['never set', rowsOf('example.com', undefined), []],
    ['off', rowsOf('example.com', { opens: false, clicks: false }), []],
    [
      'on without a public name',
      rowsOf('example.com', { opens: true, clicks: true }, { trackingTarget: undefined }),
      [],
    ],
    [
      'on at the name of the app',
      rowsOf('example.net', { opens: true, clicks: true }, { trackingTarget: 'links.example.net' }),
      [],
    ],
  ])('%s', (_, rows, expected) => expect(rows).toEqual(expected))
})
