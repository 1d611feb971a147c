/** Sentences in answers about DNS, from documents of this release and of an earlier one, which stored English texts. */
import { describe, expect, test } from 'vitest'
import { type StoredSentence, sentence } from '../../../platform/sentences/sentence.ts'
import { showState } from '../../http/shared/resource-state.ts'
import type { DnsAccountDoc } from '../dns-accounts/store/dns-accounts.ts'
import type { DnsCheckDoc, DomainDoc } from '../store/domain-model.ts'
import {
  showAccount,
  showCheck,
  showPlan,
  showPublished,
  showRecords,
  showSettings,
  showSummary,
  showZoneFile,
} from './dns-views.ts'

const at = new Date('2026-11-21T10:00:00Z')
const host = { hostname: 'mail.example.net', addresses: ['192.0.2.10'], spfMechanisms: [] }
const missing = sentence('dns.spf_missing', { name: 'example.com' })
const english = 'example.com has no SPF record.'

const recordCheck = (text: StoredSentence) => ({
  ...{ row: 'spf', status: 'failed' as const, observed: [] },
  ...{ errors: [text], warnings: [text], instructions: [] },
})
const domain = (text: StoredSentence): DomainDoc => ({
  ...{ _id: 'dom_1', user_id: 'usr_1', name: 'example.com', status: 'pending', verification_token: 't', dkim: [] },
  ...{ created_at: at, updated_at: at },
  check: { at, attempts: 1, failures: 0, records: [recordCheck(text)], errors: [text] },
})
const check = (text: StoredSentence): DnsCheckDoc => ({
  ...{ _id: 'chk_1', user_id: 'usr_1', domain_id: 'dom_1', at, by: 'request', outcome: 'pending' },
  ...{ records: [recordCheck(text)], errors: [text], ms: 1, queries: 1, exp: at },
})
const account = (message: StoredSentence): DnsAccountDoc => ({
  ...{ _id: 'dns_1', user_id: 'usr_1', provider: 'rfc2136', name: 'Knot', sealed: '', by_hand: true },
  ...{ tested: { at, ok: false, zones: [], message }, created_at: at, updated_at: at },
})

describe.each<[string, StoredSentence, object]>([
  ['of this release', missing, { code: 'dns.spf_missing', params: { name: 'example.com' } }],
  ['of an earlier release', english, { code: 'text.verbatim', params: { text: english } }],
])('a document %s', (_, stored, coded) => {
  const found = { errors: [english], errors_codes: [coded], warnings: [english], warnings_codes: [coded] }

  test('gives the records of a domain text and code', () => {
    const spf = showRecords(domain(stored), host).find(({ id }) => id === 'spf')
    expect(spf).toMatchObject({ ...found, instructions: [], instructions_codes: [], note: null, note_code: null })
  })

  test('gives the last check text and code', () => {
    expect(showSummary(domain(stored))).toMatchObject({ errors: [english], errors_codes: [coded] })
  })

  test('gives a check of the history text and code', () => {
    expect(showCheck(check(stored))).toMatchObject({
      ...{ errors: [english], errors_codes: [coded] },
      records: [{ id: 'spf', status: 'failed', observed: [], ...found }],
    })
  })

  test('gives the test of a DNS account text and code', () => {
    const { code, params } = coded as { code: string; params: object }
    const { tested } = showAccount(account(stored))
    expect(tested).toMatchObject({ message: english, message_code: code, message_params: params })
  })

  test('gives the state of a resource text and code', () => {
    const { code, params } = coded as { code: string; params: object }
    const text = {
      reason: 'TokenMissing',
      message: english,
      ...(typeof stored === 'string' ? {} : { sentence: stored }),
    }
    const shown = { reason: 'TokenMissing', message: english, message_code: code, message_params: params }
    const conditions = [{ type: 'Verified', status: 'False' as const, ...text }]
    expect(showState({ ready: false, ...text, conditions, observed_at: at })).toEqual({
      ...{ ready: false, ...shown, observed_at: at.toISOString() },
      conditions: [{ type: 'Verified', status: 'False', ...shown }],
    })
  })
})

