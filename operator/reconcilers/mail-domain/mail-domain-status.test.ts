import { expect, test } from 'vitest'
import type { GuidanceRow } from '../../../services/mail/dns/records/guidance.ts'
import type { CheckSummaryDoc, DomainDoc, RecordCheckDoc } from '../../../services/mail/domains/find-domains.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { statusFields } from './mail-domain-status.ts'
import { dkimCondition, lostRecords, verifiedCondition } from './verification-conditions.ts'

const now = new Date('2026-11-21T10:00:00Z')
const key = {
  selector: 's1',
  algorithm: 'rsa-sha256',
  public_key: 'p',
  sealed_private_key: 's',
  state: 'active',
  created_at: now,
} as const
const check = (row: string, status: RecordCheckDoc['status'], more: Partial<RecordCheckDoc> = {}): RecordCheckDoc => ({
  row,
  status,
  observed: [],
  errors: [],
  warnings: [],
  instructions: [],
  ...more,
})
const summary = (...records: RecordCheckDoc[]): CheckSummaryDoc => ({
  at: now,
  attempts: 1,
  failures: 0,
  records,
  errors: [],
})
const domain = (change: Partial<DomainDoc> = {}): DomainDoc => ({
  _id: 'dom_1',
  user_id: 'usr_1',
  name: 'example.com',
  status: 'pending',
  verification_token: 't',
  dkim: [key],
  created_at: now,
  updated_at: now,
  ...change,
})

test.each<[string, Partial<DomainDoc>, string, string]>([
  ['not looked at', {}, 'Unknown', 'Progressing'],
  ['verified by DNS', { status: 'verified', verified_by: 'dns' }, 'True', 'TokenFound'],
  ['suspended by its resource', { status: 'suspended', suspended_by: 'resource' }, 'False', 'Suspended'],
  ['suspended by an admin', { status: 'suspended' }, 'False', 'Suspended'],
  ['without its token', { check: summary(check('ownership', 'failed')) }, 'False', 'TokenMissing'],
  ['with a failing resolver', { check: summary(check('ownership', 'temporary_failure')) }, 'Unknown', 'LookupFailed'],
  ['never verified within 14 days', { status: 'failed' }, 'False', 'VerificationExpired'],
  [
    'lost after it was verified',
    { status: 'failed', verified_at: now, check: summary(check('ownership', 'failed')) },
    'False',
    'TokenMissing',
  ],
])('a domain that is %s', (_what, change, status, reason) => {
  expect(verifiedCondition(domain(change))).toMatchObject({ type: 'Verified', status, reason })
})

test('the message contains the remedy', () => {
  const failed = check('ownership', 'failed', { errors: ['No record.'], instructions: ['Add it.'] })
  expect(verifiedCondition(domain({ check: summary(failed) })).message).toBe('No record. Add it.')
})

test.each<[string, Partial<DomainDoc>, string, string]>([
  ['no key', { dkim: [] }, 'False', 'KeyMissing'],
  ['a key that was not looked up', {}, 'Unknown', 'Progressing'],
  ['a key that is not there', { check: summary(check('dkim:s1', 'failed')) }, 'False', 'KeyMissing'],
  [
    'a key that was seen before and that resolvers do not see yet',
    { verified_at: now, check: summary(check('dkim:s1', 'pending')) },
    'True',
    'KeyPublished',
  ],
  ['a key that is not published yet', { check: summary(check('dkim:s1', 'pending')) }, 'False', 'KeyMissing'],
  [
    'a key that was written again',
    { check: { ...summary(check('dkim:s1', 'failed')), repaired: { at: now, rows: ['dkim:s1'] } } },
    'True',
    'KeyPublished',
  ],
  ['a published key', { check: summary(check('dkim:s1', 'verified')) }, 'True', 'KeyPublished'],
  [
    'a key in rotation',
    { dkim: [key, { ...key, selector: 's2', state: 'pending' }], check: summary(check('dkim:s1', 'verified')) },
    'True',
    'Rotating',
  ],
])('DKIM with %s', (_what, change, status, reason) => {
  expect(dkimCondition(domain(change))).toMatchObject({ status, reason })
})

const PROOF = ['ownership', 'dkim:s1']
const WRITTEN = ['spf', 'dmarc', 'return_path', 'tracking']
const owned = (row: string, value = 'ours') =>
  ({ row, account_id: 'dns_1', name: `${row}.example.com`, type: 'TXT', value, at: now }) as const
const ownedRows = WRITTEN.map(row => owned(row))
/** Rows of the guidance; those that are named here are not the operator's to write. */
const rowsBut = (...byHand: string[]) =>
  [...PROOF, ...WRITTEN, 'dkim:s2'].map(id => ({ id, writable: !byHand.includes(id) }))

