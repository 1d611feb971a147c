/** Domain verification against a real authoritative server, through a resolver that returns wrong, failing or outdated answers. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { providerOf } from '../../../services/mail/dns/dns-context.ts'
import type { SendingHost } from '../../../services/mail/dns/records/guidance.ts'
import { checkDueDomains } from '../../../services/mail/domains/checks/dns-check-job.ts'
import { verifyDomain } from '../../../services/mail/domains/checks/verify-domain.ts'
import { findDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { showRecords, showSettings } from '../../../services/mail/domains/http/dns-views.ts'
import { planDomainDns, publishDns } from '../../../services/mail/domains/publishing/publish-records.ts'
import { unpublishDns } from '../../../services/mail/domains/publishing/unpublish-records.ts'
import { removeDomain } from '../../../services/mail/domains/register-domain.ts'
import { activateKey, requestKey, revokeKey } from '../../../services/mail/domains/rotate-dkim.ts'
import { listChecks, revokeVerification } from '../../../services/mail/domains/store/dns-checks.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { updateDomain, updateSettings } from '../../../services/mail/domains/store/domains.ts'
import { inEnglish } from '../../../services/platform/sentences/sentence.ts'
import { type DnsTestEnvironment, HOST, startDnsTestEnvironment } from '../../support/dns/dns-test-environment.ts'

const HOUR = 3_600_000
const NAMES = [
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
]
let environment: DnsTestEnvironment
beforeAll(async () => {
  environment = await startDnsTestEnvironment([
    ...NAMES.map(name => ({
      name: `${name}.test`,
      lines: ['@ IN TXT "v=spf1  mx -all"', '@ IN TXT "site=1"', '@ IN MX 10 mx'],
    })),
    { name: 'alias.test', lines: ['_dmarc IN CNAME dmarc.vendor.test.', '*._domainkey IN TXT "v=DKIM1; p=REVG"'] },
    { name: 'blanks.test', lines: ['_postwright-challenge IN TXT " held "'] },
    { name: 'bare.test' },
    {
      name: 'zoned.test',
      lines: [
        'mail IN TXT "v=spf1 mx -all"',
        '_dmarc.mail IN TXT "v=DMARC1; p=reject; adkim=s"',
        '_dmarc IN TXT "v=DMARC1; p=reject; sp=quarantine"',
        '_smtp._tls.mail IN CNAME dmarc.vendor.test.',
      ],
    },
    { name: 'vendor.test', lines: ['dmarc IN TXT "v=DMARC1; p=quarantine"'] },
  ])
})
afterEach(() => environment.recursor.misbehave.clear())
afterAll(() => environment?.stop())

const statusOf = (domain: DomainDoc | { records: { row: string; status: string }[] }, row: string) =>
  ('records' in domain ? domain.records : (domain.check?.records ?? [])).find(record => record.row === row)?.status
/** A domain of a new user with a DNS account, published. */
async function published(name: string, change: Partial<DomainDoc> = {}) {
  const account = await environment.account(`usr_${name}`)
  const domain = await environment.claim(`usr_${name}`, name, { dns_account_id: account._id, ...change })
  const result = await publishDns(environment.deps, domain)
  expect(result.stopped).toBeUndefined()
  return environment.domain(domain._id)
}

