import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verbatim } from '../../../platform/sentences/compose.ts'
import type { DmarcDiscovery } from '../records/dmarc.ts'
import { parseDmarc, weakenings } from '../records/dmarc.ts'
import { type GuidanceDomain, guidance, spfTerms } from '../records/guidance.ts'
import { isWithin } from '../records/names.ts'
import type { StoredRecord } from '../records/record.ts'
import { isSpf } from '../records/spf.ts'
import { outdatedRows, planDns, questionsOf, vanished } from './dns-plan.ts'
import type { OwnedRecord, PlanInput, PlanItem } from './plan-item.ts'
import { planRemoval } from './plan-removal.ts'

const host = { hostname: 'mail.example.com', addresses: ['192.0.2.10'], spfMechanisms: ['include:_spf.example.net'] }
const domain: GuidanceDomain = {
  name: 'example.com',
  verification_token: 'token=ours',
  dkim: [{ selector: 's1', algorithm: 'rsa-sha256', public_key: 'QUJD', state: 'active' }],
}
const revoked: GuidanceDomain = {
  ...domain,
  dkim: domain.dkim.map(key => ({ ...key, state: 'revoked' })),
}
const KEY = 'v=DKIM1; k=rsa; p=QUJD'
const SPF = 'v=spf1 ip4:192.0.2.10 include:_spf.example.net ~all'
const zone = { id: 'z1', name: 'example.com', minTtl: 60, maxTxt: 512 }

const record = (type: string, name: string, value: string, more: Partial<StoredRecord> = {}): StoredRecord => ({
  id: `${name}/${type}/${value}`,
  name,
  type,
  value,
  ttl: 300,
  ...more,
})
const txt = (name: string, value: string, more: Partial<StoredRecord> = {}) => record('TXT', name, value, more)
const own = (row: string, stored: StoredRecord, more: Partial<OwnedRecord> = {}): OwnedRecord => ({
  row,
  name: stored.name,
  type: stored.type as OwnedRecord['type'],
  value: stored.value,
  record_id: stored.id,
  ...more,
})

const hasChanges = (items: readonly PlanItem[]) =>
  items.some(({ action }) => action === 'create' || action === 'update' || action === 'delete')

interface Situation {
  records?: StoredRecord[]
  owned?: OwnedRecord[]
  accepted?: string[]
  inherited?: DmarcDiscovery
  domain?: GuidanceDomain
  host?: { bounceDomain: string }
  zone?: typeof zone | undefined
}
function input({
  records = [],
  owned = [],
  accepted = [],
  inherited = { kind: 'none' },
  ...rest
}: Situation): PlanInput {
  const subject = rest.domain ?? domain
  const where = 'zone' in rest ? rest.zone : zone
  return {
    rows: guidance(subject, { ...host, ...rest.host }),
    zoneOf: name => (where && isWithin(name, where.name) ? where : undefined),
    current: name => records.filter(stored => stored.name === name),
    owned,
    accepted: new Set(accepted),
    spfTerms: spfTerms(subject, host),
    inheritedDmarc: inherited,
  }
}
const plan = (situation: Situation) => planDns(input(situation))
const of = (items: PlanItem[], row: string) => items.find(item => item.row === row) ?? expect.fail(`no item for ${row}`)
const policyAbove = (text: string): DmarcDiscovery => {
  const parsed = parseDmarc(text) ?? expect.fail('bad fixture')
  return { kind: 'inherited', at: 'com', txt: text, record: parsed, effective: parsed.sp }
}

test('an empty zone gets everything', () => {
  expect(plan({}).map(({ row, action, value, ttl }) => [row, action, value, ttl])).toEqual([
    ['ownership', 'create', 'token=ours', 600],
    ['dkim:s1', 'create', KEY, 600],
    ['spf', 'create', SPF, 600],
    ['dmarc', 'create', 'v=DMARC1; p=none', 600],
    ['address:192.0.2.10', 'create', '192.0.2.10', 600],
  ])
})

test('what is there already is kept, and nothing changes', () => {
  const items = plan({
    records: [
      txt('_postwright-challenge.example.com', 'token=other'),
      txt('_postwright-challenge.example.com', 'token=ours'),
      txt('s1._domainkey.example.com', 'k=rsa;p=QUJD;'),
      txt('example.com', 'v=spf1 mx IP4:192.0.2.10 include:_spf.example.net -all'),
      txt('_dmarc.example.com', 'v=DMARC1; p=reject'),
      record('A', 'mail.example.com', '192.0.2.10'),
    ],
  })
  expect(items.map(({ action }) => action)).toEqual(['keep', 'keep', 'keep', 'keep', 'keep'])
  expect(hasChanges(items)).toBe(false)
})