test('notes, reasons and messages have their code beside the text', () => {
  const ptr = showRecords(domain(missing), host).find(({ purpose }) => purpose === 'ptr')
  expect(ptr).toMatchObject({ note_code: 'dns.note_ptr', note_params: { ip: '192.0.2.10' } })
  const item = {
    ...{ row: 'spf', action: 'create' as const, name: 'example.com', type: 'TXT' as const, value: 'v', ttl: 600 },
    ...{ reason: sentence('dns_plan.missing'), warnings: [] },
  }
  const reason = {
    reason: 'Record not found. It will be created.',
    ...{ reason_code: 'dns_plan.missing', reason_params: {}, code: null, warnings: [], warnings_codes: [] },
  }
  expect(showPlan({ id: 'x', items: [item], warnings: [missing] })).toMatchObject({
    ...{ items: [reason], warnings: [english] },
    warnings_codes: [{ code: 'dns.spf_missing', params: { name: 'example.com' } }],
  })
  const message = sentence('dns_plan.unsettled')
  const published = showPublished({
    items: [
      { ...item, status: 'not_done' },
      { ...item, status: 'failed', message },
    ],
    ...{ zones: [], warnings: [], stopped: { kind: 'unsettled', message } },
  })
  expect(published).toMatchObject({
    items: [
      { ...reason, message: null, message_code: null, message_params: null },
      { ...reason, message_code: 'dns_plan.unsettled', message_params: {} },
    ],
    stopped: { fault: 'unsettled', message_code: 'dns_plan.unsettled', message_params: {} },
  })
})