describe('a new domain', () => {
  test('is verified after its missing records were written', async () => {
    const account = await environment.account('usr_1')
    const domain = await environment.claim('usr_1', 'one.test', { dns_account_id: account._id })
    const before = environment.server.transfer('one.test')
    const first = await verifyDomain(environment.deps, domain._id)
    expect(first).toMatchObject({ outcome: 'pending', by: 'request' })
    expect(statusOf(first, 'ownership')).toBe('pending')
    expect(statusOf(first, 'spf')).toBe('failed')
    const { items } = await publishDns(environment.deps, await environment.domain(domain._id))
    expect(items.map(({ row, action, status }) => `${row.split(':')[0]} ${action} ${status}`)).toEqual([
      'ownership create done',
      'dkim create done',
      'spf update done',
      'dmarc create done',
      'address keep kept',
    ])
    // The recursor remembers what did not exist at the first check, for the negative TTL of the zone.
    for (const row of ['_postwright-challenge', `${domain.dkim[0]?.selector}._domainkey`]) {
      expect(environment.recursor.asked).toContain(`${row}.one.test`)
      environment.recursor.misbehave.set(`${row}.one.test`, 'nxdomain')
    }
    const check = await verifyDomain(environment.deps, domain._id)
    expect(check).toMatchObject({ outcome: 'verified', event: 'domain.verified', errors: [] })
    expect(check.records.filter(({ status }) => status !== 'verified').map(({ row }) => row)).toEqual([
      'tls_rpt',
      'mta_sts',
    ])
    expect(await environment.domain(domain._id)).toMatchObject({ status: 'verified', verified_by: 'dns' })
    expect(environment.server.dig('one.test', 'TXT')).toContain('"v=spf1  mx ip4:192.0.2.10 -all"')

    await unpublishDns(environment.deps, await environment.domain(domain._id))
    expect(environment.server.transfer('one.test')).toEqual(before)
  })

  test('has a history of checks, newest first', async () => {
    const domain = await published('two.test')
    await verifyDomain(environment.deps, domain._id)
    environment.clock.advance(HOUR)
    await verifyDomain(environment.deps, domain._id)
    const checks = await listChecks(environment.deps.db, domain._id, { limit: 10 })
    expect(checks.map(({ outcome, event }) => [outcome, event])).toEqual([
      ['verified', undefined],
      ['verified', 'domain.verified'],
    ])
    expect(checks[0]?.queries).toBeGreaterThan(5)
    // The first one changed every record, the second one none.
    expect(checks[0]?.changes).toEqual([])
    expect(checks[1]?.changes).toContainEqual({ row: 'ownership', to: 'verified' })
    expect(checks[1]?.changes?.length).toBe(checks[1]?.records.length)
  })
})

describe('a sub-domain', () => {
  const HOSTS: SendingHost = { hostname: 'mail.sender.test', addresses: ['192.0.2.10'], spfMechanisms: [] }
  const shown = (domain: DomainDoc) =>
    new Map(showRecords(domain, HOSTS).map(({ id, zone_host, publish }) => [id.split(':')[0], [zone_host, publish]]))

  test('is shown with the names of its zone and with what DNS has already', async () => {
    const domain = await environment.claim('usr_zoned', 'mail.zoned.test')
    await verifyDomain(environment.deps, domain._id)
    const checked = await environment.domain(domain._id)
    expect(checked.check).toMatchObject({ dmarc: { policy: 'reject', at: 'mail.zoned.test' } })
    expect(checked.check?.zones).toContain('zoned.test')
    const records = shown(checked)
    expect(records.get('spf')).toEqual(['mail', 'v=spf1 mx ip4:192.0.2.10 -all'])
    expect(records.get('dmarc')).toEqual(['_dmarc.mail', 'v=DMARC1; p=reject; adkim=s'])
    expect(records.get('tls_rpt')?.[0]).toBe('_smtp._tls.mail')
    expect(showSettings(checked).dmarc.policy).toBe('reject')
    // While DNS is silent, the last answers hold.
    environment.recursor.misbehave.set('*', 'silence')
    await verifyDomain(environment.deps, domain._id)
    const silent = await environment.domain(domain._id)
    expect(checked.check?.name_servers?.length).toBeGreaterThan(0)
    expect(silent.check).toMatchObject({
      zones: checked.check?.zones,
      dmarc: checked.check?.dmarc,
      name_servers: checked.check?.name_servers,
    })
  })

  test('without a DMARC record has the policy above it, and its own record is proposed no weaker', async () => {
    const account = await environment.account('usr_below')
    const domain = await environment.claim('usr_below', 'news.zoned.test', { dns_account_id: account._id })
    await verifyDomain(environment.deps, domain._id)
    const checked = await environment.domain(domain._id)
    expect(checked.check?.dmarc).toEqual({ policy: 'quarantine', at: 'zoned.test' })
    expect(showSettings(checked).dmarc.policy).toBe('quarantine')
    const { items } = await planDomainDns(environment.deps, checked, {})
    expect(items.find(({ row }) => row === 'dmarc')).toMatchObject({
      ...{ action: 'skip', value: expect.stringMatching(/^v=DMARC1; p=quarantine/) },
    })
  })
})