describe.each<[string, Situation, string, Partial<PlanItem>]>([
  [
    'a CNAME in the way',
    { records: [record('CNAME', 's1._domainkey.example.com', 'keys.other.example')] },
    'dkim:s1',
    { action: 'conflict', code: 'cname_in_the_way' },
  ],
  [
    'another key at the selector',
    { records: [txt('s1._domainkey.example.com', 'v=DKIM1; p=REVG')] },
    'dkim:s1',
    { action: 'conflict', code: 'foreign_value', acceptable: true },
  ],
  [
    'another key, replacement chosen',
    { records: [txt('s1._domainkey.example.com', 'v=DKIM1; p=REVG')], accepted: ['dkim:s1'] },
    'dkim:s1',
    { action: 'update' },
  ],
  [
    'two keys at the selector',
    {
      records: [txt('s1._domainkey.example.com', 'p=REVG'), txt('s1._domainkey.example.com', KEY)],
      accepted: ['dkim:s1'],
    },
    'dkim:s1',
    { action: 'conflict', code: 'several_records' },
  ],
  [
    'our key changed by somebody',
    {
      records: [txt('s1._domainkey.example.com', 'p=REVG')],
      owned: [own('dkim:s1', txt('s1._domainkey.example.com', KEY))],
    },
    'dkim:s1',
    { action: 'update' },
  ],
  [
    'a locked record',
    { records: [txt('example.com', 'v=spf1 -all', { locked: true })] },
    'spf',
    { action: 'conflict', code: 'locked' },
  ],
  [
    'a locked record that is right',
    { records: [txt('example.com', SPF, { locked: true })] },
    'spf',
    { action: 'keep' },
  ],
  [
    'a disabled record',
    { records: [txt('_postwright-challenge.example.com', 'token=ours', { disabled: true })] },
    'ownership',
    { action: 'conflict', code: 'disabled' },
  ],
  ...(
    [
      ['spf', 'example.com', 'v=spf1 mx -all', SPF, 'keep'],
      ['spf', 'example.com', 'v=spf1 mx -all', 'v=spf1 a -all', 'update'],
      ['dmarc', '_dmarc.example.com', 'v=DMARC1; p=reject', 'v=DMARC1; p=none', 'keep'],
      ['dkim:s1', 's1._domainkey.example.com', 'v=DKIM1; p=REVG', KEY, 'keep'],
    ] as const
  ).map(([row, name, paused, served, action]): [string, Situation, string, Partial<PlanItem>] => [
    `${row}: a paused record beside one that is served (${action})`,
    { records: [txt(name, paused, { disabled: true }), txt(name, served)] },
    row,
    { action },
  ]),
  [
    'only a paused SPF record',
    { records: [txt('example.com', 'v=spf1 mx -all', { disabled: true })] },
    'spf',
    { action: 'conflict', code: 'disabled' },
  ],
  [
    'one SPF record',
    { records: [txt('example.com', 'v=spf1 mx -all')] },
    'spf',
    { action: 'update', value: 'v=spf1 mx ip4:192.0.2.10 include:_spf.example.net -all' },
  ],
  [
    'two SPF records',
    { records: [txt('example.com', 'v=spf1 mx -all'), txt('example.com', 'v=spf1 a ~all')], accepted: ['spf'] },
    'spf',
    { action: 'conflict', code: 'several_records', value: 'v=spf1 mx a ip4:192.0.2.10 include:_spf.example.net -all' },
  ],
  [
    'a broken SPF record',
    { records: [txt('example.com', 'v=spf1 ipv4:1.2.3.4 -all')] },
    'spf',
    { action: 'conflict', code: 'broken_record' },
  ],
  ['foreign TXT at the apex', { records: [txt('example.com', 'site-verification=1')] }, 'spf', { action: 'create' }],
  [
    'our SPF beside a new foreign one',
    {
      records: [txt('example.com', SPF), txt('example.com', 'v=spf1 mx -all')],
      owned: [own('spf', txt('example.com', SPF))],
    },
    'spf',
    { action: 'delete', value: SPF },
  ],
  [
    'our SPF after the servers changed',
    {
      records: [txt('example.com', 'v=spf1 ip4:198.51.100.1 ~all')],
      owned: [own('spf', txt('example.com', 'v=spf1 ip4:198.51.100.1 ~all'))],
    },
    'spf',
    { action: 'update', value: SPF },
  ],
  [
    'a merge with an address that left',
    {
      records: [txt('example.com', 'v=spf1 mx ip4:198.51.100.1 -all')],
      owned: [own('spf', txt('example.com', 'v=spf1 mx ip4:198.51.100.1 -all'), { before: 'v=spf1 mx -all' })],
    },
    'spf',
    { action: 'update', value: 'v=spf1 mx ip4:192.0.2.10 include:_spf.example.net -all' },
  ],
  [
    'a DMARC policy of the owner',
    { records: [txt('_dmarc.example.com', 'v=DMARC1; p=quarantine; pct=20')] },
    'dmarc',
    { action: 'keep', warnings: [{ code: 'dns.dmarc_obsolete_tag', params: { tag: 'pct' } }] },
  ],
  [
    'two DMARC records',
    { records: [txt('_dmarc.example.com', 'v=DMARC1; p=none'), txt('_dmarc.example.com', 'v=DMARC1; p=reject')] },
    'dmarc',
    { action: 'conflict', code: 'several_records' },
  ],
  [
    'a DMARC record that nobody can read',
    { records: [txt('_dmarc.example.com', 'v=DMARC1; p=none; p=reject')] },
    'dmarc',
    { action: 'conflict', code: 'broken_record' },
  ],
  [
    'our DMARC, policy lowered',
    {
      records: [txt('_dmarc.example.com', 'v=DMARC1; p=reject')],
      owned: [own('dmarc', txt('_dmarc.example.com', 'v=DMARC1; p=reject'))],
    },
    'dmarc',
    { action: 'conflict', code: 'weaker_policy', acceptable: true },
  ],
  [
    'our DMARC, lowering accepted',
    {
      records: [txt('_dmarc.example.com', 'v=DMARC1; p=reject')],
      owned: [own('dmarc', txt('_dmarc.example.com', 'v=DMARC1; p=reject'))],
      accepted: ['dmarc'],
    },
    'dmarc',
    { action: 'update' },
  ],
  [
    'our DMARC, policy raised',
    {
      records: [txt('_dmarc.example.com', 'v=DMARC1; p=none')],
      owned: [own('dmarc', txt('_dmarc.example.com', 'v=DMARC1; p=none'))],
      domain: { ...domain, dns: { dmarc: { policy: 'reject', rua: [] } } },
    },
    'dmarc',
    { action: 'update', value: 'v=DMARC1; p=reject' },
  ],
  ['a strict policy above', { inherited: policyAbove('v=DMARC1; p=reject') }, 'dmarc', { action: 'skip' }],
  [
    'a strict policy above, weakening accepted',
    { inherited: policyAbove('v=DMARC1; p=reject'), accepted: ['dmarc'] },
    'dmarc',
    { action: 'create' },
  ],
  ['an equal policy above', { inherited: policyAbove('v=DMARC1; p=none') }, 'dmarc', { action: 'create' }],
  [
    'a policy above that cannot be read now',
    { inherited: { kind: 'temporary', reason: verbatim('SERVFAIL') } },
    'dmarc',
    { action: 'conflict', code: 'policy_unknown' },
  ],
  [
    'a foreign address at the sending host',
    { records: [record('A', 'mail.example.com', '198.51.100.9')] },
    'address:192.0.2.10',
    { action: 'conflict', code: 'foreign_value', acceptable: true },
  ],
  [
    'a proxied address',
    { records: [record('A', 'mail.example.com', '192.0.2.10', { proxied: true })] },
    'address:192.0.2.10',
    { action: 'conflict', code: 'proxied' },
  ],
  [
    'our old address',
    {
      records: [record('A', 'mail.example.com', '198.51.100.9')],
      owned: [own('address:198.51.100.9', record('A', 'mail.example.com', '198.51.100.9'))],
    },
    'address:192.0.2.10',
    { action: 'update' },
  ],
  [
    'a zone that holds nothing of it',
    { zone: undefined },
    'spf',
    { action: 'skip', reason: { code: 'dns_plan.no_zone', params: { name: 'example.com' } } },
  ],
  ['a TXT limit below the key', { zone: { ...zone, maxTxt: 20 } }, 'dkim:s1', { action: 'conflict', code: 'too_long' }],
  ['a zone with a higher least TTL', { zone: { ...zone, minTtl: 3600 } }, 'spf', { action: 'create', ttl: 3600 }],
  [
    'a revoked key of ours',
    {
      records: [txt('s1._domainkey.example.com', KEY)],
      owned: [own('dkim:s1', txt('s1._domainkey.example.com', KEY))],
      domain: revoked,
    },
    'dkim:s1',
    { action: 'update', value: 'v=DKIM1; k=rsa; p=' },
  ],
  ['a revoked key that was never published', { domain: revoked }, 'dkim:s1', { action: 'keep' }],
])('%s', (_, situation, row, expected) => {
  test(`is ${expected.action}`, () => expect(of(plan(situation), row)).toMatchObject(expected))
})