test.each<[string, Partial<DomainDoc>, string[], string[]?]>([
  ['a domain that is not verified yet', { status: 'pending' }, []],
  ['a verified domain', {}, [...PROOF, ...WRITTEN]],
  ['one whose records other than the proof are not ours', { dns_owned: [] }, PROOF],
  ['one that wrote its DMARC record only', { dns_owned: [owned('dmarc')] }, [...PROOF, 'dmarc']],
  ['one whose owner keeps DMARC and the proof', {}, [...PROOF, 'spf', 'return_path', 'tracking'], ['dmarc', ...PROOF]],
  [
    'one whose records were written again',
    { repaired: ['ownership', 'spf', 'return_path'] } as object,
    ['dkim:s1', 'dmarc', 'tracking'],
  ],
])(
  'records that are lost of %s',
  (_what, { repaired, ...change }: Partial<DomainDoc> & { repaired?: string[] }, lost, byHand = []) => {
    const failed = summary(
      check('ownership', 'failed'),
      check('dkim:s1', 'conflict'),
      check('spf', 'failed'),
      check('dmarc', 'failed', { observed: ['v=DMARC1; p=none'] }),
      check('return_path', 'failed'),
      check('tracking', 'not_started'),
      check('mta_sts', 'not_started'),
      check('ptr', 'failed'),
      check('dkim:s2', 'temporary_failure'),
    )
    const found = repaired ? { ...failed, repaired: { at: now, rows: repaired } } : failed
    const subject = domain({ status: 'verified', verified_at: now, check: found, dns_owned: ownedRows, ...change })
    expect(lostRecords(subject, rowsBut(...byHand)).map(({ row }) => row)).toEqual(lost)
  },
)

test.each([
  ['an SPF record', 'spf', 'v=spf1 mx ~all', 'as written', ['site=1', 'v=spf1  MX ~all'], 0],
  ['an SPF record', 'spf', 'v=spf1 mx ~all', 'another one', ['v=spf1 -all'], 1],
  ['a return path', 'return_path', 'bounces.example.net', 'as written', ['Bounces.example.net.'], 0],
  ['a return path', 'return_path', 'bounces.example.net', 'another one', ['bounces.example.org.'], 1],
])('%s (%s) with the value %s fails although it is %s', (_what, row, value, _how, observed, lost) => {
  const failed = summary(check(row, 'failed', { observed }))
  const subject = domain({ status: 'verified', verified_at: now, check: failed, dns_owned: [owned(row, value)] })
  expect(lostRecords(subject, rowsBut())).toHaveLength(lost)
})

test('a record that was written again is Synced, without the message of the check', () => {
  const failed = summary(check('spf', 'failed', { errors: ['It is missing.'] }))
  const row = { id: 'spf', purpose: 'spf', need: 'required', type: 'TXT', name: 'example.com', value: 'v=spf1 -all' }
  const state = (rows: string[]) =>
    statusFields(domain({ check: { ...failed, repaired: { at: now, rows } } }), 'u', [row as GuidanceRow]).records[0]
  expect(state([])).toMatchObject({ state: 'Missing', message: 'It is missing.' })
  expect(state(['spf'])).toEqual({
    ...{ purpose: 'spf', name: 'example.com', type: 'TXT' },
    state: 'Synced',
    expected: 'v=spf1 -all',
  })
})

test('the list of records is a map: of several addresses of one host only one is listed', () => {
  const row = (id: string, value: string) =>
    ({
      id,
      purpose: 'a',
      need: 'required',
      type: 'A',
      name: 'mail.example.com',
      host: 'mail',
      value,
      ttl: 600,
      writable: true,
    }) as const
  const checks = summary(check('a:1', 'failed', { observed: ['192.0.2.9'], errors: ['Another address.'] }))
  const { records } = statusFields(domain({ check: checks }), 'ann', [row('a:1', '192.0.2.1'), row('a:2', '192.0.2.2')])
  expect(records).toEqual([
    {
      purpose: 'a',
      name: 'mail.example.com',
      type: 'A',
      state: 'Mismatch',
      expected: '192.0.2.1',
      message: 'Another address.',
    },
  ])
})

test("a status never exceeds the API server's limits on records, lengths and duplicate keys", () => {
  const row = (name: string, more: Partial<GuidanceRow> = {}): GuidanceRow => ({
    id: name,
    purpose: 'ptr',
    need: 'optional',
    type: 'PTR',
    name,
    host: name,
    value: 'v'.repeat(5_000),
    ttl: 600,
    writable: false,
    note: verbatim('n'.repeat(5_000)),
    ...more,
  })
  const long = 'a'.repeat(250)
  const rows = [
    row(`${long}.example`),
    row(`${long}.exaltation`),
    ...Array.from({ length: 80 }, (_, n) => row(`ip-${n}`)),
  ]
  const status = statusFields(domain(), 'ann', rows)
  expect(MailDomain.status.safeParse(status).success).toBe(true)
  expect(status.records).toHaveLength(64)
  expect(new Set(status.records.map(({ purpose, name, type }) => `${purpose} ${name} ${type}`)).size).toBe(64)
})