describe('a record that DNS has already', () => {
  const found = (row: string, ...observed: string[]) => ({
    ...{ row, status: 'failed' as const, observed, errors: [], warnings: [], instructions: [] },
  })
  const withCheck = (records: ReturnType<typeof found>[], change: Partial<DomainDoc> = {}): DomainDoc => ({
    ...domain(missing),
    name: 'mail.example.com',
    check: { at, attempts: 1, failures: 0, records, errors: [] },
    ...change,
  })
  const publishOf = (doc: DomainDoc, row: string) => showRecords(doc, host).find(({ id }) => id === row)
  const owned = (value: string, before?: string) => ({
    ...{ row: 'spf', account_id: 'dns_1', name: 'mail.example.com', type: 'TXT' as const, value, at },
    ...(before === undefined ? {} : { before }),
  })

  test.each<[string, string[], string, DomainDoc['dns_owned']?]>([
    ['nothing', [], 'v=spf1 ip4:192.0.2.10 ~all'],
    ['another TXT record', ['site=1'], 'v=spf1 ip4:192.0.2.10 ~all'],
    ['a foreign one', ['site=1', 'v=spf1 mx -all'], 'v=spf1 mx ip4:192.0.2.10 -all'],
    ['one that names us', ['v=spf1 ip4:192.0.2.10 mx ?all'], 'v=spf1 ip4:192.0.2.10 mx ?all'],
    ['two', ['v=spf1 mx -all', 'v=spf1 a ~all'], 'v=spf1 mx a ip4:192.0.2.10 -all'],
    ['one that receivers cannot read', ['v=spf1 ip4:here'], 'v=spf1 ip4:192.0.2.10 ~all'],
    [
      'ours of an earlier address',
      ['v=spf1 ip4:192.0.2.9 ~all'],
      'v=spf1 ip4:192.0.2.10 ~all',
      [owned('v=spf1 ip4:192.0.2.9 ~all')],
    ],
  ])('SPF: %s gives the value to publish', (_, observed, publish, dns_owned = []) => {
    const doc = withCheck([found('spf', ...observed)], { dns_owned })
    expect(publishOf(doc, 'spf')).toMatchObject({ value: 'v=spf1 ip4:192.0.2.10 ~all', publish })
    expect(showZoneFile(doc, host)).toContain(`mail.example.com. 600 IN TXT "${publish}"`)
  })

  test.each<[string, string[], DomainDoc['dns'], string]>([
    ['nothing', [], undefined, 'v=DMARC1; p=none'],
    ['a strict policy', ['v=DMARC1; p=reject'], undefined, 'v=DMARC1; p=reject'],
    [
      'a strict policy above a weak setting',
      ['v=DMARC1; p=reject'],
      { manage: false, dmarc: { policy: 'none', rua: [] } },
      'v=DMARC1; p=reject',
    ],
    [
      'a weak policy below a strict setting',
      ['v=DMARC1; p=none'],
      { manage: false, dmarc: { policy: 'reject', rua: [] } },
      'v=DMARC1; p=reject',
    ],
    ['two records', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], undefined, 'v=DMARC1; p=none'],
  ])('DMARC: %s gives the value to publish', (_, observed, dns, publish) => {
    const doc = withCheck([found('dmarc', ...observed)], dns ? { dns } : {})
    expect(publishOf(doc, 'dmarc')?.publish).toBe(publish)
  })

  test.each([
    [
      'a report address that changed',
      'v=DMARC1; p=none; rua=mailto:old@example.com',
      'v=DMARC1; p=none; rua=mailto:new@example.com',
    ],
    ['a policy that was stricter', 'v=DMARC1; p=reject', 'v=DMARC1; p=reject; rua=mailto:new@example.com'],
  ])('DMARC: our own record is replaced, but not weakened: %s', (_, value, publish) => {
    const dns_owned = [{ ...owned(value), row: 'dmarc' }]
    const dns = { manage: false, dmarc: { policy: 'none' as const, rua: ['new@example.com'] } }
    expect(publishOf(withCheck([found('dmarc', value)], { dns, dns_owned }), 'dmarc')?.publish).toBe(publish)
  })

  test.each<[string, string[] | undefined, string, string]>([
    ['before a check by the Public Suffix List', undefined, 'example.com', 'mail'],
    ['after it by what DNS has shown', ['mail.example.com'], 'mail.example.com', '@'],
  ])('its name is relative to its zone: %s', (_, zones, zone, zone_host) => {
    const doc = withCheck([])
    if (doc.check && zones) doc.check.zones = zones
    expect(publishOf(doc, 'spf')).toMatchObject({ host: '@', name: 'mail.example.com', zone, zone_host })
    expect(publishOf(doc, 'address:192.0.2.10')).toMatchObject({ zone: 'example.net', zone_host: 'mail' })
    expect(publishOf(doc, 'ptr:192.0.2.10')).toMatchObject({ zone_host: '10.2.0.192.in-addr.arpa' })
  })

  test('the settings show the policy of DNS until one is chosen', () => {
    const doc = withCheck([])
    if (doc.check) doc.check.dmarc = { policy: 'reject', at: 'example.com' }
    expect(showSettings(doc).dmarc).toEqual({ policy: 'reject', rua: [] })
    expect(showSummary(doc)?.dmarc_policy).toBe('reject')
    const chosen = { ...doc, dns: { manage: false, dmarc: { policy: 'quarantine' as const, rua: [] } } }
    expect(showSettings(chosen).dmarc.policy).toBe('quarantine')
    expect(showSummary(withCheck([]))?.dmarc_policy).toBeNull()
  })

  test('a step that keeps it shows it', () => {
    const kept = {
      ...{ row: 'dmarc', action: 'keep' as const, name: '_dmarc.example.com', type: 'TXT' as const, value: 'p=none' },
      ...{ ttl: 600, reason: missing, warnings: [] },
      before: {
        ...{ id: '1', name: '_dmarc.example.com', type: 'TXT' as const, ttl: 60 },
        value: 'v=DMARC1; p=reject',
      },
    }
    expect(showPlan({ id: 'x', items: [kept], warnings: [] }).items).toMatchObject([{ value: 'v=DMARC1; p=reject' }])
  })
})