describe('the alias of the return path', () => {
  const name = 'bounce.example.com'
  const alias = (value: string, more: Partial<StoredRecord> = {}) => record('CNAME', name, value, more)
  const to = 'bounces.example.net'
  const planned = (situation: Situation) => of(plan({ ...situation, host: { bounceDomain: to } }), 'return_path')
  const other = alias('psrp.example.org')

  test.each<[string, Situation, Partial<PlanItem>]>([
    ['a free name', {}, { action: 'create', type: 'CNAME', name, value: to }],
    ['the alias', { records: [alias('Bounces.Example.NET.')] }, { action: 'keep' }],
    [
      'a proxied alias',
      { records: [alias(to, { proxied: true })] },
      { action: 'conflict', code: 'proxied', acceptable: true },
    ],
    [
      'an accepted proxied alias',
      { records: [alias(to, { proxied: true })], accepted: ['return_path'] },
      { action: 'update' },
    ],
    [
      'an alias of another service',
      { records: [other] },
      { action: 'conflict', code: 'foreign_value', acceptable: true },
    ],
    ['one that may be replaced', { records: [other], accepted: ['return_path'] }, { action: 'update', before: other }],
    ['our alias to a former target', { records: [other], owned: [own('return_path', other)] }, { action: 'update' }],
    [
      'other records at the name, even accepted',
      { records: [record('MX', name, '10 mx.example.org'), txt(name, 'v=spf1 -all')], accepted: ['return_path'] },
      {
        action: 'conflict',
        code: 'foreign_value',
        reason: { code: 'dns_plan.return_path_in_use', params: { name, types: ['MX', 'TXT'] } },
      },
    ],
    ['no zone', { zone: undefined }, { action: 'skip' }],
    ['a disabled alias', { records: [alias(to, { disabled: true })] }, { action: 'conflict', code: 'disabled' }],
  ])('%s', (_, situation, expected) => expect(planned(situation)).toMatchObject(expected))

  test('all records of its name are read', () => {
    const { rows } = input({ host: { bounceDomain: to } })
    expect(questionsOf(rows)).toContainEqual({ name, types: ['CNAME'] })
  })
})

