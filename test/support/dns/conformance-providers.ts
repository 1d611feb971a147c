/** The providers under the conformance suite, each with a zone, a sub-zone, foreign records and real DNS. */

import { decodeData, TYPE } from '../../../services/mail/dns/dns-message.ts'
import { ask } from '../../../services/mail/dns/dns-transport.ts'
import { createAliyun } from '../../../services/mail/dns/providers/aliyun/aliyun.ts'
import { createAzure } from '../../../services/mail/dns/providers/azure/azure.ts'
import { createCloudflare } from '../../../services/mail/dns/providers/cloudflare/cloudflare.ts'
import { createDnspod } from '../../../services/mail/dns/providers/dnspod/dnspod.ts'
import { createGoogle } from '../../../services/mail/dns/providers/google/google.ts'
import type { DnsProvider } from '../../../services/mail/dns/providers/provider.ts'
import { createRfc2136 } from '../../../services/mail/dns/providers/rfc2136/rfc2136.ts'
import type { AwsPod } from '../../../services/mail/dns/providers/route53/aws-keys.ts'
import { createRoute53 } from '../../../services/mail/dns/providers/route53/route53.ts'
import { createWebhook } from '../../../services/mail/dns/providers/webhook/webhook.ts'
import { type DnsServer, startDnsServer } from './authoritative-servers.ts'
import { startExternalDns } from './external-dns.ts'
import { startAliyun } from './fake-aliyun.ts'
import { AZURE, AZURE_READER, azureSettings, startAzureDns } from './fake-azure-dns.ts'
import { startCloudflare } from './fake-cloudflare.ts'
import { startDnspod } from './fake-dnspod.ts'
import { serviceAccountKey, startGoogleDns } from './fake-google-dns.ts'
import type { FakeCloud } from './fake-provider-http.ts'
import { type Answerer, createFakeStore, startAnswerer } from './fake-provider-zones.ts'
import { startRoute53 } from './fake-route53.ts'
import { startWebhookProvider } from './fake-webhook-provider.ts'
import { createMemoryProvider, type MemoryZone } from './memory-provider.ts'
import { noBudget } from './no-budget.ts'

/** Records that other programs wrote before: they must be unchanged afterwards. */
export const FOREIGN = [
  { name: 'zone.test', type: 'TXT', value: 'v=spf1 include:old.example -all' },
  { name: 'zone.test', type: 'TXT', value: 'site-verification=abc' },
  { name: 'zone.test', type: 'MX', value: '10 mx.zone.test' },
  { name: 'zone.test', type: 'A', value: '198.51.100.1' },
  { name: 'www.zone.test', type: 'CNAME', value: 'zone.test' },
] as const

/** Zones of every account: a parent, its sub-zone, and enough others to need several pages. */
const ZONES = ['zone.test', 'sub.zone.test', 'a.test', 'b.test', 'c.test']

/** One provider under test. */
export interface Subject {
  name: string
  provider: DnsProvider
  /** With wrong credentials, or without a permission; undefined if the provider has none. */
  stranger: DnsProvider | undefined
  reader: DnsProvider | undefined
  /** With an unreachable address. */
  absent: DnsProvider | undefined
  /** The values in DNS for a name; undefined if nothing is served. */
  served: ((name: string, type: 'TXT' | 'A' | 'CNAME' | 'MX') => Promise<string[]>) | undefined
  /** All records of a zone, one line each, in a form that shows every change. */
  dump(zone: string): string[] | Promise<string[]>
  cloud: FakeCloud | undefined
  stop(): Promise<void>
}

const UNREACHABLE = 'http://127.0.0.1:1'
const context = (endpoint: string) => ({
  endpoint,
  budget: noBudget,
  now: () => new Date(),
  counted: () => undefined,
  timeoutMs: 30_000,
})

