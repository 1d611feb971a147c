import { describe, expect, test } from 'vitest'
import type { DmarcRow } from './dmarc-report.ts'
import {
  explainVerdict,
  noMessages,
  OTHER_SOURCES,
  type SourceVerdict,
  summariseDmarc,
  verdictOf,
} from './summarise-dmarc.ts'
import { summariseTls } from './summarise-tls.ts'
import type { TlsPolicyResult } from './tls-report.ts'

const row = (more: Partial<DmarcRow> = {}): DmarcRow => ({
  ...{ ip: '192.0.2.1', messages: 10, disposition: 'none', dkimAligned: true, spfAligned: true, forwarded: false },
  ...{ headerFrom: 'example.com', spfDomain: 'example.com', spfPassed: true },
  ...{ dkimDomain: 'example.com', dkimPassed: true },
  ...more,
})
const FAILED = { dkimAligned: false, spfAligned: false, dkimPassed: false, spfPassed: false }
const summarise = (rows: DmarcRow[], domain = 'example.com', policyDomain = domain) =>
  summariseDmarc({ policyDomain, rows }, domain)

describe('the summary of a DMARC report', () => {
  test('adds up by address and domains, those with most messages first', () => {
    const summary = summarise([
      row(),
      row({ ip: '198.51.100.7', messages: 30, ...FAILED, disposition: 'reject' }),
      row({ messages: 5, spfAligned: false, disposition: 'quarantine' }),
    ])
    expect(summary?.sources.map(({ ip, messages, pass }) => [ip, messages, pass])).toEqual([
      ['198.51.100.7', 30, 0],
      ['192.0.2.1', 15, 15],
    ])
    expect(summary?.total).toEqual({
      ...{ messages: 45, pass: 15, dkim: 15, spf: 10, misaligned: 0, forwarded: 0, quarantine: 5, reject: 30 },
    })
  })

  test.each<[string, Parameters<typeof summarise>, number | undefined]>([
    ['counts names below the domain', [[row({ headerFrom: 'news.example.com' })]], 10],
    ['leaves out other names', [[row(), row({ headerFrom: 'notexample.com' })]], 10],
    [
      'of a policy above the domain',
      [[row(), row({ headerFrom: 'a.example.com' })], 'a.example.com', 'example.com'],
      10,
    ],
    ['of another domain is none', [[row({ headerFrom: 'example.org' })], 'example.com', 'example.org'], undefined],
    ['of the domain without mail', [[]], 0],
    ['of another domain without mail is none', [[], 'example.com', 'example.org'], undefined],
  ])('%s', (_, given, messages) => {
    expect(summarise(...given)?.total.messages).toBe(messages)
  })
})

test.each<[SourceVerdict, Partial<DmarcRow>[]]>([
  ['ours', [{ ip: '203.0.113.1' }]],
  ['ours_failing', [{ ip: '203.0.113.1', ...FAILED }]],
  ['authorised', [{}]],
  ['authorised', [{ messages: 6 }, { messages: 4, ...FAILED }]],
  ['forwarder', [{ spfAligned: false, spfDomain: 'forwarder.example' }]],
  ['forwarder_failing', [{ ...FAILED, forwarded: true }]],
  ['misconfigured', [{ ...FAILED, spfPassed: true, spfDomain: 'service.example' }]],
  ['misconfigured', [{ ...FAILED, dkimPassed: true, dkimDomain: 'service.example' }]],
  ['forged', [FAILED]],
  ['forged', [{ messages: 4 }, { messages: 6, ...FAILED }]],
])('a source is %s with %j', (verdict, rows) => {
  const sources = rows.map(more => summarise([row(more)])?.sources[0])
  const [first, second] = sources
  const sum = first && second ? { ...first, messages: 10, pass: first.pass + second.pass } : first
  expect(sum && verdictOf(sum, new Set(['203.0.113.1']))).toBe(verdict)
  expect(explainVerdict(verdict).code).toBe(`report.${verdict}`)
})

test('what was added up for lack of room has a verdict of its own', () => {
  expect(verdictOf({ ...OTHER_SOURCES, ...noMessages(), messages: 5 }, new Set())).toBe('other_sources')
})

describe('the summary of a TLS report', () => {
  const policy = (more: Partial<TlsPolicyResult> = {}): TlsPolicyResult => ({
    ...{ type: 'sts', domain: 'example.com', successful: 10, failed: 5 },
    failures: [{ type: 'certificate-expired', mx: 'mx1.example.com', sessions: 3 }],
    ...more,
  })

  test('adds up by policy, result and host; failures without details are other', () => {
    const policies = [policy(), policy({ successful: 1, failed: 3 }), policy({ domain: 'example.org' })]
    expect(summariseTls({ policies }, 'example.com')).toEqual([
      { policy: 'sts', result: '', mx: '', sessions: 11 },
      { policy: 'sts', result: 'certificate-expired', mx: 'mx1.example.com', sessions: 6 },
      { policy: 'sts', result: 'other', mx: '', sessions: 2 },
    ])
  })

  test('of another domain is none', () => {
    expect(summariseTls({ policies: [policy({ domain: 'example.org' })] }, 'example.com')).toBeUndefined()
  })

  test('has a bound for hosts that a reporter makes up', () => {
    const failures = Array.from({ length: 5_000 }, (_, n) => ({
      ...{ type: 'certificate-expired' as const, mx: `mx${n}.example.com`, sessions: 1 },
    }))
    const sum = summariseTls({ policies: [policy({ failed: 5_000, failures })] }, 'example.com') ?? []
    expect(sum.length).toBeLessThanOrEqual(1_001)
    expect(sum.reduce((all, { sessions }) => all + sessions, 0)).toBe(5_010)
  })
})