test('a record of ours that nothing asks for any more is deleted; a changed one stays', () => {
  const gone = txt('s0._domainkey.example.com', 'v=DKIM1; k=rsa; p=T0xE')
  const changed = txt('_postwright-challenge.example.com', 'token=edited')
  // Releases up to 0.1.0 wrote it on request.
  const returnPath = record('CNAME', 'bounce.example.com', 'bounces.example.net')
  const items = plan({
    records: [gone, returnPath, changed],
    owned: [own('dkim:s0', gone), own('return_path', returnPath), own('ownership', changed, { value: 'token=old' })],
  })
  expect(items.filter(({ action }) => action === 'delete').map(({ before }) => before)).toEqual([gone, returnPath])
})

describe('removal', () => {
  const remove = (records: StoredRecord[], owned: OwnedRecord[]) =>
    planRemoval({ owned, zoneOf: () => zone, current: name => records.filter(stored => stored.name === name) })
  const key = txt('s1._domainkey.example.com', KEY)
  const returnPath = record('CNAME', 'bounce.example.com', 'bounces.example.net')
  const merged = txt('example.com', 'v=spf1  mx ip4:192.0.2.10 -all')
  const mergedEntry = own('spf', merged, { before: 'v=spf1  mx -all' })

  test.each([
    ['a key', 'dkim:s1', key],
    ['a return path of an earlier release', 'return_path', returnPath],
  ])('deletes what we created: %s', (_, row, stored) => {
    expect(remove([stored], [own(row, stored)])).toMatchObject([{ action: 'delete', before: stored }])
  })
  test('puts a merged record back byte for byte', () => {
    expect(remove([merged], [mergedEntry])).toMatchObject([{ action: 'update', value: 'v=spf1  mx -all' }])
  })
  test('only takes our terms from a record that was edited since', () => {
    const edited = txt('example.com', 'v=spf1 mx ip4:192.0.2.10 include:new.example -all', { id: merged.id })
    expect(remove([edited], [mergedEntry])).toMatchObject([{ value: 'v=spf1 mx include:new.example -all' }])
  })
  test.each([
    ['a record with another id', [{ ...key, id: 'other' }], [own('dkim:s1', key)]],
    ['a record that was changed', [txt(key.name, 'p=REVG')], [own('dkim:s1', key)]],
    ['a return path of the owner', [returnPath], []],
    [
      'the address of the sending host',
      [record('A', 'mail.example.com', '192.0.2.10')],
      [own('address:192.0.2.10', record('A', 'mail.example.com', '192.0.2.10'))],
    ],
    ['what is gone', [], [own('dkim:s1', key)]],
  ])('leaves %s', (_, records, owned) => expect(remove(records, owned)).toEqual([]))
})