describe('a misbehaving resolver', () => {
  test.each(['servfail', 'silence'] as const)(
    '(%s) leaves a verified domain verified and reports a temporary failure',
    async kind => {
      const name = kind === 'silence' ? 'three.test' : 'four.test'
      const domain = await published(name)
      await verifyDomain(environment.deps, domain._id)
      environment.recursor.misbehave.set('*', kind)
      for (let i = 0; i < 5; i++) {
        environment.clock.advance(7 * HOUR)
        expect((await verifyDomain(environment.deps, domain._id)).outcome).toBe('temporary')
      }
      const after = await environment.domain(domain._id)
      expect(after.status).toBe('verified')
      expect(after.check).toMatchObject({ failures: 0 })
      const ownership = after.check?.records.find(({ row }) => row === 'ownership')
      expect(ownership).toMatchObject({
        status: 'temporary_failure',
        warnings: [{ code: 'dns.source' }, expect.anything()],
      })
    },
  )

  test('that forges the ownership record neither verifies a domain nor revokes one', async () => {
    const claim = await environment.claim('usr_liar', 'five.test')
    environment.recursor.misbehave.set('_postwright-challenge.five.test', { txt: [claim.verification_token] })
    expect((await verifyDomain(environment.deps, claim._id)).outcome).toBe('pending')
    const domain = await published('six.test')
    await verifyDomain(environment.deps, domain._id)
    environment.recursor.misbehave.set('_postwright-challenge.six.test', 'nxdomain')
    const check = await verifyDomain(environment.deps, domain._id)
    expect(statusOf(check, 'ownership')).toBe('verified')
    environment.recursor.misbehave.set('_postwright-challenge.six.test', { txt: ['another token'] })
    expect(statusOf(await verifyDomain(environment.deps, domain._id), 'ownership')).toBe('pending')
    expect((await environment.domain(domain._id)).status).toBe('verified')
  })
})

describe('a domain whose records disappear', () => {
  test('fails after a day of warning and three more days', async () => {
    const domain = await published('seven.test')
    await verifyDomain(environment.deps, domain._id)
    await unpublishDns(environment.deps, domain)
    const events: (string | undefined)[] = []
    for (let hours = 0; hours <= 102; hours += 6) {
      const { event } = await verifyDomain(environment.deps, domain._id)
      if (event) events.push(`${hours} h ${event}`)
      environment.clock.advance(6 * HOUR)
    }
    expect(events).toEqual(['0 h domain.failing', '24 h domain.lost', '96 h domain.failed'])
    expect((await environment.domain(domain._id)).status).toBe('failed')
  })

  test('is repaired if its records are managed, until another program keeps removing them', async () => {
    const domain = await published('eight.test', { dns: { manage: true } })
    await verifyDomain(environment.deps, domain._id)
    const wreck = async () => {
      const state = await environment.domain(domain._id)
      await unpublishDns(environment.deps, state)
      return verifyDomain(environment.deps, domain._id)
    }
    const events = []
    for (let i = 0; i < 6; i++) events.push(await wreck())
    expect(events.map(({ event, errors }) => [event, errors.length])).toEqual([
      ['domain.failing', 0],
      ...Array(4).fill(['domain.repaired', 0]),
      [undefined, 1],
    ])
    expect(events.at(-1)?.errors).toMatchObject([{ code: 'dns.repairs_paused' }])
    const { dns } = await environment.domain(domain._id)
    expect(dns?.repairs_paused_until).toBeInstanceOf(Date)
  })
})

/** The provider of a domain, for changes that Postwright did not make. */
async function providerAccess({ user_id, name }: DomainDoc) {
  const account = await findDnsAccount(environment.deps.db, user_id, `dns_${user_id}`)
  const provider = providerOf(environment.deps, account ?? expect.fail('no account'))
  const zone = (await provider.findZone(name)) ?? expect.fail('no zone')
  return { provider, zone }
}

