/** DNSProviders and MailDomains with the cloud vendors (strict fakes): from creation to Ready, removal, and vendor failures. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDnsDeps } from '../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import { dnsChecks } from '../../services/mail/domains/store/domain-model.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { startAliyun } from '../support/dns/fake-aliyun.ts'
import { AZURE, startAzureDns } from '../support/dns/fake-azure-dns.ts'
import { startCloudflare } from '../support/dns/fake-cloudflare.ts'
import { startDnspod } from '../support/dns/fake-dnspod.ts'
import { serviceAccountKey, startGoogleDns } from '../support/dns/fake-google-dns.ts'
import type { FakeCloud } from '../support/dns/fake-provider-http.ts'
import { createFakeStore, type FakeStore, startAnswerer } from '../support/dns/fake-provider-zones.ts'
import { startRoute53 } from '../support/dns/fake-route53.ts'
import { startWebhookProvider } from '../support/dns/fake-webhook-provider.ts'
import { startRecursor } from '../support/dns/recursor.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { type OperatorUnderTest, operatorUnderTest } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

interface Vendor {
  /** The setting with the address of the vendor. */
  setting?: string
  settings?: (url: string) => Record<string, string>
  /** Fields of the resource. */
  spec?: (url: string) => object
  /** Keys of the Secret; the last one is wrong in `wrong`. */
  secret: Record<string, string>
  wrong: Record<string, string>
  /** The operation of the first write. */
  write: string
  minTtl: number
  start(store: FakeStore, now: () => Date): Promise<FakeCloud>
  /** Seconds that a throttled call asks to wait; default 5. */
  wait?: number
  /** Upper bound of the calls for a domain, from its first check to its last record. */
  calls: number
}

const VENDORS: Record<string, Vendor> = {
  cloudflare: {
    setting: 'CLOUDFLARE_API_URL',
    secret: { api_token: 'good-token' },
    wrong: { api_token: 'bad-token' },
    write: 'POST /zones/:zone/dns_records/batch',
    minTtl: 60,
    start: store => startCloudflare(store),
    // Two for the zone of the domain and that of the sending host, a list, a batch, a list; pages of the fake are tiny.
    calls: 9,
    wait: 17,
  },
  aliyun: {
    setting: 'ALIYUN_DNS_ENDPOINT',
    secret: { access_key_id: 'good-key', access_key_secret: 'good-secret' },
    wrong: { access_key_id: 'good-key', access_key_secret: 'bad-secret' },
    write: 'AddDomainRecord',
    minTtl: 600,
    start: (store, now) => startAliyun(store, now),
    calls: 11,
  },
  dnspod: {
    setting: 'DNSPOD_ENDPOINT',
    secret: { secret_id: 'good-id', secret_key: 'good-secret' },
    wrong: { secret_id: 'good-id', secret_key: 'bad-secret' },
    write: 'CreateRecord',
    minTtl: 600,
    start: (store, now) => startDnspod(store, { now }),
    calls: 14,
  },
  google: {
    settings: url => ({ GOOGLE_DNS_URL: url, GOOGLE_TOKEN_URL: `${url}/token` }),
    secret: { service_account_key: serviceAccountKey() },
    wrong: { service_account_key: serviceAccountKey('stranger') },
    write: 'POST /managedZones/:zone/changes',
    minTtl: 60,
    start: (store, now) => startGoogleDns(store, { now }),
    calls: 12,
    wait: 9,
  },
  azure: {
    settings: url => ({ AZURE_MANAGEMENT_URL: url, AZURE_AUTHORITY_HOST: url }),
    spec: () => ({
      azure: { tenantId: AZURE.tenant_id, clientId: AZURE.client_id, subscriptionId: AZURE.subscription_id },
    }),
    secret: { client_secret: AZURE.client_secret },
    wrong: { client_secret: 'bad-secret' },
    write: 'PUT :set',
    minTtl: 60,
    start: store => startAzureDns(store),
    calls: 40,
    wait: 11,
  },
  route53: {
    setting: 'ROUTE53_URL',
    secret: { access_key_id: 'AKIAGOOD', secret_access_key: 'good/secret+key' },
    wrong: { access_key_id: 'AKIAGOOD', secret_access_key: 'bad-secret' },
    write: 'ChangeResourceRecordSets',
    minTtl: 60,
    start: (store, now) => startRoute53(store, { now }),
    calls: 20,
  },
  webhook: {
    spec: url => ({ webhook: { url } }),
    secret: { bearer: 'good-token' },
    wrong: { bearer: 'bad-token' },
    write: 'POST /records',
    minTtl: 60,
    start: store => startWebhookProvider(store),
    calls: 9,
    wait: 17,
  },
}