interface ZoneState {
  records: StoredRecord[]
  owned: OwnedRecord[]
}

/** One step as a perfect provider would take it, with the ledger kept. */
function step({ records, owned }: ZoneState, item: PlanItem): ZoneState {
  const { before } = item
  if (item.action === 'create') {
    const made = record(item.type, item.name, item.value, { id: `new ${item.row}` })
    return { records: [...records, made], owned: [...owned, own(item.row, made)] }
  }
  const entry = owned.find(({ record_id }) => record_id === before?.id)
  const others = owned.filter(other => other !== entry)
  if (item.action === 'delete') return { records: records.filter(({ id }) => id !== before?.id), owned: others }
  if (item.action !== 'update' || !before) return { records, owned }
  const foreign = entry ? entry.before : before.value
  return {
    records: records.map(stored => (stored.id === before.id ? { ...stored, value: item.value } : stored)),
    owned: [
      ...others,
      own(item.row, { ...before, value: item.value }, foreign === undefined ? {} : { before: foreign }),
    ],
  }
}
const perform = (records: StoredRecord[], owned: OwnedRecord[], items: PlanItem[]) =>
  items.reduce(step, { records, owned })

const anyRecord = fc.oneof(
  fc.constantFrom(
    txt('example.com', 'v=spf1 mx -all'),
    txt('example.com', 'v=spf1 include:a.example redirect=b.example'),
    txt('example.com', 'V=SPF1  ip4:192.0.2.10 ?all '),
    txt('example.com', 'v=spf1 ipv4:broken'),
    txt('_dmarc.example.com', 'v=DMARC1; p=reject; sp=none'),
    txt('_dmarc.example.com', 'v=DMARC1; p=quarantine; adkim=s; pct=1'),
    txt('s1._domainkey.example.com', 'v=DKIM1; p=REVG'),
    txt('s1._domainkey.example.com', KEY, { locked: true }),
    txt('_postwright-challenge.example.com', 'token=rival'),
    record('CNAME', '_dmarc.example.com', 'dmarc.vendor.example'),
    record('A', 'mail.example.com', '198.51.100.7'),
    record('A', 'mail.example.com', '192.0.2.10', { proxied: true }),
    record('MX', 'example.com', '10 mx.example.com'),
    txt('example.com', 'google-site-verification=abc'),
  ),
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })
    .filter(text => !/^v=/i.test(text))
    .map(text => txt('example.com', text)),
)
const anyZone = fc.uniqueArray(anyRecord, { maxLength: 10, selector: stored => stored.id })