describe('repairs', () => {
  test('detect a conflict with another program also if an outdated record is missing', async () => {
    const domain = await published('eighteen.test', { dns: { manage: true } })
    await verifyDomain(environment.deps, domain._id)
    const key = await requestKey(environment.deps, domain, { algorithm: 'ed25519-sha256' })
    await verifyDomain(environment.deps, domain._id)
    const { provider, zone } = await providerAccess(domain)
    const owner = `${key.selector}._domainkey.eighteen.test`
    for (const record of await provider.list(zone, owner)) await provider.remove(zone, record)
    await revokeKey(environment.deps, domain, key.selector)
    const errors: string[] = []
    for (let i = 0; i < 6; i++) {
      for (const record of await provider.list(zone, '_postwright-challenge.eighteen.test'))
        await provider.remove(zone, record)
      errors.push(...(await verifyDomain(environment.deps, domain._id)).errors.map(inEnglish))
    }
    expect(errors).toEqual([expect.stringMatching(/paused until .* another program/)])
    const { dns_owned } = await environment.domain(domain._id)
    expect(dns_owned?.map(({ name }) => name)).not.toContain(owner)
  })

  test('merge our terms into an SPF record that the owner adds', async () => {
    const domain = await published('bare.test', { dns: { manage: true } })
    await verifyDomain(environment.deps, domain._id)
    const { provider, zone } = await providerAccess(domain)
    await provider.create(zone, { name: 'bare.test', type: 'TXT', value: 'v=spf1 mx -all', ttl: 600 }, 'by hand')
    const check = await verifyDomain(environment.deps, domain._id)
    expect(statusOf(check, 'spf')).toBe('conflict')
    expect(check.event).toBe('domain.repaired')
    expect(environment.server.transfer('bare.test').filter(line => line.includes('spf1'))).toEqual([
      expect.stringContaining('"v=spf1 mx ip4:192.0.2.10 -all"'),
    ])
  })
})

describe('ownership', () => {
  test('passes to another account only when the old record is removed, and the old keys never sign again', async () => {
    const holder = await published('nine.test')
    await verifyDomain(environment.deps, holder._id)
    const account = await environment.account('usr_heir')
    const successor = await environment.claim('usr_heir', 'nine.test', { dns_account_id: account._id })
    await publishDns(environment.deps, successor)
    const blocked = await verifyDomain(environment.deps, successor._id)
    expect(blocked).toMatchObject({ outcome: 'pending', errors: [{ code: 'dns.taken_and_published' }] })
    expect((await environment.domain(successor._id)).status).toBe('pending')
    await unpublishDns(environment.deps, await environment.domain(holder._id))
    await publishDns(environment.deps, await environment.domain(successor._id))
    expect((await verifyDomain(environment.deps, successor._id)).event).toBe('domain.verified')
    const [old, now] = [await environment.domain(holder._id), await environment.domain(successor._id)]
    expect(now.status).toBe('verified')
    expect(old).toMatchObject({ status: 'failed', dkim: [{ state: 'revoked' }] })
    expect(old.dkim[0]?.selector).not.toBe(now.dkim[0]?.selector)
  })

  test('of a parent domain by another account blocks its sub-domains', async () => {
    const parent = await published('ten.test')
    await verifyDomain(environment.deps, parent._id)
    const child = await published('mail.ten.test')
    const { errors } = await verifyDomain(environment.deps, child._id)
    expect(errors).toEqual([{ code: 'dns.parent_taken', params: { domain: 'ten.test' } }])
    expect((await environment.domain(child._id)).status).toBe('pending')
  })

  test('passes only to an account that no sub-domain blocks', async () => {
    const holder = await published('fourteen.test')
    await verifyDomain(environment.deps, holder._id)
    const child = await environment.claim('usr_fourteen.test', 'mail.fourteen.test', {
      dns_account_id: holder.dns_account_id ?? '',
    })
    await publishDns(environment.deps, child)
    await verifyDomain(environment.deps, child._id)
    await unpublishDns(environment.deps, await environment.domain(holder._id))
    const account = await environment.account('usr_heir14')
    const successor = await environment.claim('usr_heir14', 'fourteen.test', { dns_account_id: account._id })
    await publishDns(environment.deps, successor)
    const { errors } = await verifyDomain(environment.deps, successor._id)
    expect(errors).toEqual([{ code: 'dns.child_taken', params: { domain: 'mail.fourteen.test' } }])
    expect(await environment.domain(holder._id)).toMatchObject({ status: 'verified', dkim: [{ state: 'active' }] })

    await removeDomain(environment.deps, child.user_id, child._id)
    expect((await verifyDomain(environment.deps, successor._id)).event).toBe('domain.verified')
    expect((await environment.domain(holder._id)).status).toBe('failed')
  })

  test('does not pass to a suspended domain', async () => {
    const holder = await published('fifteen.test')
    await verifyDomain(environment.deps, holder._id)
    await unpublishDns(environment.deps, await environment.domain(holder._id))
    const account = await environment.account('usr_heir15')
    const change = { dns_account_id: account._id, status: 'suspended', suspended_by: 'resource' } as const
    const successor = await environment.claim('usr_heir15', 'fifteen.test', change)
    await publishDns(environment.deps, successor)
    await verifyDomain(environment.deps, successor._id)
    expect((await environment.domain(successor._id)).status).toBe('suspended')
    expect((await environment.domain(holder._id)).status).toBe('verified')
  })

  test('can be proved again, with a new key, by an account that lost it', async () => {
    const holder = await published('seventeen.test')
    await verifyDomain(environment.deps, holder._id)
    expect(
      await revokeVerification(environment.deps.db, await environment.domain(holder._id), environment.clock.now()),
    ).toBe(true)
    expect((await verifyDomain(environment.deps, holder._id)).outcome).toBe('pending')
    await publishDns(environment.deps, await environment.domain(holder._id))
    expect((await verifyDomain(environment.deps, holder._id)).event).toBe('domain.recovered')
    expect((await environment.domain(holder._id)).dkim.map(({ state }) => state)).toEqual(['revoked', 'active'])
  })

  test('is kept by a record with surrounding blanks that verified its holder', async () => {
    const dns = { manage: false, by_hand: ['ownership' as const] }
    const holder = await published('blanks.test', { verification_token: 'held', dns })
    expect((await verifyDomain(environment.deps, holder._id)).event).toBe('domain.verified')
    const account = await environment.account('usr_heir16')
    const successor = await environment.claim('usr_heir16', 'blanks.test', { dns_account_id: account._id })
    await publishDns(environment.deps, successor)
    const { errors } = await verifyDomain(environment.deps, successor._id)
    expect(errors).toEqual([{ code: 'dns.taken_and_published' }])
    expect((await environment.domain(holder._id)).status).toBe('verified')
  })

  test('passes to one of two accounts that prove it at the same moment', async () => {
    const first = await published('eleven.test')
    const account = await environment.account('usr_twin')
    const second = await environment.claim('usr_twin', 'eleven.test', { dns_account_id: account._id })
    await publishDns(environment.deps, second)
    await Promise.all([verifyDomain(environment.deps, first._id), verifyDomain(environment.deps, second._id)])
    const states = [await environment.domain(first._id), await environment.domain(second._id)].map(
      ({ status }) => status,
    )
    expect(states.toSorted()).toEqual(['pending', 'verified'])
  })
})

