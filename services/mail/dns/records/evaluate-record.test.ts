import { describe, expect, test } from 'vitest'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { inEnglish, type Sentence } from '../../../platform/sentences/sentence.ts'
import { type DmarcDiscovery, parseDmarc } from './dmarc.ts'
import { evaluateRow, type RecordCheck, type Views } from './evaluate-record.ts'
import { guidance } from './guidance.ts'
import type { Answer } from './lookup.ts'
import type { EvaluationContext } from './match-record.ts'
import type { SpfEvaluation } from './spf-evaluate.ts'

const rows = guidance(
  {
    name: 'example.com',
    verification_token: 'token=ours',
    dkim: [
      { selector: 's1', algorithm: 'rsa-sha256', public_key: 'QUJD', state: 'active' },
      { selector: 's0', algorithm: 'rsa-sha256', public_key: 'T0xE', state: 'revoked' },
    ],
  },
  { hostname: 'mail.example.net', addresses: ['192.0.2.10'], spfMechanisms: [], bounceDomain: 'bounces.example.net' },
)
const row = (id: string) => rows.find(candidate => candidate.id === id) ?? expect.fail(`no row ${id}`)
const found = (...values: string[]): Answer => ({ kind: 'found', values, ttl: 300 })
const nothing: Answer = { kind: 'missing', reason: 'nxdomain' }
const down: Answer = { kind: 'temporary', reason: verbatim('SERVFAIL') }
const views = (authoritative: Answer[], recursive: Answer[] = []): Views => ({
  authoritative: authoritative.map((answer, i) => ({ server: `ns${i + 1}`, answer })),
  recursive: recursive.map((answer, i) => ({ server: `resolver ${i + 1}`, answer })),
})
const evaluateOne = (id: string, seen: Views, context: Partial<EvaluationContext> = {}): RecordCheck =>
  evaluateRow(row(id), seen, { spfTerms: ['ip4:192.0.2.10'], established: false, ...context })

describe('the three views', () => {
  const ours = found('token=rival', 'token=ours')
  test.each<[string, Answer[], Answer[], boolean, RecordCheck['status']]>([
    ['everybody has it', [ours, ours], [ours, ours], false, 'verified'],
    ['a resolver remembers that there was none', [ours, ours], [ours, nothing], false, 'verified'],
    ['a resolver still has another answer', [ours, ours], [ours, found('token=old')], false, 'pending'],
    ['one has another answer, one none', [ours], [nothing, found('token=old')], false, 'pending'],
    ['a resolver lies about a verified domain', [ours], [found('token=evil')], true, 'pending'],
    ['a resolver does not answer', [ours], [down], false, 'verified'],
    ['one server has it not yet', [ours, nothing], [], true, 'pending'],
    ['one server is down', [ours, down], [ours], true, 'verified'],
    ['nobody has it, claim pending', [nothing], [nothing], false, 'pending'],
    ['nobody has it, domain verified', [nothing], [nothing], true, 'failed'],
    ['only foreign values', [found('token=rival')], [], true, 'failed'],
    ['all servers fail, resolvers have it', [down, down], [ours], true, 'verified'],
    ['all servers fail, a resolver says no', [down, down], [nothing], true, 'temporary_failure'],
    ['nobody answers, claim pending', [down], [down], false, 'pending'],
    ['nobody answers, domain verified', [down], [down], true, 'temporary_failure'],
    ['nobody could be asked', [], [], true, 'temporary_failure'],
  ])('%s', (_, authoritative, recursive, established, status) =>
    expect(evaluateOne('ownership', views(authoritative, recursive), { established }).status).toBe(status),
  )

  test('the verdict says what was seen and what to do', () => {
    const name = '_postwright-challenge.example.com'
    expect(evaluateOne('ownership', views([found('token=rival')]))).toMatchObject({
      observed: ['token=rival'],
      errors: [{ code: 'dns.ownership_other', params: { name } }],
      instructions: [{ code: 'dns.add_record', params: { type: 'TXT', name, value: 'token=ours' } }],
    })
    expect(evaluateOne('ownership', views([found('token=ours')], [nothing])).warnings).toEqual([
      { code: 'dns.cached', params: { servers: ['resolver 1'] } },
    ])
    expect(evaluateOne('ownership', views([down])).warnings.map(inEnglish)).toEqual(['ns1: SERVFAIL'])
    const one = evaluateOne('ownership', views([found('token=ours'), nothing]))
    expect(one.warnings.map(inEnglish)).toEqual(['ns1 has the record, ns2 does not yet.'])
    const several = evaluateOne('ownership', views([nothing, found('token=ours'), nothing, down]))
    expect(several.warnings.map(inEnglish)).toEqual(['ns2 has the record; these servers do not yet: ns1, ns3.'])
  })
})

