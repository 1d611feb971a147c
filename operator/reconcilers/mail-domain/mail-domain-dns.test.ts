/** Records of a MailDomain over a real database, a provider in memory and a name server without records. */
import { expect, onTestFinished, test } from 'vitest'
import { createDnsDeps, type DnsDeps, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import { type DnsProvider, DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { createResolver } from '../../../services/mail/dns/resolver.ts'
import { applyDomain } from '../../../services/mail/domains/declare-domain.ts'
import { insertDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { currentDomain } from '../../../services/mail/domains/find-domains.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { startDnsStub } from '../../../test/support/dns/empty-name-server.ts'
import { createMemoryProvider, type MemoryZone } from '../../../test/support/dns/memory-provider.ts'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { toConditions } from '../shared/conditions.ts'
import { managedBy } from '../shared/operator-context.ts'
import { writeDns } from './mail-domain-dns.ts'
import { dnsAccountFor } from './mail-domain-dns-account.ts'

const TOKEN = { provider: 'cloudflare', credentials: { api_token: 'x'.repeat(40) } } as const
const resource = { kind: 'DNSProvider', namespace: 'shop', name: 'dns', uid: 'uid-dns' }
const managed = { managementPolicy: 'Manage', providerRef: { name: 'dns' } }

/** A domain with a DNS account, and runs of the reconciler's DNS part that see the status of the run before. */
async function managedDomain(dnsSpec: object = managed, records: MemoryZone['records'] = []) {
  const stub = await startDnsStub()
  onTestFinished(() => stub.stop())
  const fixture = await operatorContext({ ...stub.env, SENDING_IP: '192.0.2.10' })
  const { context, clock, add } = fixture
  const zone: MemoryZone = { name: 'shop.example', records }
  const state = { failure: undefined as DnsProviderError | undefined, reads: 0 }
  const memory = createMemoryProvider([zone])
  const provider: DnsProvider = {
    ...memory,
    async read(questions) {
      state.reads++
      if (state.failure) throw state.failure
      return memory.read(questions)
    },
  }
  const silence = createResolver({ servers: ['127.0.0.1:1'], port: 1, allowPrivate: true, timeoutMs: 50 })
  const dns: DnsDeps = { ...createDnsDeps(context), provider: () => provider }
  const object = add('MailDomain', 'shop', { domainName: 'shop.example', dns: dnsSpec })
  const first = MailDomain.parse(object)
  const { db } = context.mongo
  await insertDnsAccount(db, {
    ...{ _id: 'dns_1', user_id: 'usr_1', provider: 'cloudflare', name: 'shop/dns', by_hand: false },
    ...{ sealed: sealCredentials(context.secrets, 'dns_1', TOKEN), tested: { at: clock.now(), ok: true, zones: [] } },
    ...{ managed_by: resource, created_at: clock.now(), updated_at: clock.now() },
  })
  const deps = { db, clock, secrets: context.secrets, resource: managedBy(first) }
  const wanted = { name: 'shop.example', suspended: false, dns: { manage: true }, dnsAccount: { id: 'dns_1' } }
  const { domain } = await applyDomain(deps, 'usr_1', wanted, true)
  let status: MailDomain['status']
  return {
    ...fixture,
    ...{ dns, zone, state, domain },
    current: async () => (await currentDomain(db, domain._id)) ?? expect.fail('the domain is gone'),
    /** `deaf`: public DNS does not answer. */
    async run({ lookupFails = false, generation = 1 } = {}) {
      const parsed = { ...first, metadata: { ...first.metadata, generation }, status }
      const outcome = await writeDns(context, lookupFails ? { ...dns, resolver: silence } : dns, parsed, domain)
      const conditions = toConditions(outcome.conditions, status?.conditions ?? [], generation, clock.now())
      status = { ...outcome.status, conditions }
      const [condition] = outcome.conditions
      return {
        summary: condition ? `${condition.status} ${condition.reason}` : 'none',
        status: outcome.status as { failedAttempts?: number; nextAttemptTime?: string; dnsRevision?: string },
        events: outcome.events.map(({ reason }) => reason),
        requeueAfterMs: outcome.requeueAfterMs,
      }
    },
  }
}

test.each([
  ['None', 'none'],
  ['Observe', 'Unknown Progressing'],
])('managementPolicy %s writes nothing and calls no provider', async (managementPolicy, summary) => {
  const { run, zone, state } = await managedDomain({ managementPolicy })
  expect(await run()).toMatchObject({ summary, events: [], status: {} })
  expect([zone.records, state.reads]).toEqual([[], 0])
})

test('records are written once, and again only after the spec changed', async () => {
  const { run, zone, state, current, clock } = await managedDomain()
  expect(await run()).toMatchObject({ summary: 'True InSync', events: ['DNSWritten'], requeueAfterMs: undefined })
  expect(zone.records.map(({ name }) => name)).toContain('_postwright-challenge.shop.example')
  expect((await current()).next_check_at).toEqual(clock.now())
  const reads = state.reads
  expect(await run()).toMatchObject({ summary: 'True InSync', events: [] })
  expect(state.reads).toBe(reads)
  expect(await run({ generation: 2 })).toMatchObject({ summary: 'True InSync', events: [] })
  expect(state.reads).toBeGreaterThan(reads)
})

test('failures are retried after pauses that double, and not before', async () => {
  const { run, state, clock } = await managedDomain()
  state.failure = new DnsProviderError('memory', 'unavailable', verbatim('It does not answer.'))
  expect(await run()).toMatchObject({
    ...{ summary: 'Unknown ProviderError', requeueAfterMs: 5_000 },
    status: { failedAttempts: 1, nextAttemptTime: '2026-11-21T10:00:05Z' },
  })
  clock.advance(2_000)
  expect(await run()).toMatchObject({ requeueAfterMs: 3_000, status: { failedAttempts: 1 } })
  expect(state.reads).toBe(1)
  clock.advance(3_000)
  expect(await run()).toMatchObject({ requeueAfterMs: 10_000, status: { failedAttempts: 2 } })
  clock.advance(10_000)
  state.failure = undefined
  expect(await run()).toMatchObject({ summary: 'True InSync', events: ['DNSWritten'] })
})

test('while public DNS does not answer, the policy above decides nothing and the provider is left alone', async () => {
  const { run, state, zone, clock } = await managedDomain()
  expect(await run({ lookupFails: true })).toMatchObject({ summary: 'Unknown LookupFailed', events: ['DNSWritten'] })
  expect(zone.records.some(({ name }) => name.startsWith('_dmarc'))).toBe(false)
  const { reads } = state
  clock.advance(5_000)
  expect(await run({ lookupFails: true })).toMatchObject({
    summary: 'Unknown LookupFailed',
    status: { failedAttempts: 2 },
  })
  expect(state.reads).toBe(reads)
  clock.advance(10_000)
  expect(await run()).toMatchObject({ summary: 'True InSync', events: ['DNSWritten'] })
  expect(zone.records.some(({ name }) => name.startsWith('_dmarc'))).toBe(true)
})

test.each([
  ['Fail', 'False Conflict', 'v=spf1 include:broken', 900_000],
  ['Overwrite', 'False Conflict', 'v=spf1 include:broken', 900_000],
] as const)(
  'a broken SPF record stays under conflictPolicy %s',
  async (conflictPolicy, summary, value, requeueAfterMs) => {
    const spf = { id: 'theirs', name: 'shop.example', type: 'TXT', value, ttl: 300 }
    const { run, zone } = await managedDomain({ ...managed, conflictPolicy }, [spf])
    expect(await run()).toMatchObject({ summary, requeueAfterMs, events: ['DNSWritten'] })
    expect(zone.records.find(({ id }) => id === 'theirs')).toEqual(spf)
  },
)

test.each<[string, object, object | undefined, object]>([
  ['without a provider', { managementPolicy: 'Observe' }, undefined, { use: 'none' }],
  ['with a provider that does not exist', managed, undefined, { condition: { status: 'False' } }],
  ['with a provider', managed, {}, { use: { id: 'dns_1' } }],
])('the DNS account of a MailDomain %s', async (_what, dnsSpec, provider, expected) => {
  const { context, dns, add } = await managedDomain()
  if (provider) add('DNSProvider', 'dns', { type: 'cloudflare', secretRef: { name: 's' }, ...provider })
  const subject = MailDomain.parse(add('MailDomain', 'other', { domainName: 'other.example', dns: dnsSpec }))
  expect(await dnsAccountFor(context, dns, subject, { _id: 'usr_1' })).toMatchObject(expected)
})

test('an untried provider and one that is not ready are distinguished', async () => {
  const { context, dns, add } = await managedDomain()
  const subject = MailDomain.parse(
    add('MailDomain', 'other', {
      domainName: 'other.example',
      dns: { managementPolicy: 'Manage', providerRef: { name: 'new' } },
    }),
  )
  const spec = { type: 'cloudflare', secretRef: { name: 's' } }
  add('DNSProvider', 'new', spec)
  const owner = { _id: 'usr_1' }
  expect(await dnsAccountFor(context, dns, subject, owner)).toMatchObject({ condition: { status: 'Unknown' } })
  const ready = (status: 'True' | 'False') => ({
    conditions: [{ type: 'Ready', status, reason: 'R', message: 'M.', lastTransitionTime: '2026-11-21T10:00:00Z' }],
  })
  add('DNSProvider', 'new', spec, { resourceVersion: '2' }, ready('False'))
  const refused = await dnsAccountFor(context, dns, subject, owner)
  expect(refused).toMatchObject({ condition: { status: 'False', message: expect.stringContaining('M.') } })
  expect(refused).not.toHaveProperty('requeueAfterMs')
  add('DNSProvider', 'new', spec, { resourceVersion: '3' }, ready('True'))
  expect(await dnsAccountFor(context, dns, subject, owner)).toMatchObject({ requeueAfterMs: 30_000 })
})