describe('DKIM key rotation', () => {
  test('activates a new key when it is visible and caches have expired, and retires the old one later', async () => {
    const domain = await published('twelve.test', { dns: { manage: true } })
    await verifyDomain(environment.deps, domain._id)
    const start = environment.clock.now().getTime()
    const timeline: string[] = []
    const recordKeys = async () => {
      await verifyDomain(environment.deps, domain._id)
      const { dkim } = await environment.domain(domain._id)
      const published = dkim.map(({ selector, state }) => {
        const answer = environment.server.dig(`${selector}._domainkey.twelve.test`, 'TXT')
        const record = /p=[A-Za-z0-9]/.test(answer) ? 'key' : /p="/.test(answer) ? 'empty' : 'none'
        return `${state}/${record}`
      })
      timeline.push(`${Math.round((environment.clock.now().getTime() - start) / 60_000)} min: ${published.join(' ')}`)
    }
    const key = await requestKey(environment.deps, await environment.domain(domain._id), {})
    await expect(activateKey(environment.deps, domain, key.selector)).rejects.toMatchObject({ code: 'conflict' })
    await expect(requestKey(environment.deps, domain, {})).rejects.toMatchObject({ code: 'conflict' })
    for (const minutes of [0, 1, 1, 10, 6 * 24 * 60, 24 * 60, 1, 30 * 24 * 60, 1]) {
      environment.clock.advance(minutes * 60_000)
      await recordKeys()
    }
    expect(timeline).toEqual([
      '0 min: active/key pending/key',
      '1 min: active/key pending/key',
      '2 min: active/key pending/key',
      '12 min: retiring/key active/key',
      '8652 min: retiring/key active/key',
      '10092 min: revoked/empty active/key',
      '10093 min: revoked/empty active/key',
      '53293 min: active/key',
      '53294 min: active/key',
    ])
    expect(environment.server.transfer('twelve.test').filter(line => line.includes('_domainkey'))).toHaveLength(1)
  })

  test('an Ed25519 key is added to the RSA key and revoked on request', async () => {
    const domain = await published('thirteen.test', { dns: { manage: true } })
    await verifyDomain(environment.deps, domain._id)
    const key = await requestKey(environment.deps, domain, { algorithm: 'ed25519-sha256' })
    await verifyDomain(environment.deps, domain._id)
    await verifyDomain(environment.deps, domain._id)
    const states = async () =>
      (await environment.domain(domain._id)).dkim.map(({ algorithm, state }) => `${algorithm} ${state}`)
    expect(await states()).toEqual(['rsa-sha256 active', 'ed25519-sha256 active'])
    const rsa = domain.dkim[0]?.selector ?? ''
    await expect(revokeKey(environment.deps, domain, rsa)).rejects.toMatchObject({ code: 'conflict' })
    await revokeKey(environment.deps, domain, key.selector)
    await verifyDomain(environment.deps, domain._id)
    expect(environment.server.dig(`${key.selector}._domainkey.thirteen.test`, 'TXT')).toContain(
      '"v=DKIM1; k=ed25519; p="',
    )
    expect(await states()).toEqual(['rsa-sha256 active', 'ed25519-sha256 revoked'])
  })

  test('two keys that are rotated in the same check get different selectors', async () => {
    const domain = await published('sixteen.test', { dns: { manage: true } })
    await verifyDomain(environment.deps, domain._id)
    await requestKey(environment.deps, domain, { algorithm: 'ed25519-sha256' })
    for (let i = 0; i < 2; i++) await verifyDomain(environment.deps, domain._id)
    await updateSettings(environment.deps.db, domain._id, { dkim_rotation_days: 30 })
    environment.clock.advance(31 * 24 * HOUR)
    await verifyDomain(environment.deps, domain._id)
    const { dkim } = await environment.domain(domain._id)
    expect(dkim.map(({ state, algorithm }) => `${algorithm} ${state}`)).toEqual([
      'rsa-sha256 active',
      'ed25519-sha256 active',
      'rsa-sha256 pending',
      'ed25519-sha256 pending',
    ])
    expect(new Set(dkim.map(({ selector }) => selector)).size).toBe(4)
    for (const { selector, public_key } of dkim)
      expect(environment.server.dig(`${selector}._domainkey.sixteen.test`, 'TXT')).toContain(public_key.slice(0, 40))
  })
})