onApiServer('MailDomains at a cloud vendor', () => {
  describe.each(Object.entries(VENDORS))('%s', (type, vendor) => {
    const start = async () => {
      const store = createFakeStore(['zone.test'], vendor.minTtl)
      store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'site-verification=abc' })
      store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'v=spf1 mx -all' })
      store.put('zone.test', { name: 'zone.test', type: 'NS', value: 'ns1.zone.test' })
      store.put('zone.test', { name: 'ns1.zone.test', type: 'A', value: '127.0.0.1' })
      let now = () => new Date()
      const cloud = await vendor.start(store, () => now())
      const answerer = await startAnswerer(store)
      const recursor = await startRecursor([{ name: 'zone.test', port: answerer.port }])
      onTestFinished(async () => {
        await recursor.stop()
        await answerer.stop()
        await cloud.stop()
      })
      const config = {
        ...vendor.settings?.(cloud.url),
        ...(vendor.setting ? { [vendor.setting]: cloud.url } : {}),
        DNS_SERVERS: recursor.address,
        DNS_PORT: String(answerer.port),
        DNS_ALLOW_PRIVATE: 'true',
        DNS_PRIVATE_WEBHOOKS: `*/${new URL(cloud.url).host}`,
      }
      const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), config })
      now = operator.clock.now
      await ensureIndexes(operator.mongo.db, [dnsChecks])
      return { operator, cloud, store }
    }
    const giveProvider = async (operator: OperatorUnderTest, { url }: FakeCloud, secret = vendor.secret) => {
      await operator.admin.request({
        method: 'PATCH',
        path: `/api/v1/namespaces/${operator.namespace}/secrets/dns`,
        query: { fieldManager: 'kubectl', force: true },
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'dns' }, stringData: secret },
        patch: 'apply',
      })
      await operator.apply('DNSProvider', 'cloud', { type, ...vendor.spec?.(url), secretRef: { name: 'dns' } })
    }
    const declare = (operator: OperatorUnderTest, trigger = '0') =>
      operator.apply(
        'MailDomain',
        'zone',
        { domainName: 'zone.test', dns: { managementPolicy: 'Manage', providerRef: { name: 'cloud' } } },
        { annotations: { trigger } },
      )
    const dump = (store: FakeStore) =>
      store
        .zone('zone.test')
        .records.map(({ name, type: kind, value }) => `${name} ${kind} ${value}`)
        .toSorted()
    const reason = (seen: Awaited<ReturnType<OperatorUnderTest['condition']>>, condition: string) =>
      seen.status?.conditions?.find(entry => entry.type === condition)?.reason
    const wait = (seen: Awaited<ReturnType<OperatorUnderTest['get']>>, operator: OperatorUnderTest) =>
      Date.parse(String(seen?.status?.nextAttemptTime)) - operator.clock.now().getTime()

    test('reaches Ready within the allowed calls, and removal restores the zone', async () => {
      const { operator, cloud, store } = await start()
      const before = dump(store)
      await giveProvider(operator, cloud)
      const provider = await operator.condition('DNSProvider', 'cloud', 'Ready', 'True')
      expect(provider.status).toMatchObject({ zones: 1 })
      cloud.calls.length = 0
      await declare(operator)
      await operator.condition('MailDomain', 'zone', 'DNSSynced', 'True')
      expect(cloud.calls.length).toBeLessThanOrEqual(vendor.calls)
      expect(dump(store).filter(line => line.includes('v=spf1'))).toEqual([
        'zone.test TXT v=spf1 mx ip4:192.0.2.25 -all',
      ])
      const signal = new AbortController().signal
      await until(async () => {
        await checkDueDomains(createDnsDeps(operator.foundation), { signal, touch: async () => undefined })
        const seen = await operator.get('MailDomain', 'zone')
        return seen?.status?.conditions?.some(({ type: is, status }) => is === 'Ready' && status === 'True') ?? false
      }, 20_000)
      // Records that are correct are not queried again.
      cloud.calls.length = 0
      operator.clock.advance(60_000)
      await operator.mongo.db.collection('domains').updateMany({}, { $set: { next_check_at: operator.clock.now() } })
      await checkDueDomains(createDnsDeps(operator.foundation), { signal, touch: async () => undefined })
      await declare(operator, 'again')
      await until(async () => (await operator.get('MailDomain', 'zone'))?.metadata.annotations?.trigger === 'again')
      expect(cloud.calls).toEqual([])
      await operator.remove('MailDomain', 'zone')
      await until(async () => (await operator.get('MailDomain', 'zone')) === undefined, 20_000)
      expect(dump(store)).toEqual(before)
    })

    test('waits as long as a throttling vendor demands, reports it, and then writes every record once', async () => {
      const { operator, cloud, store } = await start()
      await giveProvider(operator, cloud)
      await operator.condition('DNSProvider', 'cloud', 'Ready', 'True')
      cloud.inject({ operation: vendor.write, kind: 'throttle' })
      const called: number[] = []
      let throttled = Number.POSITIVE_INFINITY
      cloud.before = operation => {
        const now = operator.clock.now().getTime()
        called.push(now)
        if (operation === vendor.write) throttled = Math.min(throttled, now)
      }
      await declare(operator)
      const seen = await operator.condition('MailDomain', 'zone', 'DNSSynced', 'Unknown')
      expect(reason(seen, 'DNSSynced')).toBe('RateLimited')
      const asked = (vendor.wait ?? 5) * 1_000
      // The status has whole seconds.
      const next = Date.parse(String(seen.status?.nextAttemptTime))
      expect(next).toBeGreaterThan(throttled + asked - 1_000)
      const calls = called.length
      await declare(operator, 'too early')
      await until(async () => (await operator.get('MailDomain', 'zone'))?.metadata.annotations?.trigger === 'too early')
      // On a slow machine the time of the next attempt may have come.
      expect(called.slice(calls).filter(at => at < next)).toEqual([])
      operator.clock.advance(asked + 1_000)
      await declare(operator, 'in time')
      await operator.condition('MailDomain', 'zone', 'DNSSynced', 'True')
      expect(dump(store).filter(line => line.includes('DMARC1'))).toHaveLength(1)
      expect(dump(store)).toHaveLength(4 + 3)
    })

    test('wrong credentials fail the provider and the domain, and correct credentials recover both', async () => {
      const { operator, cloud } = await start()
      await giveProvider(operator, cloud, vendor.wrong)
      const provider = await operator.condition('DNSProvider', 'cloud', 'CredentialsValid', 'False')
      expect(reason(provider, 'CredentialsValid')).toBe('AuthFailed')
      await declare(operator)
      const domain = await operator.condition('MailDomain', 'zone', 'DNSSynced', 'False')
      expect(domain.status?.conditions?.[0]).toMatchObject({
        reason: 'DependencyNotReady',
        message: expect.stringContaining('DNSProvider cloud is not ready: '),
      })
      expect(cloud.calls.length).toBeLessThanOrEqual(3)
      await giveProvider(operator, cloud)
      await operator.condition('MailDomain', 'zone', 'DNSSynced', 'True')
    })

    test('calls a vendor that is down for an hour with growing pauses, reports the next attempt, and then recovers', async () => {
      const { operator, cloud, store } = await start()
      await giveProvider(operator, cloud)
      await operator.condition('DNSProvider', 'cloud', 'Ready', 'True')
      cloud.down = true
      cloud.calls.length = 0
      await declare(operator)
      await operator.condition('MailDomain', 'zone', 'DNSSynced', 'Unknown')
      const started = operator.clock.now().getTime()
      const pauses: number[] = []
      while (operator.clock.now().getTime() - started < 3_600_000) {
        const seen = await operator.get('MailDomain', 'zone')
        const tries = Number(seen?.status?.failedAttempts)
        pauses.push(Math.round(wait(seen, operator) / 1_000))
        operator.clock.advance(Math.max(1_000, wait(seen, operator)))
        await declare(operator, String(tries))
        await until(
          async () => Number((await operator.get('MailDomain', 'zone'))?.status?.failedAttempts) > tries,
          20_000,
        )
      }
      expect(pauses.length).toBeLessThanOrEqual(13)
      expect(cloud.calls.length).toBeLessThanOrEqual(26)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(900)
      expect(pauses.at(-1)).toBeGreaterThan(600)
      cloud.down = false
      operator.clock.advance(900_000)
      await declare(operator, 'up again')
      await operator.condition('MailDomain', 'zone', 'DNSSynced', 'True')
      expect(dump(store)).toHaveLength(4 + 3)
    })
  })
})
