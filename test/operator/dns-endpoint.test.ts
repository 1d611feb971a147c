/**
 * MailDomains whose records external-dns publishes: DNSEndpoint objects on an API server of its own, with the CRD of external-dns
 * and a real name server (Knot).
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { KubeError } from '../../operator/kube/client.ts'
import { dnsEndpointsPath } from '../../operator/kube/object-paths.ts'
import type { DnsEndpointObject } from '../../operator/kube/object-writer.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { createDnsDeps } from '../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import { requestKey } from '../../services/mail/domains/rotate-dkim.ts'
import { dnsChecks } from '../../services/mail/domains/store/domain-model.ts'
import { findDomainById } from '../../services/mail/domains/store/domains.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type ExternalDns, startExternalDns, startExternalDnsProgram } from '../support/dns/external-dns.ts'
import { type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { type ApiServer, startApiServer } from '../support/kubernetes/apiserver.ts'
import { onApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, installCrds } from '../support/kubernetes/clients-and-crds.ts'
import { kstatusOf } from '../support/kubernetes/kstatus.ts'
import {
  type OperatorUnderTest,
  operatorUnderTest,
  type UnderTestOptions,
} from '../support/kubernetes/operator-under-test.ts'
import { EXTERNAL_DNS_MODULE, findExternalDnsProgram, findGoModule, pathOf } from '../support/programs/programs.ts'
import { until } from '../support/time/until.ts'

const ZONES = ['one', 'two', 'three', 'four', 'five', 'six', 'real'].map(name => `${name}.test`)
const FOREIGN = ['@ IN TXT "site-verification=abc"', '* IN A 192.0.2.80']

onApiServer('MailDomains with a DNSEndpoint', () => {
  let server: ApiServer
  let knot: DnsServer
  let recursor: Recursor
  let writer: ExternalDns
  beforeAll(async () => {
    server = await startApiServer(() => undefined)
    const admin = adminClient(server)
    await installCrds(admin)
    await admin.close()
    const zones = ZONES.map(name => ({ name, lines: name === 'two.test' ? FOREIGN : [] }))
    knot = await startDnsServer('knot', [...zones, { name: 'postwright.test', lines: [] }])
    recursor = await startRecursor([...ZONES, 'postwright.test'].map(name => ({ name, port: knot.port })))
    writer = await startExternalDns(ZONES, knot)
  }, 300_000)
  afterAll(async () => {
    await writer?.stop()
    await recursor?.stop()
    await knot?.stop()
    await server?.stop()
  })

  const start = async (more: Partial<UnderTestOptions> = {}, settings: Record<string, string> = {}) => {
    const config = {
      ...{
        DNS_SERVERS: recursor.address,
        DNS_PORT: String(knot.port),
        DNS_ALLOW_PRIVATE: 'true',
        DNS_ENDPOINTS: 'true',
        DNS_ENDPOINT_NAMESPACES: '*',
        DNS_ENDPOINT_DOMAINS: 'test',
      },
      ...settings,
    }
    const operator = await operatorUnderTest({
      server,
      mongoUri: sharedMongoUri(),
      config,
      dnsEndpoints: true,
      ...more,
    })
    await ensureIndexes(operator.mongo.db, [dnsChecks])
    return operator
  }
  const declaring = (domainName: string, dns: object = {}, more: object = {}) => ({
    domainName,
    dns: { managementPolicy: 'DNSEndpoint', ...dns },
    ...more,
  })
  const path = (operator: OperatorUnderTest, name: string) => `${dnsEndpointsPath(operator.namespace)}/${name}`
  const read = (operator: OperatorUnderTest, name: string) =>
    operator.admin.request<DnsEndpointObject>({ method: 'GET', path: path(operator, name) }).catch((error: unknown) => {
      if (error instanceof KubeError && error.status === 404) return undefined
      throw error
    })
  const rowsOf = (object: DnsEndpointObject | undefined) =>
    object?.spec?.endpoints?.map(
      ({ dnsName, recordType, targets }) => `${dnsName} ${recordType} ${targets?.join('|')}`,
    ) ?? []
  const stateOf = async (operator: OperatorUnderTest, name: string, status: string, type = 'DNSSynced') => {
    const seen = await operator.condition('MailDomain', name, type, status)
    const condition = seen.status?.conditions?.find(one => one.type === type)
    return { reason: condition?.reason, message: condition?.message, verdict: kstatusOf(seen) }
  }
  const reasonIs = (operator: OperatorUnderTest, name: string, reason: string) =>
    until(async () => {
      const seen = await operator.get('MailDomain', name)
      return seen?.status?.conditions?.some(one => one.type === 'DNSSynced' && one.reason === reason) ?? false
    }, 20_000)
  /** Replaces the worker: checks the domains, as its job does when they are due. */
  const work = async (operator: OperatorUnderTest) => {
    await operator.mongo.db.collection('domains').updateMany({}, { $set: { next_check_at: operator.clock.now() } })
    const signal = new AbortController().signal
    await checkDueDomains(createDnsDeps(operator.foundation), { signal, touch: async () => undefined })
  }
  /** Replaces external-dns: the RFC 2136 provider of external-dns writes, and the status is set. */
  const publish = async (operator: OperatorUnderTest, name: string) => {
    const object = await read(operator, name)
    await writer.apply({ Create: object?.spec?.endpoints })
    await operator.admin.request({
      method: 'PATCH',
      path: `${path(operator, name)}/status`,
      body: { status: { observedGeneration: object?.metadata.generation } },
      patch: 'merge',
    })
  }
  const installCrd = async () => {
    const module = pathOf(await findGoModule(EXTERNAL_DNS_MODULE))
    const file = join(module, 'charts/external-dns/crds/dnsendpoints.externaldns.k8s.io.yaml')
    const crd = parse(await readFile(file, 'utf8')) as object
    const admin = adminClient(server)
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dnsendpoints.externaldns.k8s.io'
    await admin.request({
      method: 'PATCH',
      path: crds,
      query: { fieldManager: 'test', force: true },
      body: crd,
      patch: 'apply',
    })
    await until(async () => {
      const { status } = await admin.request<{ status?: { conditions?: { type: string; status: string }[] } }>({
        method: 'GET',
        path: crds,
      })
      return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false
    }, 30_000)
    await admin.close()
  }

  test('without the CRD of external-dns the domain waits, and others are reconciled', async () => {
    const operator = await start()
    await operator.apply('MailDomain', 'one', declaring('one.test'))
    const state = await stateOf(operator, 'one', 'Unknown')
    expect(state).toMatchObject({
      message: expect.stringContaining('install the CustomResourceDefinition'),
      verdict: 'InProgress',
    })
    await operator.apply('MailDomain', 'other', { domainName: 'other.example' })
    await operator.condition('MailDomain', 'other', 'Accepted', 'True')
  })

  describe('with the CRD of external-dns', () => {
    let program: Awaited<ReturnType<typeof findExternalDnsProgram>>
    beforeAll(async () => {
      await installCrd()
      program = await findExternalDnsProgram()
    }, 1_200_000)

    test('writes every record into the object, reports what waits, and is ready once public DNS has it', async () => {
      const operator = await start()
      const dns = { dnsEndpoint: { labels: { dns: 'public' }, annotations: { team: 'mail' } }, ttlSeconds: 900 }
      const applied = await operator.apply('MailDomain', 'one', declaring('one.test', dns))
      expect(await stateOf(operator, 'one', 'False')).toMatchObject({
        reason: 'WaitingForExternalDNS',
        message: expect.stringMatching(/has not read the DNSEndpoint one, .*_dmarc\.one\.test TXT.*--source=crd/),
        verdict: 'InProgress',
      })
      const object = await read(operator, 'one')
      expect(object?.metadata).toMatchObject({
        labels: { dns: 'public', 'postwright.dev/maildomain': 'one' },
        annotations: { team: 'mail', 'postwright.dev/domain': 'one.test' },
        ownerReferences: [{ kind: 'MailDomain', name: 'one', uid: applied.metadata.uid, controller: true }],
      })
      const rows = rowsOf(object)
      expect(rows).toEqual([
        expect.stringMatching(/^_dmarc\.one\.test TXT "v=DMARC1; p=none/),
        expect.stringMatching(/^_postwright-challenge\.one\.test TXT "[0-9a-f]{40}"$/),
        'one.test TXT "v=spf1 ip4:192.0.2.25 ~all"',
        // A key of 2048 bits is longer than one character-string.
        expect.stringMatching(/^\w+\._domainkey\.one\.test TXT "v=DKIM1; k=rsa; p=[^"]{200,}" "[^"]+"$/),
      ])
      expect(object?.spec?.endpoints?.every(({ recordTTL }) => recordTTL === 900)).toBe(true)
      await publish(operator, 'one')
      await until(async () => {
        await work(operator)
        const seen = await operator.get('MailDomain', 'one')
        return seen?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
      }, 20_000)
      expect(await stateOf(operator, 'one', 'True')).toMatchObject({ reason: 'InSync', verdict: 'Current' })
      // No call to a DNS service was made.
      expect((await operator.foundation.metrics.dnsProviderCalls.get()).values).toEqual([])
    })

    test('undoes what others change in the object, follows the key, and leaves an unchanged one alone', async () => {
      const operator = await start()
      await operator.apply('MailDomain', 'three', declaring('three.test'))
      await reasonIs(operator, 'three', 'WaitingForExternalDNS')
      const before = await read(operator, 'three')
      const edit = (body: object) =>
        operator.admin.request({ method: 'PATCH', path: path(operator, 'three'), body, patch: 'merge' })
      const endpoints = [{ dnsName: 'www.three.test', recordType: 'A', targets: ['192.0.2.66'] }, { recordType: 'TXT' }]
      await edit({ spec: { endpoints }, metadata: { labels: { 'postwright.dev/maildomain': 'three', extra: 'x' } } })
      await until(
        async () => JSON.stringify(rowsOf(await read(operator, 'three'))) === JSON.stringify(rowsOf(before)),
        20_000,
      )
      await operator.admin.request({ method: 'DELETE', path: path(operator, 'three') })
      await until(
        async () => JSON.stringify(rowsOf(await read(operator, 'three'))) === JSON.stringify(rowsOf(before)),
        20_000,
      )
      const restored = await read(operator, 'three')
      await operator.apply('MailDomain', 'three', declaring('three.test'), { annotations: { trigger: 'again' } })
      await until(async () => (await operator.get('MailDomain', 'three'))?.metadata.annotations?.trigger === 'again')
      await work(operator)
      expect((await read(operator, 'three'))?.metadata.generation).toBe(restored?.metadata.generation)

      const id = String((await operator.get('MailDomain', 'three'))?.status?.domainId)
      const domain = await findDomainById(operator.mongo.db, id)
      if (!domain) throw new Error('no domain')
      const { selector } = await requestKey(createDnsDeps(operator.foundation), domain, {})
      await until(async () =>
        rowsOf(await read(operator, 'three')).some(row => row.startsWith(`${selector}._domainkey.`)),
      )
      expect(rowsOf(await read(operator, 'three'))).toHaveLength(rowsOf(before).length + 1)

      await operator.apply('MailDomain', 'three', declaring('three.test', { dnsEndpoint: { txtFormat: 'Plain' } }))
      await until(async () =>
        rowsOf(await read(operator, 'three')).includes('three.test TXT v=spf1 ip4:192.0.2.25 ~all'),
      )
    })

    test('a set that has values of others is left out with a sentence, until it is kept by hand; a wildcard is none', async () => {
      const operator = await start({}, { BOUNCE_DOMAIN: 'bounces.postwright.test' })
      await operator.apply('MailDomain', 'two', declaring('two.test'))
      expect(await stateOf(operator, 'two', 'False')).toMatchObject({
        reason: 'Conflict',
        message: expect.stringMatching(
          /^two\.test TXT: public DNS has two\.test TXT with values that are not of this domain/,
        ),
        verdict: 'Failed',
      })
      const rows = rowsOf(await read(operator, 'two'))
      expect(rows.some(row => row.startsWith('two.test TXT'))).toBe(false)
      expect(rows).toContain('bounce.two.test CNAME bounces.postwright.test')
      await operator.apply('MailDomain', 'two', declaring('two.test', { records: { spf: 'Guidance' } }))
      await reasonIs(operator, 'two', 'WaitingForExternalDNS')
      expect(rowsOf(await read(operator, 'two'))).toEqual(rows)
    })

    test('an object of others is neither changed nor deleted', async () => {
      const operator = await start()
      const spec = { endpoints: [{ dnsName: 'www.four.test', recordType: 'A', targets: ['192.0.2.80'] }] }
      const body = { apiVersion: 'externaldns.k8s.io/v1alpha1', kind: 'DNSEndpoint', metadata: { name: 'four' }, spec }
      await operator.admin.request({ method: 'POST', path: dnsEndpointsPath(operator.namespace), body })
      const before = await read(operator, 'four')
      await operator.apply('MailDomain', 'four', declaring('four.test'))
      expect(await stateOf(operator, 'four', 'False')).toMatchObject({
        reason: 'Conflict',
        message: expect.stringContaining('There is a DNSEndpoint four that this MailDomain did not create'),
        verdict: 'Failed',
      })
      await operator.removeAndWait('MailDomain', 'four')
      expect(await read(operator, 'four')).toEqual(before)
    })

    test('without rights, and while it is turned off, the domain is refused with the value of the chart', async () => {
      const refused = await start({ dnsEndpoints: false })
      await refused.apply('MailDomain', 'five', declaring('five.test'))
      expect(await stateOf(refused, 'five', 'False')).toMatchObject({
        reason: 'PermissionDenied',
        message: expect.stringContaining('operator.dnsEndpoints of the chart grants it'),
        verdict: 'Failed',
      })
      await refused.removeAndWait('MailDomain', 'five')
      const off = await start({ dnsEndpoints: false }, { DNS_ENDPOINTS: 'false' })
      await off.apply('MailDomain', 'five', declaring('five.test'))
      expect(await stateOf(off, 'five', 'False')).toMatchObject({ reason: 'DNSEndpointsDisabled', verdict: 'Failed' })
      await off.removeAndWait('MailDomain', 'five')
    })

    test.each([
      ['no namespace', { DNS_ENDPOINT_NAMESPACES: '' }, 'NamespaceNotAllowed'],
      ['another namespace', { DNS_ENDPOINT_NAMESPACES: 'team' }, 'NamespaceNotAllowed'],
      ['no domain', { DNS_ENDPOINT_DOMAINS: '' }, 'DomainNotAllowed'],
      ['another domain', { DNS_ENDPOINT_DOMAINS: 'two.test, ive.test' }, 'DomainNotAllowed'],
    ])('a setting that allows %s: the domain is refused, and nothing is written', async (_, settings, reason) => {
      const operator = await start({}, settings)
      await operator.apply('MailDomain', 'five', declaring('five.test'))
      expect(await stateOf(operator, 'five', 'False')).toMatchObject({
        reason,
        message: expect.stringContaining(Object.keys(settings).join()),
        verdict: 'Failed',
      })
      expect(await read(operator, 'five')).toBeUndefined()
      await operator.removeAndWait('MailDomain', 'five')
    })

    test.each([
      ['labels', 'postwright.dev/maildomain', 'others'],
      ['annotations', 'external-dns.alpha.kubernetes.io/target', '192.0.2.66'],
    ])(
      '%s with the key %s: the domain is refused until it is removed, and nothing is written',
      async (field, key, value) => {
        const operator = await start()
        const dnsEndpoint = { [field]: { [key]: value } }
        await operator.apply('MailDomain', 'five', declaring('five.test', { dnsEndpoint }))
        expect(await stateOf(operator, 'five', 'False')).toMatchObject({
          reason: 'MetadataNotAllowed',
          message: expect.stringContaining(`spec.dns.dnsEndpoint.${field} may not have ${key}.`),
          verdict: 'Failed',
        })
        expect(await read(operator, 'five')).toBeUndefined()
        const controller = { 'external-dns.alpha.kubernetes.io/controller': 'dns-controller' }
        await operator.apply('MailDomain', 'five', declaring('five.test', { dnsEndpoint: { annotations: controller } }))
        await reasonIs(operator, 'five', 'WaitingForExternalDNS')
        expect((await read(operator, 'five'))?.metadata.annotations).toMatchObject(controller)
        await operator.removeAndWait('MailDomain', 'five')
      },
    )

    test('a permission that is withdrawn ends the writes, and the object stays until the domain is deleted', async () => {
      const operator = await start()
      await operator.apply('MailDomain', 'five', declaring('five.test'))
      await reasonIs(operator, 'five', 'WaitingForExternalDNS')
      operator.foundation.config.DNS_ENDPOINT_NAMESPACES.splice(0)
      const before = await read(operator, 'five')
      await operator.apply('MailDomain', 'five', declaring('five.test', { ttlSeconds: 900 }))
      await reasonIs(operator, 'five', 'NamespaceNotAllowed')
      expect(await read(operator, 'five')).toEqual(before)
      await operator.removeAndWait('MailDomain', 'five')
      expect(await read(operator, 'five')).toBeUndefined()
    })

    test.each<[string, object, object, 'gone' | 'kept']>([
      ['a deletion', {}, {}, 'gone'],
      ['a deletion with Retain', { deletionPolicy: { dns: 'Retain' } }, {}, 'kept'],
      ['a deletion while it is paused', {}, { 'postwright.dev/reconcile': 'paused' }, 'kept'],
      ['a forced deletion', {}, { 'postwright.dev/force-delete': 'true' }, 'kept'],
    ])(
      '%s: the object is as its policy says, and a new MailDomain takes over what was left',
      async (_, more, annotations, expected) => {
        const operator = await start()
        await operator.apply('MailDomain', 'six', declaring('six.test', {}, more))
        await reasonIs(operator, 'six', 'WaitingForExternalDNS')
        const rows = rowsOf(await read(operator, 'six'))
        await operator.apply('MailDomain', 'six', declaring('six.test', {}, more), { annotations })
        await operator.removeAndWait('MailDomain', 'six')
        const left = await read(operator, 'six')
        expect(left === undefined ? 'gone' : 'kept').toBe(expected)
        // Kubernetes deletes what a deleted object owns.
        if (left) expect([left.metadata.ownerReferences ?? [], rowsOf(left)]).toEqual([[], rows])
        const again = await operator.apply('MailDomain', 'six', declaring('six.test'))
        await until(
          async () => (await read(operator, 'six'))?.metadata.ownerReferences?.[0]?.uid === again.metadata.uid,
          20_000,
        )
        expect(rowsOf(await read(operator, 'six')).length).toBe(rows.length)
      },
    )

    test('another managementPolicy deletes the object', async () => {
      const operator = await start()
      await operator.apply('MailDomain', 'six', declaring('six.test'))
      await reasonIs(operator, 'six', 'WaitingForExternalDNS')
      await operator.apply('MailDomain', 'six', { domainName: 'six.test' })
      await until(async () => (await read(operator, 'six')) === undefined, 20_000)
      const id = String((await operator.get('MailDomain', 'six'))?.status?.domainId)
      // The ledger follows the object: what dies in between is forgotten by the next run.
      await until(async () => ((await findDomainById(operator.mongo.db, id))?.dns_owned ?? []).length === 0)
    })

    test('external-dns itself publishes the records from the object, and the domain is verified', async () => {
      const operator = await start()
      const stop = await startExternalDnsProgram(pathOf(program), {
        server,
        namespace: operator.namespace,
        zone: 'real.test',
        knot,
      })
      onTestFinished(stop)
      await operator.apply('MailDomain', 'real', declaring('real.test'))
      await until(async () => {
        await work(operator)
        const seen = await operator.get('MailDomain', 'real')
        return seen?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
      }, 120_000)
      const object = await read(operator, 'real')
      expect(object?.status?.observedGeneration).toBe(object?.metadata.generation)
      expect(knot.transfer('real.test').filter(line => line.includes('v=DKIM1'))).toHaveLength(1)
    }, 240_000)
  })

  test.each<[string, object, RegExp]>([
    ['a provider', { providerRef: { name: 'dns' } }, /DNSEndpoint has no providerRef/],
    ['a conflictPolicy', { conflictPolicy: 'Overwrite' }, /DNSEndpoint needs conflictPolicy Fail/],
    [
      'another managementPolicy',
      { managementPolicy: 'Observe', dnsEndpoint: {} },
      /dnsEndpoint belongs to managementPolicy/,
    ],
    ['a label that is too long', { dnsEndpoint: { labels: { a: 'x'.repeat(64) } } }, /spec\.dns\.dnsEndpoint\.labels/],
  ])('with %s the API server refuses it with a sentence', async (_, dns, message) => {
    const admin = adminClient(server)
    onTestFinished(() => admin.close())
    const spec = declaring('x.test', dns)
    const body = { apiVersion: API_VERSION, kind: 'MailDomain', metadata: { name: 'x' }, spec }
    const target = `/apis/${API_VERSION}/namespaces/default/maildomains`
    await expect(admin.request({ method: 'POST', path: target, query: { dryRun: 'All' }, body })).rejects.toThrow(
      message,
    )
  })
})