test.each<[string, Answer[], number]>([
  ['no resolver answers', [down, down], 1],
  ['one of two answers', [down, found('token=ours')], 0],
  ['none was asked', [], 0],
])('a record that the name servers have is verified; a word when %s', (_, recursive, words) => {
  const verdict = evaluateOne('ownership', views([found('token=ours')], recursive))
  expect(verdict).toMatchObject({ status: 'verified', errors: [] })
  expect(verdict.warnings.map(inEnglish)).toEqual(
    Array(words).fill(expect.stringMatching(/resolver 1: SERVFAIL.*DNSSEC/)),
  )
})

describe('each purpose', () => {
  const spf = (results: SpfEvaluation['results'], errors: Sentence[] = [], temporary = false) => ({
    spf: { results, errors, warnings: [], lookups: 1, voids: 0, temporary },
  })
  test.each<[string, string, Answer, Partial<EvaluationContext>, RecordCheck['status'], RegExp | undefined]>([
    ['the return path', 'return_path', found('bounces.example.net'), {}, 'verified', undefined],
    ['no return path', 'return_path', nothing, { established: true }, 'failed', /has no CNAME record/],
    ['another return path', 'return_path', found('psrp.example.org'), {}, 'failed', /points to psrp/],
    ['our key', 'dkim:s1', found('k=rsa;p=QUJD'), {}, 'verified', undefined],
    ['our key beside prose', 'dkim:s1', found('hello', 'p=QUJD'), {}, 'verified', undefined],
    ['another key', 'dkim:s1', found('p=REVG'), {}, 'failed', /another key/],
    ['an empty key', 'dkim:s1', found('p='), {}, 'failed', /revokes/],
    ['a wildcard answer', 'dkim:s1', found('v=spf1 -all'), {}, 'failed', /cannot be used/],
    ['a revoked key that is gone', 'dkim:s0', nothing, {}, 'verified', undefined],
    ['a revoked key that only a wildcard answers for', 'dkim:s0', found('v=spf1 -all'), {}, 'verified', undefined],
    ['a revoked key still there', 'dkim:s0', found('p=T0xE'), {}, 'failed', /still published/],
    ['SPF with our address', 'spf', found('v=spf1 ip4:192.0.2.10 -all', 'other'), {}, 'verified', undefined],
    [
      'SPF that passes us by an include',
      'spf',
      found('v=spf1 include:x.example -all'),
      spf({ '192.0.2.10': 'pass' }),
      'verified',
      undefined,
    ],
    ['SPF without us', 'spf', found('v=spf1 mx -all'), spf({ '192.0.2.10': 'fail' }), 'failed', /does not name/],
    [
      'SPF that refuses us before it names us',
      'spf',
      found('v=spf1 -ip4:192.0.2.0/24 ip4:192.0.2.10 -all'),
      spf({ '192.0.2.10': 'fail' }),
      'failed',
      /an earlier term .* fail for 192\.0\.2\.10/,
    ],
    [
      'SPF that names us behind what cannot be looked up now',
      'spf',
      found('v=spf1 include:x.example ip4:192.0.2.10 -all'),
      spf({ '192.0.2.10': 'temperror' }, [], true),
      'verified',
      undefined,
    ],
    [
      'SPF whose tree is over the limit',
      'spf',
      found('v=spf1 ip4:192.0.2.10 -all'),
      spf({ '192.0.2.10': 'permerror' }, [verbatim('The record needs 11 DNS lookups')]),
      'failed',
      /11 DNS lookups/,
    ],
    [
      'SPF that cannot be followed now',
      'spf',
      found('v=spf1 include:x.example -all'),
      spf({}, [], true),
      'temporary_failure',
      /cannot be looked up/,
    ],
    ['two SPF records', 'spf', found('v=spf1 -all', 'v=spf1 mx'), {}, 'conflict', /2 SPF records/],
    ['broken SPF', 'spf', found('v=spf1 ipv4:1'), {}, 'failed', /not valid/],
    ['no DMARC', 'dmarc', nothing, { dmarc: { kind: 'none' } }, 'pending', /no DMARC/],
    [
      'no DMARC below a policy that cannot be read now',
      'dmarc',
      nothing,
      { dmarc: { kind: 'temporary', reason: verbatim('_dmarc.com: SERVFAIL') }, established: true },
      'temporary_failure',
      /_dmarc\.com: SERVFAIL/,
    ],
    ['two DMARC records', 'dmarc', found('v=DMARC1; p=none', 'v=DMARC1; p=reject'), {}, 'conflict', /2 DMARC/],
    ['DMARC nobody can read', 'dmarc', found('v=DMARC1; p=none; p=none'), {}, 'failed', /cannot read/],
    ['the right address', 'address:192.0.2.10', found('192.0.2.10'), {}, 'verified', undefined],
    ['another address', 'address:192.0.2.10', found('198.51.100.1'), {}, 'failed', /points to 198.51.100.1/],
    [
      'the right PTR',
      'ptr:192.0.2.10',
      found('mail.example.net'),
      { hostAddresses: ['192.0.2.10'] },
      'verified',
      undefined,
    ],
    [
      'a PTR that does not point back',
      'ptr:192.0.2.10',
      found('mail.example.net'),
      { hostAddresses: ['192.0.2.11'] },
      'failed',
      /point back/,
    ],
    ['a generic PTR', 'ptr:192.0.2.10', found('host-10.isp.example'), {}, 'failed', /is host-10/],
    ['no MTA-STS', 'mta_sts', nothing, { established: true }, 'not_started', undefined],
    ['TLS-RPT of the owner', 'tls_rpt', found('v=TLSRPTv1; rua=mailto:x@example.com'), {}, 'verified', undefined],
  ])('%s', (_, id, answer, context, status, error) => {
    const verdict = evaluateOne(id, views([answer]), context)
    expect(verdict.status).toBe(status)
    if (error) expect(verdict.errors.map(inEnglish).join(' ')).toMatch(error)
    else expect(verdict.errors).toEqual([])
  })

  test('an inherited DMARC policy is enough and is named', () => {
    const txt = 'v=DMARC1; p=reject; sp=quarantine'
    const record = parseDmarc(txt) ?? expect.fail('bad fixture')
    const dmarc: DmarcDiscovery = { kind: 'inherited', at: 'example.org', txt, record, effective: 'quarantine' }
    expect(evaluateOne('dmarc', views([nothing]), { dmarc })).toMatchObject({
      status: 'verified',
      warnings: [{ code: 'dns.dmarc_inherited', params: { at: 'example.org', policy: 'quarantine' } }],
    })
  })

  test.each<[string, Partial<EvaluationContext>, Answer]>([
    ['dmarc', { dmarc: { kind: 'temporary', reason: verbatim('SERVFAIL') } }, nothing],
    ['spf', spf({}, [], true), found('v=spf1 include:x.example -all')],
  ])('the advice is not to add a second record while %s is unknown', (id, context, answer) => {
    expect(evaluateOne(id, views([answer]), context).instructions).toEqual([{ code: 'dns.check_again' }])
    const established = evaluateOne(id, views([answer]), { ...context, established: true })
    expect(established.instructions).toEqual([{ code: 'dns.check_repeated' }])
  })

  test.each([
    ['ownership', false, ['dns.add_record', 'dns.check_again']],
    ['dkim:s1', false, ['dns.add_record', 'dns.check_again']],
    ['return_path', false, ['dns.add_record', 'dns.check_again']],
    ['spf', false, ['dns.check_again']],
    ['dmarc', false, ['dns.check_again']],
    ['ownership', true, ['dns.check_repeated']],
  ])('while no server answers, %s of a domain (verified before: %s) has the advice %j', (id, established, codes) => {
    const dmarc: DmarcDiscovery = { kind: 'temporary', reason: verbatim('SERVFAIL') }
    const { instructions } = evaluateOne(id, views([down], [down]), { established, dmarc })
    expect(instructions.map(({ code }) => code)).toEqual(codes)
  })

  test('an SPF record without us comes with the merged record to set', () => {
    expect(evaluateOne('spf', views([found('v=spf1 mx -all')])).instructions.map(inEnglish)).toEqual([
      'Change the record to: v=spf1 mx ip4:192.0.2.10 -all',
    ])
  })
})
