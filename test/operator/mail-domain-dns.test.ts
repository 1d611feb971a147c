/** MailDomains whose records are written to a real name server (Knot, RFC 2136), and failures of that server. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDnsDeps, providerOf } from '../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import {
  listDnsAccounts,
  listDnsAccountsOfResource,
} from '../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { planDomainDns, publishDns } from '../../services/mail/domains/publishing/publish-records.ts'
import { changeDomain } from '../../services/mail/domains/register-domain.ts'
import { dnsChecks } from '../../services/mail/domains/store/domain-model.ts'
import { findDomain, findDomainById, updateDomain } from '../../services/mail/domains/store/domains.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { giveDomain, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { resealAccount } from '../support/dns/dns-account.ts'
import { type Misbehaviour, type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import {
  type OperatorUnderTest,
  operatorUnderTest,
  type UnderTestOptions,
} from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

const ZONES = [
  ...[
    'shared',
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
    'nineteen',
  ],
  ...['lent', 'greedy', 'withdrawn'],
].map(name => `${name}.test`)

onApiServer('DNS of MailDomains', () => {
  let knot: DnsServer
  let recursor: Recursor
  beforeAll(async () => {
    const lines = ['@ IN TXT "v=spf1 include:spf.example.net ~all"', 'www IN A 192.0.2.80']
    knot = await startDnsServer('knot', [
      ...ZONES.map(name => ({
        name,
        lines: name === 'seven.test' ? [...lines, '_dmarc IN CNAME other.test.'] : lines,
      })),
      { name: 'postwright.test', lines: ['mail IN A 192.0.2.25'] },
    ])
    recursor = await startRecursor([...ZONES, 'postwright.test'].map(name => ({ name, port: knot.port })))
  })
  afterAll(async () => {
    await recursor?.stop()
    await knot?.stop()
  })

  const start = async (more: Partial<UnderTestOptions> = {}) => {
    const config = { DNS_SERVERS: recursor.address, DNS_PORT: String(knot.port), DNS_ALLOW_PRIVATE: 'true' }
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), config, ...more })
    await ensureIndexes(operator.mongo.db, [dnsChecks])
    return operator
  }
  /** Replaces the worker: checks the domains that are due, as its job does. */
  const work = async (operator: OperatorUnderTest) => {
    const signal = new AbortController().signal
    await checkDueDomains(createDnsDeps(operator.foundation), { signal, touch: async () => undefined })
  }
  const secretPath = (operator: OperatorUnderTest, name = '') =>
    `/api/v1/namespaces/${operator.namespace}/secrets${name ? `/${name}` : ''}`
  const giveSecret = (operator: OperatorUnderTest, key_secret: string) =>
    operator.admin.request({
      method: 'PATCH',
      path: secretPath(operator, 'dns'),
      query: { fieldManager: 'kubectl', force: true },
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'dns' }, stringData: { key_secret } },
      patch: 'apply',
    })
  const giveProvider = async (operator: OperatorUnderTest, server = `127.0.0.1:${knot.port}`) => {
    await giveSecret(operator, knot.key.secret)
    await operator.apply('DNSProvider', 'knot', {
      type: 'rfc2136',
      secretRef: { name: 'dns' },
      rfc2136: { server, keyName: knot.key.name },
    })
  }
  const managed = (domainName: string, more: object = {}) => ({
    domainName,
    dns: { managementPolicy: 'Manage', providerRef: { name: 'knot' } },
    ...more,
  })
  /** The provider and the zone as the operator's account reaches them. */
  const at = async (operator: OperatorUnderTest, zoneName: string) => {
    const uid = (await operator.get('DNSProvider', 'knot'))?.metadata.uid ?? ''
    const [account] = await listDnsAccountsOfResource(operator.mongo.db, uid)
    const provider = account && providerOf(createDnsDeps(operator.foundation), account)
    const zone = await provider?.findZone(zoneName)
    if (!provider || !zone) throw new Error(`no zone ${zoneName}`)
    return { provider, zone }
  }
  /** Number of calls to providers until now. */
  const calls = async (operator: OperatorUnderTest) =>
    (await operator.foundation.metrics.dnsProviderCalls.get()).values.reduce((sum, { value }) => sum + value, 0)
  const reasonOf = async (operator: OperatorUnderTest, kind: string, name: string, type: string, status = 'False') => {
    const seen = await operator.condition(kind, name, type, status)
    return seen.status?.conditions?.find(condition => condition.type === type)?.reason
  }
  const gone = (operator: OperatorUnderTest, kind: string, name: string) =>
    until(async () => (await operator.get(kind, name)) === undefined, 20_000)

  test('registers a domain, merges its records into the zone, verifies it, and removal restores the zone', async () => {
    const operator = await start()
    const before = knot.transfer('one.test')
    await giveProvider(operator)
    await operator.apply('MailDomain', 'one', managed('one.test', { deletionPolicy: { domain: 'Delete' } }))
    await operator.condition('MailDomain', 'one', 'DNSSynced', 'True')
    const written = knot.transfer('one.test')
    expect(written.filter(line => line.includes('v=spf1'))).toEqual([
      expect.stringContaining('v=spf1 include:spf.example.net ip4:192.0.2.25 ~all'),
    ])
    expect(written.join('\n')).toMatch(/_domainkey\.one\.test\. \d+ IN TXT "v=DKIM1/)
    await until(async () => {
      await work(operator)
      const seen = await operator.get('MailDomain', 'one')
      return seen?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    }, 20_000)
    await operator.remove('MailDomain', 'one')
    await gone(operator, 'MailDomain', 'one')
    expect(knot.transfer('one.test')).toEqual(before)
    await operator.remove('DNSProvider', 'knot')
    await gone(operator, 'DNSProvider', 'knot')
  })

  test('a second installation on a zone reports the conflict and leaves the records of the first unchanged', async () => {
    const [first, second] = [await start(), await start()]
    for (const operator of [first, second]) await giveProvider(operator)
    await first.apply('MailDomain', 'shared', managed('shared.test'))
    await first.condition('MailDomain', 'shared', 'DNSSynced', 'True')
    const written = knot.transfer('shared.test')
    await second.apply('MailDomain', 'shared', managed('shared.test', { deletionPolicy: { domain: 'Delete' } }))
    await until(async () => (await reasonOf(second, 'MailDomain', 'shared', 'DNSSynced')) === 'Conflict', 20_000)
    const seen = await second.condition('MailDomain', 'shared', 'DNSSynced', 'False')
    expect(seen.status?.conditions?.[0]?.message).toMatch(
      /_domainkey\.shared\.test holds another key\. Resolve the conflict/,
    )
    expect(knot.transfer('shared.test')).toEqual(expect.arrayContaining(written))
    await second.remove('MailDomain', 'shared')
    await gone(second, 'MailDomain', 'shared')
    expect(knot.transfer('shared.test')).toEqual(written)
  })

  test('reports a missing Secret and a wrong one, and notices the correct one immediately', async () => {
    const operator = await start()
    const spec = {
      type: 'rfc2136',
      secretRef: { name: 'dns' },
      rfc2136: { server: `127.0.0.1:${knot.port}`, zone: 'two.test', keyName: knot.key.name },
    }
    await operator.apply('DNSProvider', 'knot', spec)
    expect(await reasonOf(operator, 'DNSProvider', 'knot', 'CredentialsValid')).toBe('SecretNotFound')
    await giveSecret(operator, Buffer.from('some other key').toString('base64'))
    await operator.apply('DNSProvider', 'knot', spec, { annotations: { look: 'again' } })
    await until(async () => (await reasonOf(operator, 'DNSProvider', 'knot', 'CredentialsValid')) === 'AuthFailed')
    await giveSecret(operator, knot.key.secret)
    const { status } = await operator.condition('DNSProvider', 'knot', 'Ready', 'True')
    expect(status).toMatchObject({ zones: 1, accountId: expect.stringMatching(/^dns_/) })
  })

  test('reports a conflicting record and leaves it unchanged; without it the remaining records are written', async () => {
    const operator = await start()
    await giveProvider(operator)
    await operator.apply('MailDomain', 'seven', managed('seven.test'))
    await until(async () => (await reasonOf(operator, 'MailDomain', 'seven', 'DNSSynced')) === 'Conflict', 20_000)
    const seen = await operator.condition('MailDomain', 'seven', 'DNSSynced', 'False')
    expect(seen.status?.conditions?.[0]).toMatchObject({
      type: 'Ready',
      reason: 'Conflict',
      message: expect.stringContaining('_dmarc.seven.test is a CNAME to other.test'),
    })
    // The next attempt follows in 5 s.
    expect(seen.status?.failedAttempts).toBeGreaterThanOrEqual(1)
    expect(seen.status?.nextAttemptTime).toEqual(expect.any(String))
    expect(knot.transfer('seven.test').join('\n')).toMatch(/_domainkey\.seven\.test\. \d+ IN TXT "v=DKIM1/)
    const { provider, zone } = await at(operator, 'seven.test')
    for (const record of await provider.list(zone, '_dmarc.seven.test')) await provider.remove(zone, record)
    const dns = { managementPolicy: 'Manage', providerRef: { name: 'knot' }, conflictPolicy: 'Overwrite' }
    await operator.apply('MailDomain', 'seven', managed('seven.test', { dns }))
    await operator.condition('MailDomain', 'seven', 'DNSSynced', 'True')
  })

  test('restores a record that was deleted at the provider and emits DriftReverted', async () => {
    const operator = await start()
    await giveProvider(operator)
    await operator.apply('MailDomain', 'three', managed('three.test'))
    const { status } = await operator.condition('MailDomain', 'three', 'DNSSynced', 'True')
    const verified = async () =>
      (await findDomainById(operator.mongo.db, String(status?.domainId)))?.status === 'verified'
    await until(async () => {
      await work(operator)
      return verified()
    })
    const { provider, zone } = await at(operator, 'three.test')
    const name = '_postwright-challenge.three.test'
    for (const record of await provider.list(zone, name)) await provider.remove(zone, record)
    operator.clock.advance(60_000)
    await operator.mongo.db.collection('domains').updateMany({}, { $set: { next_check_at: operator.clock.now() } })
    await until(async () => {
      await work(operator)
      return knot.transfer('three.test').some(line => line.startsWith(name))
    })
    await until(async () => (await operator.events('three')).includes('DriftReverted'))
  })

  test.each([
    ['ownership', 'fourteen', '_postwright-challenge'],
    ['dmarc', 'fifteen', '_dmarc'],
    ['return_path', 'sixteen', 'bounce'],
  ])(
    'Ready is False while the written record %s is gone, and True as soon as it is written again',
    async (row, zoneName, label) => {
      const config = { DNS_SERVERS: recursor.address, DNS_PORT: String(knot.port), DNS_ALLOW_PRIVATE: 'true' }
      const operator = await start({ config: { ...config, BOUNCE_DOMAIN: 'bounces.postwright.test' } })
      await giveProvider(operator)
      await operator.apply('MailDomain', 'gone', managed(`${zoneName}.test`))
      const { status } = await operator.condition('MailDomain', 'gone', 'DNSSynced', 'True')
      const id = String(status?.domainId)
      const check = async () => {
        await updateDomain(operator.mongo.db, id, { next_check_at: operator.clock.now() })
        await work(operator)
      }
      await until(async () => {
        await check()
        return (await findDomainById(operator.mongo.db, id))?.status === 'verified'
      })
      await operator.condition('MailDomain', 'gone', 'Ready', 'True')
      const pause = (until: Date | null) =>
        operator.mongo.db
          .collection<{ _id: string }>('domains')
          .updateOne({ _id: id }, { $set: { 'dns.repairs_paused_until': until ?? new Date(0) } })
      await pause(new Date(operator.clock.now().getTime() + 3_600_000))
      const { provider, zone } = await at(operator, `${zoneName}.test`)
      const name = `${label}.${zoneName}.test`
      for (const record of await provider.list(zone, name)) await provider.remove(zone, record)
      await check()
      const lost = await operator.condition('MailDomain', 'gone', 'Ready', 'False')
      expect(lost.status?.conditions?.slice(0, 2)).toMatchObject([
        { type: 'Ready', reason: 'Drifted', message: expect.stringContaining(row) },
        { type: 'Reconciling', status: 'True' },
      ])
      // It still sends: the loss of the proof counts after a day.
      expect(lost.status?.conditions?.find(({ type }) => type === 'Verified')?.status).toBe('True')
      await pause(null)
      await check()
      await operator.condition('MailDomain', 'gone', 'Ready', 'True')
      expect(knot.transfer(`${zoneName}.test`).some(line => line.startsWith(`${name}. `))).toBe(true)
      expect((await findDomainById(operator.mongo.db, id))?.check?.repaired?.rows).toEqual([row])
    },
  )

  const withConflicts = (conflictPolicy: string) => ({
    dns: { managementPolicy: 'Manage', providerRef: { name: 'knot' }, conflictPolicy },
  })
  test.each<[string, string, string, object, string]>([
    ['weaker', 'twelve', 'v=DMARC1; p=none', {}, 'InSync'],
    ['stronger', 'thirteen', 'v=DMARC1; p=reject', {}, 'Conflict'],
    ['stronger', 'seventeen', 'v=DMARC1; p=reject', withConflicts('Overwrite'), 'InSync'],
    ['stronger', 'eighteen', 'v=DMARC1; p=reject', withConflicts('Adopt'), 'InSync'],
  ])(
    'a DMARC record that was changed by hand to a %s policy (%s.test, %s, with %j): %s',
    async (_how, zoneName, value, more, reason) => {
      const operator = await start()
      await giveProvider(operator)
      const quarantine = { dmarc: { policy: 'quarantine' }, ...more }
      await operator.apply('MailDomain', 'policy', managed(`${zoneName}.test`, quarantine))
      const { status } = await operator.condition('MailDomain', 'policy', 'DNSSynced', 'True')
      const id = String(status?.domainId)
      await until(async () => {
        await work(operator)
        return (await findDomainById(operator.mongo.db, id))?.status === 'verified'
      })
      const { provider, zone } = await at(operator, `${zoneName}.test`)
      const name = `_dmarc.${zoneName}.test`
      for (const record of await provider.list(zone, name)) await provider.remove(zone, record)
      await provider.create(zone, { name, type: 'TXT', value, ttl: 60 }, '')
      await operator.mongo.db.collection('domains').updateMany({}, { $set: { next_check_at: operator.clock.now() } })
      await work(operator)
      if (reason === 'Conflict') {
        await until(async () => (await reasonOf(operator, 'MailDomain', 'policy', 'DNSSynced')) === 'Conflict')
        expect(knot.transfer(`${zoneName}.test`).join('\n')).toContain('p=reject')
      } else await until(() => knot.transfer(`${zoneName}.test`).some(line => line.includes('p=quarantine')))
    },
  )

  test('a stricter DMARC record of another hand stays when the spec changes later, until the spec says Overwrite', async () => {
    const operator = await start()
    await giveProvider(operator)
    await operator.apply('MailDomain', 'policy', managed('nineteen.test', { dmarc: { policy: 'none' } }))
    await operator.condition('MailDomain', 'policy', 'DNSSynced', 'True')
    const { provider, zone } = await at(operator, 'nineteen.test')
    const name = '_dmarc.nineteen.test'
    for (const record of await provider.list(zone, name)) await provider.remove(zone, record)
    await provider.create(zone, { name, type: 'TXT', value: 'v=DMARC1; p=reject', ttl: 60 }, '')
    const policies = () =>
      knot
        .transfer('nineteen.test')
        .filter(line => line.startsWith(`${name}. `))
        .map(line => /p=\w+/.exec(line)?.[0])
    // No check has seen the change when the spec changes.
    const quarantine = { dmarc: { policy: 'quarantine' } }
    await operator.apply('MailDomain', 'policy', managed('nineteen.test', quarantine))
    await until(async () => (await reasonOf(operator, 'MailDomain', 'policy', 'DNSSynced')) === 'Conflict')
    expect(policies()).toEqual(['p=reject'])
    await operator.apply(
      'MailDomain',
      'policy',
      managed('nineteen.test', { ...quarantine, ...withConflicts('Overwrite') }),
    )
    await operator.condition('MailDomain', 'policy', 'DNSSynced', 'True')
    expect(policies()).toEqual(['p=quarantine'])
  })

  test('calls an unreachable provider with growing pauses and reports the time of the next attempt', async () => {
    const operator = await start()
    await giveProvider(operator)
    await operator.condition('DNSProvider', 'knot', 'Ready', 'True')
    // The server becomes unreachable after its credentials were accepted: no process listens on the account's port any more.
    const uid = (await operator.get('DNSProvider', 'knot'))?.metadata.uid ?? ''
    await operator.apply('DNSProvider', 'knot', {
      type: 'rfc2136',
      secretRef: { name: 'dns' },
      rfc2136: { server: '127.0.0.1:9', keyName: knot.key.name },
    })
    await until(async () => (await operator.get('DNSProvider', 'knot'))?.status?.observedGeneration === 2)
    const [account] = await listDnsAccountsOfResource(operator.mongo.db, uid)
    expect(account?.tested.ok).toBe(true)
    await resealAccount(operator.foundation, uid, '127.0.0.1:9')
    await operator.apply('MailDomain', 'four', managed('four.test'))
    await operator.condition('MailDomain', 'four', 'DNSSynced', 'Unknown')
    const attempts: number[] = []
    const started = operator.clock.now().getTime()
    let triggers = 0
    while (operator.clock.now().getTime() - started < 3_600_000) {
      const seen = await operator.get('MailDomain', 'four')
      attempts.push(Number(seen?.status?.failedAttempts))
      const next = Date.parse(String(seen?.status?.nextAttemptTime))
      // Changes of unrelated metadata must not cause calls.
      const before = await calls(operator)
      await operator.apply('MailDomain', 'four', managed('four.test'), { annotations: { trigger: String(triggers++) } })
      await until(
        async () => (await operator.get('MailDomain', 'four'))?.metadata.annotations?.trigger === String(triggers - 1),
      )
      const after = await calls(operator)
      // A slow machine may have reached the time of the next attempt.
      if (operator.clock.now().getTime() < next) expect(after).toBe(before)
      operator.clock.advance(Math.max(1_000, next - operator.clock.now().getTime()))
      await operator.apply('MailDomain', 'four', managed('four.test'), { annotations: { trigger: String(triggers++) } })
      await until(
        async () => Number((await operator.get('MailDomain', 'four'))?.status?.failedAttempts) > (attempts.at(-1) ?? 0),
        20_000,
      )
    }
    expect(attempts.length).toBeLessThanOrEqual(13)
    expect(await calls(operator)).toBeLessThanOrEqual(40)
  })

  test.each<[Misbehaviour, string]>([
    ['servfail', 'eight'],
    ['refused', 'nine'],
    ['silence', 'ten'],
  ])(
    'an unreadable parent policy (%s) is no conflict, causes no provider calls, and is retried within seconds',
    async (odd, name) => {
      const operator = await start()
      await giveProvider(operator)
      await operator.condition('DNSProvider', 'knot', 'Ready', 'True')
      recursor.misbehave.set('_dmarc.test', odd)
      onTestFinished(() => void recursor.misbehave.delete('_dmarc.test'))
      await operator.apply('MailDomain', name, managed(`${name}.test`))
      const seen = await operator.condition('MailDomain', name, 'DNSSynced', 'Unknown')
      expect(seen.status?.conditions?.[0]).toMatchObject({
        reason: 'LookupFailed',
        message: expect.stringContaining(`_dmarc.${name}.test TXT: The policy above cannot be read now (_dmarc.test:`),
      })
      expect(Date.parse(String(seen.status?.nextAttemptTime)) - operator.clock.now().getTime()).toBeLessThanOrEqual(
        5_000,
      )
      expect(knot.transfer(`${name}.test`).join('\n')).toMatch(/_domainkey\.\S+ \d+ IN TXT "v=DKIM1/)
      const before = await calls(operator)
      const trigger = async (seconds: number) => {
        operator.clock.advance(seconds * 1_000)
        await operator.apply('MailDomain', name, managed(`${name}.test`), { annotations: { trigger: String(seconds) } })
      }
      await trigger(6)
      await until(async () => Number((await operator.get('MailDomain', name))?.status?.failedAttempts) >= 2, 20_000)
      expect(await calls(operator)).toBe(before)
      recursor.misbehave.delete('_dmarc.test')
      await trigger(11)
      await operator.condition('MailDomain', name, 'DNSSynced', 'True')
      expect(knot.transfer(`${name}.test`).join('\n')).toMatch(/_dmarc\.\S+ \d+ IN TXT "v=DMARC1; p=none"/)
    },
  )

  test('Guidance records are reported and not written; the others get the requested TTL and SPF qualifier', async () => {
    const operator = await start()
    await giveProvider(operator)
    const { dns } = managed('x')
    const own = { ...dns, conflictPolicy: 'Overwrite', ttlSeconds: 60, records: { dmarc: 'Guidance' } }
    await operator.apply('MailDomain', 'eleven', {
      domainName: 'sub.eleven.test',
      dns: own,
      spf: { all: '-all', includes: ['spf.example.net'] },
    })
    const { status } = await operator.condition('MailDomain', 'eleven', 'DNSSynced', 'True')
    const zone = knot.transfer('eleven.test').join('\n')
    expect(zone).toMatch(/^sub\.eleven\.test\. 60 IN TXT "v=spf1 ip4:192\.0\.2\.25 include:spf\.example\.net -all"$/m)
    expect(zone).not.toContain('_dmarc.sub')
    expect(status?.records).toContainEqual(
      expect.objectContaining({ purpose: 'dmarc', name: '_dmarc.sub.eleven.test' }),
    )
    await operator.apply('MailDomain', 'eleven', { domainName: 'sub.eleven.test', dns })
    await until(() => knot.transfer('eleven.test').some(line => line.startsWith('_dmarc.sub.eleven.test. ')), 20_000)
    await until(() => knot.transfer('eleven.test').join('\n').includes('"v=spf1 ip4:192.0.2.25 ~all"'), 20_000)
  })

  test('writes the return path in the form of the resource, and replaces it when that changes', async () => {
    const config = { DNS_SERVERS: recursor.address, DNS_PORT: String(knot.port), DNS_ALLOW_PRIVATE: 'true' }
    const operator = await start({ config: { ...config, BOUNCE_DOMAIN: 'bounces.postwright.test' } })
    await giveProvider(operator)
    const { dns } = managed('x')
    const served = () =>
      knot
        .transfer('eleven.test')
        .filter(line => line.startsWith('bounce.path.eleven.test. '))
        .map(line => line.split(/\s+/).slice(3).join(' '))
        .toSorted()
        .join(', ')
    const both = 'MX 10 bounces.postwright.test., TXT "v=spf1 include:bounces.postwright.test ~all"'
    await operator.apply('MailDomain', 'path', { domainName: 'path.eleven.test', dns, returnPathRecords: 'MX' })
    const { status } = await operator.condition('MailDomain', 'path', 'DNSSynced', 'True')
    expect(served()).toBe(both)
    expect(status?.records).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ purpose: 'return_path_mx', type: 'MX', expected: '10 bounces.postwright.test' }),
        expect.objectContaining({
          ...{ purpose: 'return_path_spf', type: 'TXT' },
          expected: 'v=spf1 include:bounces.postwright.test ~all',
        }),
      ]),
    )
    await operator.apply('MailDomain', 'path', { domainName: 'path.eleven.test', dns })
    await until(() => served() === 'CNAME bounces.postwright.test.', 20_000)
    await operator.apply('MailDomain', 'path', { domainName: 'path.eleven.test', dns, returnPathRecords: 'MX' })
    await until(() => served() === both, 20_000)
    await operator.remove('MailDomain', 'path')
    await gone(operator, 'MailDomain', 'path')
    expect(served()).toBe('')
  })

  test('reports ZoneNotFound for a domain whose zone the account does not hold', async () => {
    const operator = await start()
    await giveProvider(operator)
    await operator.apply('MailDomain', 'nowhere', managed('nowhere.example'))
    const seen = await operator.condition('MailDomain', 'nowhere', 'DNSSynced', 'False')
    expect(seen.status?.conditions?.[0]).toMatchObject({
      reason: 'ZoneNotFound',
      message: expect.stringContaining('has no zone for'),
    })
  })

  test('removes the records after the Secret was deleted, with the stored credentials', async () => {
    const operator = await start()
    const before = knot.transfer('five.test')
    await giveProvider(operator)
    await operator.apply('MailDomain', 'five', managed('five.test'))
    await operator.condition('MailDomain', 'five', 'DNSSynced', 'True')
    await operator.admin.request({ method: 'DELETE', path: secretPath(operator, 'dns') })
    await operator.remove('DNSProvider', 'knot')
    expect(await reasonOf(operator, 'DNSProvider', 'knot', 'DeletionBlocked')).toBe('InUse')
    await operator.remove('MailDomain', 'five')
    await gone(operator, 'MailDomain', 'five')
    await gone(operator, 'DNSProvider', 'knot')
    expect(knot.transfer('five.test')).toEqual(before)
  })

  describe('credentials of a namespace that acts for another account', () => {
    /** A MailDomain of the user ann, written with the credentials of the namespace. */
    const withAnn = async (domainName: string) => {
      const operator = await start()
      const { db } = operator.mongo
      const ann = await giveUser(db, { username: 'ann' })
      await operator.allowOwners('ann')
      await giveProvider(operator)
      const more = { owner: { username: 'ann' }, deletionPolicy: { domain: 'Delete', dns: 'Delete' } }
      await operator.apply('MailDomain', 'ann', managed(domainName, more))
      await operator.condition('MailDomain', 'ann', 'DNSSynced', 'True')
      const domain = async () => {
        const found = await findDomain(db, ann._id, domainName)
        if (!found) throw new Error('the domain is gone')
        return found
      }
      const accounts = () => listDnsAccounts(db, ann._id)
      const [account] = await accounts()
      if (!account) throw new Error('ann has no DNS account')
      return { operator, db, ann, domain, accounts, account }
    }

    test('cannot be used for another domain of that account', async () => {
      const { operator, db, ann, account } = await withAnn('lent.test')
      const before = knot.transfer('greedy.test')
      const greedy = await giveDomain(db, ann._id, 'greedy.test')
      const { clock, secrets } = operator.foundation
      const bind = changeDomain({ db, clock, secrets }, ann._id, greedy._id, { dns_account_id: account._id })
      await expect(bind).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ reason: { code: 'field.not_usable' } }],
      })
      // Bound by an earlier release, which did not check this.
      await updateDomain(db, greedy._id, { dns_account_id: account._id })
      const bound = await findDomainById(db, greedy._id)
      if (!bound) throw new Error('no domain')
      const dns = createDnsDeps(operator.foundation)
      await expect(publishDns(dns, bound)).rejects.toMatchObject({ code: 'conflict' })
      await expect(planDomainDns(dns, bound)).rejects.toMatchObject({ code: 'conflict' })
      expect(knot.transfer('greedy.test')).toEqual(before)
    })

    test('are deleted with the permission to act for the account; the records remain', async () => {
      const { operator, domain, accounts } = await withAnn('withdrawn.test')
      const written = knot.transfer('withdrawn.test')
      expect(written.join('\n')).toContain('_domainkey.withdrawn.test.')
      await operator.allowOwners(null)
      await until(async () => (await accounts()).length === 0)
      await until(async () => (await domain()).managed_by === undefined)
      expect(await domain()).not.toHaveProperty('dns_account_id')
      expect((await domain()).dns?.manage).toBe(false)
      await operator.removeAndWait('MailDomain', 'ann')
      await domain()
      expect(knot.transfer('withdrawn.test')).toEqual(written)
    })
  })

  test('a namespace can be deleted in any order, with logins, tokens and Secrets', async () => {
    const operator = await start()
    const before = knot.transfer('six.test')
    await giveProvider(operator)
    await operator.apply('MailDomain', 'six', managed('six.test'))
    await operator.apply('SMTPCredential', 'six', { domainRef: { name: 'six' } })
    await operator.apply('APIToken', 'six', { domainRef: { name: 'six' } })
    for (const kind of ['SMTPCredential', 'APIToken']) await operator.condition(kind, 'six', 'Ready', 'True')
    await operator.condition('MailDomain', 'six', 'DNSSynced', 'True')
    // There is no namespace controller here: the test deletes as it does, in the worst order.
    await operator.admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${operator.namespace}` })
    const resources = [
      ['DNSProvider', 'knot'],
      ['SMTPCredential', 'six'],
      ['MailDomain', 'six'],
      ['APIToken', 'six'],
    ] as const
    await Promise.all(
      ['dns', 'six-smtp', 'six-token'].map(name =>
        operator.admin.request({ method: 'DELETE', path: secretPath(operator, name) }),
      ),
    )
    for (const [kind, name] of resources) await operator.remove(kind, name)
    for (const [kind, name] of resources) await gone(operator, kind, name)
    expect(knot.transfer('six.test')).toEqual(before)
  })
})