test('follows aliases and does not accept wildcard records as keys', async () => {
  const claim = await environment.claim('usr_alias', 'alias.test')
  const check = await verifyDomain(environment.deps, claim._id)
  expect(check.records.find(({ row }) => row === 'dmarc')).toMatchObject({
    status: 'verified',
    observed: ['v=DMARC1; p=quarantine'],
  })
  expect(check.records.find(({ row }) => row.startsWith('dkim'))).toMatchObject({
    status: 'failed',
    errors: [{ code: 'dns.dkim_other_key' }],
  })
  expect(check.records.find(({ row }) => row.startsWith('ptr'))).toMatchObject({
    status: 'verified',
    observed: [HOST.name],
  })
})

test('the job checks a domain from its registration on, every one that is due once, and no other', async () => {
  const due = await Promise.all(NAMES.slice(0, 4).map(name => environment.claim('usr_job', `job.${name}.test`)))
  const later = await environment.claim('usr_job', 'later.one.test')
  const far = new Date(environment.clock.now().getTime() + 100 * HOUR)
  await updateDomain(environment.deps.db, later._id, { next_check_at: far })
  const run = { signal: new AbortController().signal, touch: async () => undefined }
  expect(await checkDueDomains(environment.deps, run)).toBeGreaterThanOrEqual(4)
  expect(await checkDueDomains(environment.deps, run)).toBe(0)
  for (const { _id } of due) expect((await environment.domain(_id)).check?.attempts).toBe(1)
  expect((await environment.domain(later._id)).check).toBeUndefined()
})

test('logs no secrets', () => {
  expect(environment.logged.length).toBeGreaterThan(20)
  const text = environment.logged.join('\n')
  for (const secret of [environment.server.key.secret, 'PRIVATE KEY', 'key_secret']) expect(text).not.toContain(secret)
})