/** Starts each subject. Subjects are independent: each has its own zones. */
export const SUBJECTS: Readonly<Record<string, () => Promise<Subject>>> = {
  memory: memorySubject,
  cloudflare: () =>
    cloudSubject('cloudflare', 60, startCloudflare, url => ({
      provider: createCloudflare({ api_token: 'good-token' }, context(url)),
      stranger: createCloudflare({ api_token: 'bad-token' }, context(url)),
      reader: createCloudflare({ api_token: 'no-edit-token' }, context(url)),
      absent: createCloudflare({ api_token: 'good-token' }, context(UNREACHABLE)),
    })),
  aliyun: () =>
    cloudSubject(
      'aliyun',
      600,
      store => startAliyun(store),
      url => {
        const make = (id: string, secret: string, endpoint = url) =>
          createAliyun({ access_key_id: id, access_key_secret: secret }, context(endpoint))
        return {
          provider: make('good-key', 'good-secret'),
          stranger: make('good-key', 'bad-secret'),
          reader: make('no-write-key', 'good-secret'),
          absent: make('good-key', 'good-secret', UNREACHABLE),
        }
      },
    ),
  dnspod: () =>
    cloudSubject(
      'dnspod',
      600,
      store => startDnspod(store),
      url => {
        const make = (id: string, key: string, endpoint = url) =>
          createDnspod({ secret_id: id, secret_key: key }, context(endpoint))
        return {
          provider: make('good-id', 'good-secret'),
          stranger: make('good-id', 'bad-secret'),
          reader: make('no-write-id', 'good-secret'),
          absent: make('good-id', 'good-secret', UNREACHABLE),
        }
      },
    ),
  route53: () =>
    cloudSubject('route53', 60, startRoute53, url => {
      const pod = { AWS_STS_URL: url } as AwsPod
      const make = (access_key_id: string, secret_access_key: string, endpoint = url) =>
        createRoute53({ access_key_id, secret_access_key }, { ...context(endpoint), pod })
      return {
        provider: make('AKIAGOOD', 'good/secret+key'),
        stranger: make('AKIAGOOD', 'bad-secret'),
        reader: make('AKIANOWRITE', 'good/secret+key'),
        absent: make('AKIAGOOD', 'good/secret+key', UNREACHABLE),
      }
    }),
  google: () =>
    cloudSubject('google', 60, startGoogleDns, url => {
      const settings = { GOOGLE_TOKEN_URL: `${url}/token`, GCE_METADATA_HOST: new URL(url).host }
      const make = (account: 'writer' | 'reader' | 'stranger', endpoint = url) =>
        createGoogle({ service_account_key: serviceAccountKey(account) }, { ...context(endpoint), settings })
      return {
        provider: make('writer'),
        stranger: make('stranger'),
        reader: make('reader'),
        absent: make('writer', UNREACHABLE),
      }
    }),
  azure: () =>
    cloudSubject('azure', 60, startAzureDns, url => {
      const make = (change: Partial<typeof AZURE>, endpoint = url) =>
        createAzure({ ...AZURE, ...change }, { ...context(endpoint), settings: azureSettings(endpoint) })
      return {
        provider: make({}),
        stranger: make({ client_secret: 'bad-secret' }),
        reader: make({ client_id: AZURE_READER }),
        absent: make({}, UNREACHABLE),
      }
    }),
  webhook: () =>
    cloudSubject('webhook', 60, startWebhookProvider, url => {
      const make = (bearer: string, address = url) =>
        createWebhook({ url: address, bearer }, { ...context(address), allowPrivate: true })
      return {
        provider: make('good-token'),
        stranger: make('bad-token'),
        reader: make('no-write-token'),
        absent: make('good-token', UNREACHABLE),
      }
    }),
  'webhook of external-dns in memory': externalDnsSubject,
  'rfc2136 with knot': () => serverSubject('knot'),
  'rfc2136 with bind': () => serverSubject('bind'),
}

/** One record as text that shows every relevant change. */
function line(record: {
  id: string | number
  name: string
  type: string
  value: string
  ttl: number
  line?: string
}): string {
  const { id, name, type, value, ttl } = record
  return JSON.stringify([id, name, type, value, ttl, record.line])
}

async function memorySubject(): Promise<Subject> {
  const zones: MemoryZone[] = ZONES.map(name => ({ name, records: [] }))
  const [first] = zones
  first?.records.push(...FOREIGN.map((record, i) => ({ ...record, id: `f${i}`, ttl: 300 })))
  return {
    name: 'memory',
    provider: createMemoryProvider(zones),
    stranger: undefined,
    reader: undefined,
    absent: undefined,
    served: undefined,
    dump: zone => (zones.find(({ name }) => name === zone)?.records ?? []).map(line).toSorted(),
    cloud: undefined,
    stop: async () => undefined,
  }
}

