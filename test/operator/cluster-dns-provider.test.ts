/**
 * ClusterDNSProviders on an API server of their own, with a real name server (Knot): allowed namespaces write, users of other
 * namespaces get nothing, and a permission that is withdrawn ends every write.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { secretsPath } from '../../operator/kube/object-paths.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { findAccountByName } from '../../services/accounts/find-account.ts'
import { createDnsDeps } from '../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import {
  findDnsAccount,
  listDnsAccounts,
  listDnsAccountsOfResource,
} from '../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { publishDns } from '../../services/mail/domains/publishing/publish-records.ts'
import { dnsChecks } from '../../services/mail/domains/store/domain-model.ts'
import { findDomain, updateDomain } from '../../services/mail/domains/store/domains.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { type ApiServer, startApiServer } from '../support/kubernetes/apiserver.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, extraNamespace, installCrds } from '../support/kubernetes/clients-and-crds.ts'
import { kstatusOf } from '../support/kubernetes/kstatus.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

const ZONES = ['corp.test', 'other.test']

onApiServer('ClusterDNSProviders', () => {
  let server: ApiServer
  let knot: DnsServer
  let recursor: Recursor
  beforeAll(async () => {
    server = await startApiServer(() => undefined)
    const admin = adminClient(server)
    await installCrds(admin)
    await admin.close()
    const zones = [...ZONES.map(name => ({ name, lines: ['www IN A 192.0.2.80'] })), { name: 'postwright.test' }]
    knot = await startDnsServer('knot', zones)
    recursor = await startRecursor(zones.map(({ name }) => ({ name, port: knot.port })))
  }, 300_000)
  afterAll(async () => {
    await recursor?.stop()
    await knot?.stop()
    await server?.stop()
  })

  let started = 0
  /** An operator of all namespaces, a provider under a name of its own, and a second namespace. */
  const start = async (provider: object = {}, settings: Record<string, string> = {}) => {
    const config = {
      DNS_SERVERS: recursor.address,
      DNS_PORT: String(knot.port),
      DNS_ALLOW_PRIVATE: 'true',
      ...settings,
    }
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri(), config, allNamespaces: true })
    await ensureIndexes(operator.mongo.db, [dnsChecks])
    const other = await extraNamespace(server)
    const secrets = `${operator.namespace}-operator`
    await giveSecret(operator, secrets)
    const name = `corp-${started++}`
    const give = (more: object = {}) =>
      operator.apply('ClusterDNSProvider', name, {
        type: 'rfc2136',
        secretRef: { name: 'dns', namespace: secrets },
        rfc2136: { server: `127.0.0.1:${knot.port}`, zone: 'corp.test', keyName: knot.key.name },
        allowedNamespaces: { names: [operator.namespace] },
        allowedDomains: ['corp.test'],
        ...provider,
        ...more,
      })
    await give()
    // Resources of one test must not wait for the operator of the next one.
    onTestFinished(async () => {
      for (const [kind, namespace] of [
        ['MailDomain', operator.namespace],
        ['MailDomain', other],
        ['ClusterDNSProvider', ''],
      ])
        await discard(operator, kind ?? '', namespace ?? '')
    })
    return { operator, other, name, give, secrets }
  }
  const discard = async (operator: OperatorUnderTest, kind: string, namespace: string) => {
    const plural = `${kind.toLowerCase()}s`
    const place = namespace ? `/namespaces/${namespace}` : ''
    const path = `/apis/${API_VERSION}${place}/${plural}`
    const { items } = await operator.admin.request<{ items: Seen[] }>({ method: 'GET', path })
    for (const { metadata } of items) {
      const annotations = { 'postwright.dev/force-delete': 'true' }
      const one = `${path}/${metadata.name}`
      await operator.admin.request({ method: 'PATCH', path: one, body: { metadata: { annotations } }, patch: 'merge' })
      await operator.admin.request({ method: 'DELETE', path: one })
      await until(async () => (await operator.get(kind, metadata.name, namespace)) === undefined)
    }
  }
  const giveSecret = (operator: OperatorUnderTest, namespace: string, key_secret = knot.key.secret) =>
    operator.admin.request({
      method: 'PATCH',
      path: `${secretsPath(namespace)}/dns`,
      query: { fieldManager: 'kubectl', force: true },
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'dns' }, stringData: { key_secret } },
      patch: 'apply',
    })
  const declaring = (domainName: string, name: string, dns: object = {}, more: object = {}) => ({
    domainName,
    dns: { managementPolicy: 'Manage', providerRef: { kind: 'ClusterDNSProvider', name }, ...dns },
    ...more,
  })
  const refusal = async (operator: OperatorUnderTest, name: string, namespace?: string) => {
    const seen = await operator.condition('MailDomain', name, 'Stalled', 'True', namespace)
    const condition = seen.status?.conditions?.find(({ type }) => type === 'DNSSynced')
    expect([condition?.status, kstatusOf(seen)]).toEqual(['False', 'Failed'])
    return [condition?.reason, condition?.message]
  }
  /** Replaces the worker: checks the domains, as its job does when they are due. */
  const work = async (operator: OperatorUnderTest) => {
    await operator.mongo.db.collection('domains').updateMany({}, { $set: { next_check_at: operator.clock.now() } })
    const signal = new AbortController().signal
    await checkDueDomains(createDnsDeps(operator.foundation), { signal, touch: async () => undefined })
  }
  const label = (operator: OperatorUnderTest, namespace: string, labels: Record<string, string | null>) =>
    operator.admin.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}`,
      body: { metadata: { labels } },
      patch: 'merge',
    })
  const records = (domain: string, zone = 'corp.test') => knot.transfer(zone).filter(line => line.includes(domain))
  const domainOf = async (operator: OperatorUnderTest, name: string, namespace = operator.namespace) => {
    const user = await findAccountByName(operator.mongo.db, `k8s-${namespace}`)
    const domain = await findDomain(operator.mongo.db, user?._id ?? '', name)
    if (!user || !domain) throw new Error(`no domain ${name}`)
    return { user, domain }
  }

  test('an allowed namespace writes with it, is verified, and sees neither the account nor the secret', async () => {
    const { operator, name } = await start()
    const provider = await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    expect(kstatusOf(provider)).toBe('Current')
    const before = knot.transfer('corp.test')
    await operator.apply(
      'MailDomain',
      'a',
      declaring('a.corp.test', name, {}, { deletionPolicy: { domain: 'Delete' } }),
    )
    await operator.condition('MailDomain', 'a', 'DNSSynced', 'True')
    await until(async () => {
      await work(operator)
      const seen = await operator.get('MailDomain', 'a')
      return seen?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    }, 20_000)
    const { user, domain } = await domainOf(operator, 'a.corp.test')
    const account = domain.dns_account_id ?? ''
    expect(account).toBe(provider.status?.accountId)
    expect(await listDnsAccounts(operator.mongo.db, user._id)).toEqual([])
    expect(await findDnsAccount(operator.mongo.db, user._id, account)).toBeUndefined()
    // Over the API, the account of the namespace may not have existing records replaced.
    const deps = createDnsDeps(operator.foundation)
    await expect(publishDns(deps, domain, { accept: ['spf'] })).rejects.toThrow('provided by the cluster')
    await operator.removeAndWait('MailDomain', 'a')
    expect(knot.transfer('corp.test')).toEqual(before)
    await operator.removeAndWait('ClusterDNSProvider', name)
    expect(await listDnsAccountsOfResource(operator.mongo.db, provider.metadata.uid)).toEqual([])
  })

  test('a namespace that is not allowed, and a domain outside, get a refusal that names the field, and nothing is written', async () => {
    const { operator, other, name } = await start()
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    const before = ZONES.map(zone => knot.transfer(zone))
    await operator.apply('MailDomain', 'mine', declaring('b.corp.test', name), {}, other)
    expect(await refusal(operator, 'mine', other)).toEqual([
      'NamespaceNotAllowed',
      expect.stringContaining(`does not allow the namespace ${other}. Nothing is written`),
    ])
    await operator.apply('MailDomain', 'outside', declaring('other.test', name))
    expect(await refusal(operator, 'outside')).toEqual([
      'DomainNotAllowed',
      expect.stringContaining('spec.allowedDomains'),
    ])
    await operator.apply('MailDomain', 'suffix', declaring('evilcorp.test', name))
    expect((await refusal(operator, 'suffix'))[0]).toBe('DomainNotAllowed')
    await operator.apply('MailDomain', 'force', declaring('c.corp.test', name, { conflictPolicy: 'Overwrite' }))
    expect((await refusal(operator, 'force'))[0]).toBe('ConflictPolicyNotAllowed')
    await work(operator)
    expect(ZONES.map(zone => knot.transfer(zone))).toEqual(before)
    // The account is not the namespace's to use: bound by hand in the database, the worker still refuses it.
    const { domain } = await domainOf(operator, 'other.test')
    const account = (await operator.get('ClusterDNSProvider', name))?.status?.accountId
    const bound = await updateDomain(operator.mongo.db, domain._id, { dns_account_id: String(account) })
    await expect(publishDns(createDnsDeps(operator.foundation), bound ?? domain)).rejects.toThrow()
    // Refused MailDomains do not keep the provider from being deleted.
    await updateDomain(operator.mongo.db, domain._id, {}, ['dns_account_id'])
    await operator.removeAndWait('ClusterDNSProvider', name)
  })

  test('what a withdrawn permission leaves: records stay, are not repaired and not removed; with the permission they are kept again', async () => {
    const { operator, other, name, give } = await start({
      allowedNamespaces: { selector: { matchExpressions: [{ key: 'mail', operator: 'In', values: ['yes'] }] } },
    })
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    await operator.apply('MailDomain', 'd', declaring('d.corp.test', name), {}, other)
    expect((await refusal(operator, 'd', other))[0]).toBe('NamespaceNotAllowed')
    await label(operator, other, { mail: 'yes' })
    await operator.condition('MailDomain', 'd', 'DNSSynced', 'True', other)
    const written = records('d.corp.test')
    expect(written.length).toBeGreaterThan(3)

    await label(operator, other, { mail: null })
    expect((await refusal(operator, 'd', other))[0]).toBe('NamespaceNotAllowed')
    expect((await domainOf(operator, 'd.corp.test', other)).domain.dns_account_id).toBeUndefined()
    await operator.apply(
      'MailDomain',
      'd',
      declaring('d.corp.test', name, {}, { dmarc: { policy: 'reject' } }),
      {},
      other,
    )
    await refusal(operator, 'd', other)
    await work(operator)
    expect(records('d.corp.test')).toEqual(written)

    await label(operator, other, { mail: 'yes' })
    await operator.condition('MailDomain', 'd', 'DNSSynced', 'True', other)
    expect(records('_dmarc.d.corp.test')).toEqual([expect.stringContaining('p=reject')])

    await give({ allowedNamespaces: { selector: { matchLabels: { mail: 'yes' } } }, allowedDomains: ['e.corp.test'] })
    expect((await refusal(operator, 'd', other))[0]).toBe('DomainNotAllowed')
    const left = records('d.corp.test')
    await operator.removeAndWait('MailDomain', 'd', other)
    expect(records('d.corp.test')).toEqual(left)
    const events = await operator.events('d', other)
    expect(events).toContain('RecordsLeftBehind')
    // A withdrawn permission is no change from outside.
    expect(events).not.toContain('DriftReverted')
  })

  const isUnbound = (operator: OperatorUnderTest, name: string, namespace?: string) => async () =>
    (await domainOf(operator, name, namespace)).domain.dns_account_id === undefined

  test('a pause does not keep a permission that is withdrawn', async () => {
    const { operator, other, name } = await start({ allowedNamespaces: { selector: { matchLabels: { mail: 'yes' } } } })
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    await label(operator, other, { mail: 'yes' })
    await operator.apply('MailDomain', 'j', declaring('j.corp.test', name), {}, other)
    await operator.condition('MailDomain', 'j', 'DNSSynced', 'True', other)
    const written = records('j.corp.test')
    const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }
    await operator.apply('MailDomain', 'j', declaring('j.corp.test', name), paused, other)
    await operator.condition('MailDomain', 'j', 'Active', 'False', other)
    // Another label withdraws nothing.
    await label(operator, other, { team: 'a' })
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    expect(await isUnbound(operator, 'j.corp.test', other)()).toBe(false)

    await label(operator, other, { mail: null })
    await until(isUnbound(operator, 'j.corp.test', other), 20_000)
    const { domain } = await domainOf(operator, 'j.corp.test', other)
    await updateDomain(operator.mongo.db, domain._id, {
      dns: { manage: true, dmarc: { policy: 'reject', rua: [] } },
    })
    await work(operator)
    expect(records('j.corp.test')).toEqual(written)
    // It does not keep the provider from being deleted.
    await operator.removeAndWait('ClusterDNSProvider', name)
  })

  test.each(['DNSProvider', 'ClusterDNSProvider'])(
    'a MailDomain that names another, unusable %s leaves the account of the former one',
    async kind => {
      const { operator, name, secrets } = await start()
      await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
      const label = kind.toLowerCase()
      const domainName = `${label}.corp.test`
      await operator.apply('MailDomain', label, declaring(domainName, name))
      await operator.condition('MailDomain', label, 'DNSSynced', 'True')
      const written = records(domainName)
      if (kind === 'ClusterDNSProvider')
        await operator.apply(kind, 'unusable', {
          type: 'rfc2136',
          secretRef: { name: 'missing', namespace: secrets },
          rfc2136: { server: `127.0.0.1:${knot.port}`, zone: 'corp.test', keyName: knot.key.name },
          allowedNamespaces: { names: [operator.namespace] },
          allowedDomains: ['corp.test'],
        })
      await operator.apply(
        'MailDomain',
        label,
        declaring(domainName, 'unusable', { providerRef: { kind, name: 'unusable' } }),
      )
      await operator.condition('MailDomain', label, 'DNSSynced', 'False')
      expect(await isUnbound(operator, domainName)()).toBe(true)
      expect(records(domainName)).toEqual(written)
    },
  )

  test('a domain that passes to a MailDomain of another namespace leaves the account', async () => {
    const { operator, other, name } = await start()
    const { db } = operator.mongo
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    const ann = await giveUser(db, { username: 'ann' })
    await operator.allowOwners('ann')
    await operator.allowOwners('ann', other)
    const spec = declaring('k.corp.test', name, {}, { owner: { username: 'ann' } })
    await operator.apply('MailDomain', 'k', spec)
    await operator.condition('MailDomain', 'k', 'DNSSynced', 'True')
    const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }
    await operator.apply('MailDomain', 'heir', spec, paused, other)
    await operator.condition('MailDomain', 'heir', 'Active', 'False', other)
    const before = records('k.corp.test')
    await operator.removeAndWait('MailDomain', 'k')
    const domain = await findDomain(db, ann._id, 'k.corp.test')
    expect(domain?.managed_by).toMatchObject({ namespace: other, name: 'heir' })
    expect(domain).not.toHaveProperty('dns_account_id')
    expect(records('k.corp.test')).toEqual(before)
  })

  test('a name belongs to the namespace that wrote it first, and is free once that is gone', async () => {
    const { operator, other, name } = await start({ allowedNamespaces: { selector: {} } })
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    await operator.apply('MailDomain', 'first', declaring('f.corp.test', name))
    await operator.condition('MailDomain', 'first', 'DNSSynced', 'True')
    const written = records('f.corp.test')
    await operator.apply('MailDomain', 'second', declaring('f.corp.test', name), {}, other)
    expect((await refusal(operator, 'second', other))[0]).toBe('DomainTaken')
    expect(records('f.corp.test')).toEqual(written)
    await operator.removeAndWait('MailDomain', 'first')
    // A refusal is looked at again every minute; a change of the resource does so at once.
    await operator.apply('MailDomain', 'second', declaring('f.corp.test', name, { ttlSeconds: 900 }), {}, other)
    await operator.condition('MailDomain', 'second', 'DNSSynced', 'True', other)
  })

  test('is deleted only when no domain writes with it, and names those that do', async () => {
    const { operator, name } = await start()
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    await operator.apply('MailDomain', 'g', declaring('g.corp.test', name))
    await operator.condition('MailDomain', 'g', 'DNSSynced', 'True')
    await operator.remove('ClusterDNSProvider', name)
    const blocked = await operator.condition('ClusterDNSProvider', name, 'DeletionBlocked', 'False')
    expect(blocked.status?.conditions?.find(({ type }) => type === 'DeletionBlocked')).toMatchObject({
      reason: 'InUse',
      message: expect.stringContaining(`${operator.namespace}/g`),
    })
    await operator.removeAndWait('MailDomain', 'g')
    await until(async () => (await operator.get('ClusterDNSProvider', name)) === undefined, 20_000)
    expect(records('g.corp.test')).toEqual([])
  })

  test('a forced deletion leaves the records, and ends the permission to write them', async () => {
    const { operator, name } = await start()
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    await operator.apply('MailDomain', 'i', declaring('i.corp.test', name))
    await operator.condition('MailDomain', 'i', 'DNSSynced', 'True')
    const written = records('i.corp.test')
    await discard(operator, 'ClusterDNSProvider', '')
    await until(async () => (await domainOf(operator, 'i.corp.test')).domain.dns_account_id === undefined, 20_000)
    await operator.condition('MailDomain', 'i', 'DNSSynced', 'False')
    expect(records('i.corp.test')).toEqual(written)
  })

  test('its Secret is in the namespace of the operator or in a listed one, and its credentials are tested', async () => {
    const { operator, name, give, other, secrets } = await start({}, { CLUSTER_DNS_SECRET_NAMESPACES: 'nowhere' })
    const reasonOf = async (type: string, status = 'False') => {
      const seen = await operator.condition('ClusterDNSProvider', name, type, status)
      return seen.status?.conditions?.find(condition => condition.type === type)?.reason
    }
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    await giveSecret(operator, other)
    await give({ secretRef: { name: 'dns', namespace: other } })
    expect(await reasonOf('Accepted')).toBe('NamespaceNotAllowed')
    await give({ secretRef: { name: 'dns', namespace: 'nowhere' } })
    expect(await reasonOf('CredentialsValid')).toBe('SecretNotFound')
    await give({ secretRef: { name: 'dns', namespace: secrets } })
    await operator.condition('ClusterDNSProvider', name, 'Ready', 'True')
    // The label is set after the first read: from then on, changes are seen.
    await giveSecret(operator, secrets, Buffer.from('a key that the server does not know').toString('base64'))
    expect(await reasonOf('CredentialsValid')).toBe('AuthFailed')
  })

  test.each<[string, object, RegExp]>([
    ['without namespaces', { allowedNamespaces: {} }, /allowedNamespaces needs names or a selector/],
    ['without domains', { allowedDomains: [] }, /allowedDomains/],
    ['with a top-level domain', { allowedDomains: ['test'] }, /allowedDomains/],
    ['without the namespace of the Secret', { secretRef: { name: 'dns', namespace: null } }, /secretRef\.namespace/],
    ['with settings of another type', { cloudflare: {} }, /cloudflare belongs to type cloudflare/],
    [
      'with an expression without values',
      { allowedNamespaces: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      /values are needed with In and NotIn/,
    ],
  ])('one %s is refused by the API server with a sentence', async (_, change, message) => {
    const admin = adminClient(server)
    onTestFinished(() => admin.close())
    const spec = {
      type: 'rfc2136',
      secretRef: { name: 'dns', namespace: 'x' },
      rfc2136: { server: 'ns.example.com', keyName: 'k' },
      allowedNamespaces: { names: ['a'] },
      allowedDomains: ['corp.test'],
      ...change,
    }
    const body = {
      apiVersion: API_VERSION,
      kind: 'ClusterDNSProvider',
      metadata: { name: 'wrong' },
      spec,
    }
    const path = `/apis/${API_VERSION}/clusterdnsproviders`
    await expect(admin.request({ method: 'POST', path, body })).rejects.toThrow(message)
  })
})

onApiServer('an operator of some namespaces', () => {
  test('refuses a MailDomain that names a ClusterDNSProvider', async () => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri() })
    const dns = { managementPolicy: 'Manage', providerRef: { kind: 'ClusterDNSProvider', name: 'corp' } }
    await operator.apply('MailDomain', 'h', { domainName: 'h.corp.test', dns })
    const seen = await operator.condition('MailDomain', 'h', 'Stalled', 'True')
    expect(seen.status?.conditions?.find(({ type }) => type === 'DNSSynced')?.reason).toBe('ProviderNotAllowed')
  })
})