describe('laws, for any zone', () => {
  const strength = (records: StoredRecord[]) =>
    records.filter(({ name }) => name === '_dmarc.example.com').flatMap(({ value }) => parseDmarc(value) ?? [])
  const spfCount = (records: StoredRecord[]) =>
    records.filter(({ name, value }) => name === 'example.com' && isSpf(value)).length

  test('applying twice is applying once, foreign records survive, one SPF at most, DMARC is never weaker', () =>
    fc.assert(
      fc.property(anyZone, zoneRecords => {
        const first = perform(zoneRecords, [], plan({ records: zoneRecords }))
        const second = plan({ records: first.records, owned: first.owned })
        expect(hasChanges(second)).toBe(false)
        for (const stored of zoneRecords) {
          const after = first.records.find(({ id }) => id === stored.id)
          if (isSpf(stored.value) && stored.name === 'example.com') continue
          expect(after).toEqual(stored)
        }
        expect(spfCount(first.records)).toBeLessThanOrEqual(Math.max(1, spfCount(zoneRecords)))
        const [before] = strength(zoneRecords)
        const [after] = strength(first.records)
        if (before && after) expect(weakenings(before, after)).toEqual([])
      }),
      { numRuns: 3000 },
    ))

  test('removal after apply gives back the zone as it was', () =>
    fc.assert(
      fc.property(anyZone, zoneRecords => {
        const applied = perform(zoneRecords, [], plan({ records: zoneRecords }))
        const removal = planRemoval({
          owned: applied.owned,
          zoneOf: () => zone,
          current: name => applied.records.filter(stored => stored.name === name),
        })
        const { records } = perform(applied.records, applied.owned, removal)
        expect(records.filter(({ id }) => id !== 'new address:192.0.2.10')).toEqual(zoneRecords)
      }),
      { numRuns: 2000 },
    ))
})

test('a record that its owner took over is neither changed nor deleted, and outdates nothing', () => {
  const ours = txt('_dmarc.example.com', 'v=DMARC1; p=reject')
  const taken = input({
    domain: { ...domain, dns: { by_hand: ['dmarc'] } },
    records: [ours],
    owned: [own('dmarc', ours)],
  })
  expect(planDns(taken).filter(({ row }) => row === 'dmarc')).toEqual([])
  expect(outdatedRows(taken.rows, taken.owned)).toEqual(new Set())
})

test('each name is asked for once, with the types that may be written there', () => {
  const { rows } = input({})
  const [first] = rows
  if (!first) throw new Error('no rows')
  expect(questionsOf([...rows, { ...first, id: 'other', type: 'A' }])).toEqual([
    { name: '_postwright-challenge.example.com', types: ['TXT', 'A'] },
    { name: 's1._domainkey.example.com', types: ['TXT'] },
    { name: 'example.com', types: ['TXT'] },
    { name: '_dmarc.example.com', types: ['TXT'] },
    { name: 'mail.example.com', types: ['A'] },
  ])
})

test.each([
  ['a value that is still asked for', own('dmarc', txt('_dmarc.example.com', 'v=DMARC1; p=none')), false],
  ['a policy that changed', own('dmarc', txt('_dmarc.example.com', 'v=DMARC1; p=reject')), true],
  ['a key that is gone', own('dkim:s0', txt('s0._domainkey.example.com', KEY)), true],
  ['an SPF record of others', own('spf', txt('example.com', 'v=spf1 mx -all'), { before: 'v=spf1 -all' }), false],
])('%s is outdated or not', (_, entry, outdated) =>
  expect(outdatedRows(input({}).rows, [entry])).toEqual(new Set(outdated ? [entry.row] : [])),
)

describe('an entry of the ledger without its record', () => {
  const gone = own('dkim:s0', txt('s0._domainkey.example.com', KEY))
  const policy = own('dmarc', txt('_dmarc.example.com', 'v=DMARC1; p=reject'))
  const foreign = txt('s0._domainkey.example.com', 'of somebody else')
  test.each<[string, OwnedRecord, StoredRecord[], boolean]>([
    ['an old key that somebody removed', gone, [], true],
    ['an old key that somebody replaced', gone, [foreign], true],
    ['an old key that is still in DNS', gone, [txt(gone.name, KEY)], false],
    ['an old policy that somebody removed', policy, [], true],
    ['an old policy that somebody changed', policy, [txt(policy.name, 'v=DMARC1; p=quarantine')], false],
    ['what is still asked for', own('dkim:s1', txt('s1._domainkey.example.com', KEY)), [], false],
    ['what was merged into', { ...policy, before: 'v=DMARC1; p=none' }, [], false],
    ['what lies in no zone of the account', { ...gone, name: 's0._domainkey.example.org' }, [], false],
  ])('%s is forgotten or not', (_, entry, records, forgotten) =>
    expect(vanished(input({ records, owned: [entry] }))).toEqual(forgotten ? [entry] : []),
  )
})