type Providers = Pick<Subject, 'provider' | 'stranger' | 'reader' | 'absent'>

async function cloudSubject(
  name: string,
  minTtl: number,
  start: (store: ReturnType<typeof createFakeStore>) => Promise<FakeCloud>,
  make: (url: string) => Providers,
): Promise<Subject> {
  const store = createFakeStore(ZONES, minTtl)
  for (const record of FOREIGN) store.put('zone.test', { ...record })
  // Some answer all clients equally or have sets for that; the others have lines for carriers and regions.
  if (name === 'aliyun' || name === 'dnspod')
    store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'only in one region', line: 'region' })
  const cloud = await start(store)
  const answerer: Answerer = await startAnswerer(store)
  return {
    name,
    ...make(cloud.url),
    served: (record, type) => queryServer(answerer.port, record, type),
    dump: zone => store.zone(zone).records.map(line).toSorted(),
    cloud,
    async stop() {
      await answerer.stop()
      await cloud.stop()
    },
  }
}

/** The reference server of the protocol. It knows no credentials, and its domain filter names no zones. */
async function externalDnsSubject(): Promise<Subject> {
  const externalDns = await startExternalDns(ZONES)
  const sets = Map.groupBy(FOREIGN, ({ name, type }) => `${name} ${type}`)
  const create = [...sets.values()].map(records => ({
    ...{ dnsName: records[0]?.name, recordType: records[0]?.type, recordTTL: 300 },
    targets: records.map(({ type, value }) => (type === 'TXT' ? `"${value}"` : value)),
  }))
  await externalDns.apply({ create })
  const credentials = { url: externalDns.url, zones: [...ZONES] }
  const provider = createWebhook(credentials, { ...context(externalDns.url), allowPrivate: true })
  return {
    name: 'webhook of external-dns in memory',
    provider,
    stranger: undefined,
    reader: undefined,
    absent: undefined,
    served: undefined,
    async dump(zone) {
      const endpoints = await externalDns.records()
      const lines = endpoints
        .filter(({ dnsName }) => dnsName.endsWith(zone))
        .map(endpoint => JSON.stringify({ ...endpoint, targets: endpoint.targets.toSorted() }))
      return lines.toSorted()
    },
    cloud: undefined,
    stop: externalDns.stop,
  }
}

async function serverSubject(kind: DnsServer['kind']): Promise<Subject> {
  const lines = [
    '@ IN TXT "v=spf1 include:old.example -all"',
    '@ IN TXT "site-verification=abc"',
    '@ IN MX 10 mx',
    '@ IN A 198.51.100.1',
    'www IN CNAME @',
    'sub IN NS ns1.sub',
    'ns1.sub IN A 127.0.0.1',
  ]
  const server = await startDnsServer(
    kind,
    ZONES.map(name => (name === 'zone.test' ? { name, lines } : { name })),
  )
  const make = (port: number, key: DnsServer['key'], secret: string = key.secret) =>
    createRfc2136(
      { server: 'test', key_name: key.name, key_algorithm: key.algorithm, key_secret: secret },
      {
        budget: noBudget,
        now: () => new Date(),
        counted: () => undefined,
        serverAddress: async () => ({ ip: server.ip, port }),
        timeoutMs: 30_000,
      },
    )
  return {
    name: kind,
    provider: make(server.port, server.key),
    stranger: make(server.port, server.key, Buffer.from('another secret').toString('base64')),
    reader: make(server.port, server.strangerKey),
    absent: make(1, server.key),
    served: (name, type) => queryServer(server.port, name, type),
    dump: zone => server.transfer(zone),
    cloud: undefined,
    stop: server.stop,
  }
}

async function queryServer(port: number, name: string, type: 'TXT' | 'A' | 'CNAME' | 'MX'): Promise<string[]> {
  const { answers } = await ask({ ip: '127.0.0.1', port }, name, TYPE[type], {
    recursion: false,
    timeoutMs: 30_000,
    tries: 2,
  })
  return answers
    .filter(answer => answer.type === TYPE[type])
    .map(({ type: number, data }) => decodeData(number, data))
    .toSorted()
}
