/** What the clouds do when something goes wrong: each error has a name and a sentence, and no record is doubled or lost. */
import { afterEach, describe, expect, test } from 'vitest'
import { planDns, questionsOf } from '../../../services/mail/dns/plan/dns-plan.ts'
import type { OwnedRecord } from '../../../services/mail/dns/plan/plan-item.ts'
import { createAliyun } from '../../../services/mail/dns/providers/aliyun/aliyun.ts'
import { signAliyun } from '../../../services/mail/dns/providers/aliyun/signature.ts'
import { createAzure } from '../../../services/mail/dns/providers/azure/azure.ts'
import { createCloudflare } from '../../../services/mail/dns/providers/cloudflare/cloudflare.ts'
import { createDnspod } from '../../../services/mail/dns/providers/dnspod/dnspod.ts'
import { signTencent } from '../../../services/mail/dns/providers/dnspod/signature.ts'
import { createGoogle } from '../../../services/mail/dns/providers/google/google.ts'
import type { DnsProvider, Zone } from '../../../services/mail/dns/providers/provider.ts'
import { sha256 } from '../../../services/mail/dns/providers/request-signing.ts'
import type { AwsPod } from '../../../services/mail/dns/providers/route53/aws-keys.ts'
import { createRoute53 } from '../../../services/mail/dns/providers/route53/route53.ts'
import { createWebhook } from '../../../services/mail/dns/providers/webhook/webhook.ts'
import { type GuidanceDomain, guidance, spfTerms } from '../../../services/mail/dns/records/guidance.ts'
import { applyDnsPlan, type DnsPlanner } from '../../../services/mail/domains/publishing/apply-dns-plan.ts'
import type { Ledger } from '../../../services/mail/domains/publishing/record-ledger.ts'
import { startAliyun } from '../../support/dns/fake-aliyun.ts'
import { AZURE, azureSettings, startAzureDns } from '../../support/dns/fake-azure-dns.ts'
import { cloudflareZoneId, startCloudflare } from '../../support/dns/fake-cloudflare.ts'
import { startDnspod } from '../../support/dns/fake-dnspod.ts'
import { serviceAccountKey, startGoogleDns } from '../../support/dns/fake-google-dns.ts'
import type { FakeCloud, InjectedFailure } from '../../support/dns/fake-provider-http.ts'
import { createFakeStore, type FakeStore } from '../../support/dns/fake-provider-zones.ts'
import { startRoute53 } from '../../support/dns/fake-route53.ts'
import { startWebhookProvider } from '../../support/dns/fake-webhook-provider.ts'
import { testClock } from '../../support/time/test-clock.ts'

const running: FakeCloud[] = []
afterEach(async () => {
  for (const cloud of running.splice(0)) await cloud.stop()
})

interface Bench {
  cloud: FakeCloud
  store: FakeStore
  provider: DnsProvider
  zone: Zone
  /** Seconds of silence that the provider requested. */
  blocked: number[]
  /** Operations that create, change and list records; `publish` and `change` are those of a domain. */
  names: { create: string; update: string; list: string; zones: string; publish: string; change: string }
}

const NAMES = {
  cloudflare: {
    create: 'POST /zones/:zone/dns_records',
    update: 'PATCH /zones/:zone/dns_records/:id',
    list: 'GET /zones/:zone/dns_records',
    zones: 'GET /zones',
    publish: 'POST /zones/:zone/dns_records/batch',
    change: 'POST /zones/:zone/dns_records/batch',
  },
  aliyun: {
    create: 'AddDomainRecord',
    update: 'UpdateDomainRecord',
    list: 'DescribeDomainRecords',
    zones: 'DescribeDomains',
    publish: 'AddDomainRecord',
    change: 'UpdateDomainRecord',
  },
  dnspod: {
    create: 'CreateRecord',
    update: 'ModifyRecord',
    list: 'DescribeRecordList',
    zones: 'DescribeDomainList',
    publish: 'CreateRecord',
    change: 'ModifyRecord',
  },
  webhook: {
    create: 'POST /records',
    update: 'POST /records',
    list: 'GET /records',
    zones: 'GET /',
    publish: 'POST /records',
    change: 'POST /records',
  },
  google: {
    create: 'POST /managedZones/:zone/changes',
    update: 'POST /managedZones/:zone/changes',
    list: 'GET /managedZones/:zone/rrsets',
    zones: 'GET /managedZones',
    publish: 'POST /managedZones/:zone/changes',
    change: 'POST /managedZones/:zone/changes',
  },
  azure: {
    create: 'PUT :set',
    update: 'PUT :set',
    list: 'GET recordsets',
    zones: 'GET /dnszones',
    publish: 'PUT :set',
    change: 'PUT :set',
  },
  route53: {
    create: 'ChangeResourceRecordSets',
    update: 'ChangeResourceRecordSets',
    list: 'ListResourceRecordSets',
    zones: 'ListHostedZonesByName',
    publish: 'ChangeResourceRecordSets',
    change: 'ChangeResourceRecordSets',
  },
}
/** Bounds of TTLs, and the seconds that a throttled call asks to wait, where they are not 600 and 5. */
const MIN_TTL: Partial<Record<Vendor, number>> = { cloudflare: 60, webhook: 60, route53: 60, google: 60, azure: 60 }
const WAIT: Partial<Record<Vendor, number>> = { cloudflare: 17, webhook: 17, google: 9, azure: 11 }
type Vendor = keyof typeof NAMES
const VENDORS = Object.keys(NAMES) as Vendor[]

async function bench(
  vendor: Vendor,
  options: { lagMs?: number; strictTxt?: boolean; now?: () => Date; twice?: string[]; timeoutMs?: number } = {},
): Promise<Bench> {
  const store = createFakeStore(['zone.test'], MIN_TTL[vendor] ?? 600)
  const start = {
    cloudflare: () => startCloudflare(store, options.twice),
    aliyun: () => startAliyun(store, options.now),
    dnspod: () => startDnspod(store, options),
    webhook: () => startWebhookProvider(store),
    route53: () => startRoute53(store, options),
    google: () => startGoogleDns(store, options),
    azure: () => startAzureDns(store),
  }
  const cloud = await start[vendor]()
  running.push(cloud)
  const blocked: number[] = []
  const budget = {
    take: async () => undefined,
    block: async (seconds: number) => {
      blocked.push(seconds)
    },
  }
  const { timeoutMs = 30_000 } = options
  const context = { endpoint: cloud.url, budget, now: () => new Date(), counted: () => undefined, timeoutMs }
  const make = {
    cloudflare: () => createCloudflare({ api_token: 'good-token' }, context),
    aliyun: () => createAliyun({ access_key_id: 'good-key', access_key_secret: 'good-secret' }, context),
    dnspod: () => createDnspod({ secret_id: 'good-id', secret_key: 'good-secret' }, context),
    webhook: () => createWebhook({ url: cloud.url, bearer: 'good-token' }, { ...context, allowPrivate: true }),
    azure: () => createAzure(AZURE, { ...context, settings: azureSettings(cloud.url) }),
    google: () =>
      createGoogle(
        { service_account_key: serviceAccountKey() },
        { ...context, settings: { GOOGLE_TOKEN_URL: `${cloud.url}/token`, GCE_METADATA_HOST: 'none' } },
      ),
    route53: () =>
      createRoute53(
        { access_key_id: 'AKIAGOOD', secret_access_key: 'good/secret+key' },
        { ...context, pod: { AWS_STS_URL: cloud.url } as AwsPod },
      ),
  }
  const provider = make[vendor]()
  const zone =
    options.now || options.twice ? unknownZone(store) : ((await provider.findZone('zone.test')) ?? unknownZone(store))
  return { cloud, store, provider, zone, blocked, names: NAMES[vendor] }
}
function unknownZone(store: FakeStore): Zone {
  return {
    id: String(store.zone('zone.test').id),
    name: 'zone.test',
    minTtl: 600,
    maxTxt: 500,
    nameServers: [],
    warnings: [],
  }
}
const spf = { name: 'zone.test', type: 'TXT' as const, value: 'v=spf1 -all', ttl: 600 }
const values = ({ store }: Bench) => store.zone('zone.test').records.map(({ value }) => value)

const domain: GuidanceDomain = {
  name: 'zone.test',
  verification_token: 'token',
  dkim: [{ selector: 's1', algorithm: 'rsa-sha256', public_key: 'MIIB'.repeat(98), state: 'active' }],
}
const host = { hostname: 'mail.elsewhere.test', addresses: ['192.0.2.10'], spfMechanisms: [] }
const rows = guidance(domain, host)
const planner: DnsPlanner = (state, owned) =>
  planDns({
    ...state,
    rows,
    owned,
    accepted: new Set(),
    spfTerms: spfTerms(domain, host),
    inheritedDmarc: { kind: 'none' },
  })
function publish({ provider }: Bench, entries: OwnedRecord[] = []) {
  const same = (a: OwnedRecord, b: OwnedRecord) => a.row === b.row && a.value === b.value
  const ledger: Ledger = {
    read: async () => [...entries],
    write: async added => {
      const kept = entries.filter(other => !added.some(entry => same(other, entry)))
      entries.splice(0, entries.length, ...kept, ...added)
    },
    forget: async gone => {
      const kept = entries.filter(other => !gone.some(entry => same(other, entry)))
      entries.splice(0, entries.length, ...kept)
    },
  }
  return applyDnsPlan(provider, planner, ledger, { questions: questionsOf(rows), note: 'note', replaced: 'restore' })
}

test('signatures match the examples that the vendors publish', () => {
  const headers = {
    host: 'ecs.cn-shanghai.aliyuncs.com',
    'x-acs-action': 'RunInstances',
    'x-acs-content-sha256': sha256(''),
    'x-acs-date': '2023-10-26T10:22:32Z',
    'x-acs-signature-nonce': '3156853299f313e23d1673dc12e1703d',
    'x-acs-version': '2014-05-26',
  }
  const query = { ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd', RegionId: 'cn-shanghai' }
  expect(
    signAliyun(
      { method: 'POST', host: headers.host, query, headers, body: '' },
      'YourAccessKeyId',
      'YourAccessKeySecret',
    ),
  ).toContain('Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0')
  const request = {
    host: 'cvm.tencentcloudapi.com',
    service: 'cvm',
    contentType: 'application/json; charset=utf-8',
    body: String.raw`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`,
    timestamp: 1_551_113_065,
  }
  expect(signTencent(request, 'AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE', 'Gu5t9xGARNpq86cd98joQYCN3EXAMPLE')).toContain(
    'Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168',
  )
})

describe.each(VENDORS)('%s', vendor => {
  test.each<[InjectedFailure['kind'], 'create' | 'list', string]>([
    ['html', 'create', 'unknown_outcome'],
    ['html', 'list', 'unavailable'],
    ['cut', 'create', 'unknown_outcome'],
    ['cut', 'list', 'unavailable'],
    ['hang', 'create', 'unknown_outcome'],
    ['fail', 'create', 'unknown_outcome'],
    ['throttle', 'create', 'rate_limited'],
    ['throttle', 'list', 'rate_limited'],
  ])('a %s of %s is %s', async (injected, operation, kind) => {
    const it = await bench(vendor, injected === 'hang' ? { timeoutMs: 2_000 } : {})
    it.cloud.inject({ operation: it.names[operation], kind: injected })
    const call = operation === 'create' ? it.provider.create(it.zone, spf, '') : it.provider.list(it.zone, 'zone.test')
    // A refusal of the protocol has no reason; a list proves that it had no effect.
    const expected = vendor === 'webhook' && injected === 'fail' ? 'invalid' : kind
    await expect(call).rejects.toMatchObject({ kind: expected, message: expect.not.stringMatching(/good-|html/i) })
    expect(it.blocked.length).toBe(kind === 'rate_limited' ? 1 : 0)
  })

  test('a rate limit stops the click with the time to wait, and the next one goes on', async () => {
    const it = await bench(vendor)
    it.cloud.inject({ operation: it.names.publish, kind: 'throttle' })
    const entries: OwnedRecord[] = []
    const { stopped, items } = await publish(it, entries)
    expect(stopped).toMatchObject({ kind: 'rate_limited', retryAfter: WAIT[vendor] ?? 5 })
    expect(items.filter(({ status }) => status === 'not_done')).toHaveLength(4)
    expect((await publish(it, entries)).stopped).toBeUndefined()
    expect(values(it)).toHaveLength(4)
  })

  test.each<[InjectedFailure['kind'], 'publish' | 'change']>([
    ['cut', 'publish'],
    ['cut', 'change'],
    ['html', 'publish'],
    ['html', 'change'],
  ])('after a %s in a %s everything is there once', async (kind, operation) => {
    const it = await bench(vendor)
    it.store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'v=spf1 mx -all' })
    it.cloud.inject({ operation: it.names[operation], kind })
    const entries: OwnedRecord[] = []
    const { stopped, items } = await publish(it, entries)
    expect(stopped).toBeUndefined()
    expect(items.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done', 'skipped'])
    expect(values(it).toSorted()).toEqual([
      'token',
      expect.stringContaining('v=DKIM1'),
      'v=DMARC1; p=none',
      'v=spf1 mx ip4:192.0.2.10 -all',
    ])
    expect((await publish(it, entries)).items.every(({ status }) => status === 'kept' || status === 'skipped')).toBe(
      true,
    )
    expect(entries.every(({ record_id }) => record_id)).toBe(true)
  })

  test('an external edit directly after our update is not lost', async () => {
    const it = await bench(vendor)
    const theirs = it.store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'v=spf1 mx -all' })
    let edits = 0
    it.cloud.before = operation => {
      if (operation === it.names.list && theirs.value.includes('ip4:') && edits++ === 0)
        theirs.value = 'v=spf1 mx include:new.example -all'
    }
    await publish(it)
    // A transaction proves what is stored: it is not read again before the next run.
    if (it.provider.batch?.guarded) await publish(it)
    expect(theirs.value).toBe('v=spf1 mx include:new.example ip4:192.0.2.10 -all')
  })

  test('one list, the writes, one list; a repetition is one list; a large zone is queried name by name', async () => {
    const it = await bench(vendor)
    const entries: OwnedRecord[] = []
    const count = async () => {
      it.cloud.calls.length = 0
      await publish(it, entries)
      return it.cloud.calls.length
    }
    const first = await count()
    const again = await count()
    for (let i = 0; i < 30; i++) it.store.put('zone.test', { name: `w${i}.zone.test`, type: 'A', value: '192.0.2.80' })
    const large = await count()
    expect({ vendor, first, again, large }).toEqual(
      {
        // Pages of the fakes are tiny: four records are two pages.
        cloudflare: { vendor, first: 6, again: 2, large: 5 },
        aliyun: { vendor, first: 7, again: 2, large: 5 },
        dnspod: { vendor, first: 7, again: 2, large: 5 },
        // One list for the plan, one before the write and one after it, and the last of the run.
        webhook: { vendor, first: 6, again: 1, large: 1 },
        // The number of pages shows only as they are read: three too many.
        route53: { vendor, first: 5, again: 2, large: 8 },
        // A set a call; names of a zone with several pages take one call for each type.
        azure: { vendor, first: 16, again: 2, large: 24 },
        google: { vendor, first: 3, again: 2, large: 8 },
      }[vendor],
    )
  })
})

describe('what only one vendor does', () => {
  test('Cloudflare: a name in two accounts needs the zone id, which then decides', async () => {
    const it = await bench('cloudflare', { twice: ['zone.test'] })
    await expect(it.provider.findZone('zone.test')).rejects.toMatchObject({
      kind: 'zone_ambiguous',
      message: expect.stringContaining('zone id'),
    })
    const zone_id = cloudflareZoneId(it.store.zone('zone.test'))
    const exact = createCloudflare(
      { api_token: 'good-token', zone_id },
      {
        endpoint: it.cloud.url,
        budget: { take: async () => undefined, block: async () => undefined },
        now: () => new Date(),
        counted: () => undefined,
      },
    )
    expect((await exact.findZone('x.zone.test'))?.id).toBe(zone_id)
    expect(await exact.findZone('other.test')).toBeUndefined()
    // The id is of one zone; the account has others.
    const second = await bench('cloudflare')
    second.store.zones.push({ ...second.store.zone('zone.test'), id: 77, name: 'second.test', records: [] })
    for (const [api_token, name] of [
      ['good-token', 'second.test'],
      ['good-token', undefined],
    ] as const) {
      const held = createCloudflare(
        { api_token, zone_id: cloudflareZoneId(second.store.zone('zone.test')) },
        {
          endpoint: second.cloud.url,
          budget: { take: async () => undefined, block: async () => undefined },
          now: () => new Date(),
          counted: () => undefined,
        },
      )
      expect((await held.findZone(`x.${name ?? 'third.test'}`))?.name).toBe(name)
    }
  })

  test('Cloudflare: a pending zone is written with a warning, a proxied address is seen, a managed record is locked', async () => {
    const it = await bench('cloudflare')
    it.store.zone('zone.test').status = 'pending'
    const fresh = await bench('cloudflare')
    fresh.store.zone('zone.test').status = 'moved'
    expect(it.zone.warnings).toEqual([])
    it.store.put('zone.test', { name: 'mail.zone.test', type: 'A', value: '192.0.2.10', proxied: true })
    it.store.put('zone.test', { name: '_dmarc.zone.test', type: 'TXT', value: 'v=DMARC1; p=none', locked: true })
    expect(await it.provider.list(it.zone, 'mail.zone.test')).toMatchObject([{ proxied: true }])
    expect(await it.provider.list(it.zone, '_dmarc.zone.test')).toMatchObject([{ locked: true }])
  })

  test('Aliyun: a locked record, a value over the limit, a TTL below the edition', async () => {
    const it = await bench('aliyun')
    const locked = it.store.put('zone.test', { ...spf, locked: true })
    const [stored] = await it.provider.list(it.zone, 'zone.test')
    expect(stored).toMatchObject({ id: String(locked.id), locked: true })
    await expect(
      it.provider.update(it.zone, stored ?? expect.fail('none'), { ...spf, value: 'v=spf1 mx -all' }),
    ).rejects.toMatchObject({ kind: 'locked' })
    await expect(it.provider.create(it.zone, { ...spf, value: 'x'.repeat(512) }, '')).rejects.toMatchObject({
      kind: 'invalid',
      code: 'InvalidValue',
    })
    await expect(it.provider.create(it.zone, { ...spf, value: 'v', ttl: 60 }, '')).rejects.toMatchObject({
      kind: 'invalid',
    })
    const { items } = await publish(it)
    expect(items.find(({ row }) => row === 'spf')).toMatchObject({ status: 'conflict', code: 'locked' })
  })

  test.each(['aliyun', 'dnspod', 'route53'] as const)(
    '%s: a wrong clock is an authentication error with that reason',
    async vendor => {
      const it = await bench(vendor, { now: () => new Date(Date.now() + 3_600_000) })
      await expect(it.provider.findZone('zone.test')).rejects.toMatchObject({
        kind: 'auth',
        message: expect.stringMatching(/expired/),
      })
    },
  )

  test('DNSPod: new records that its lists do not show yet are pending, not written twice', async () => {
    const clock = testClock(new Date())
    const it = await bench('dnspod', { lagMs: 30_000, now: clock.now })
    const zoned = { ...it, zone: it.zone }
    const entries: OwnedRecord[] = []
    const first = await publish(zoned, entries)
    expect(first.items.slice(0, 4).map(({ status }) => status)).toEqual(Array(4).fill('pending'))
    const again = await publish(zoned, entries)
    expect(again.items.slice(0, 4).map(({ status }) => status)).toEqual(Array(4).fill('pending'))
    expect(values(it)).toHaveLength(4)
    clock.advance(30_000)
    expect((await publish(zoned, entries)).items.slice(0, 4).map(({ status }) => status)).toEqual(Array(4).fill('kept'))
  })

  test('DNSPod: long TXT where it is not supported, and a banned zone, are reported per record', async () => {
    const strict = await bench('dnspod', { strictTxt: true })
    const { items } = await publish(strict)
    expect(items.find(({ row }) => row === 'dkim:s1')).toMatchObject({
      status: 'failed',
      message: { code: 'dns_provider.refused', params: { code: 'InvalidParameter.RecordValueLengthInvalid' } },
    })
    expect(items.filter(({ status }) => status === 'done')).toHaveLength(3)
    const banned = await bench('dnspod')
    banned.store.zone('zone.test').status = 'spam'
    expect((await publish(banned)).items.find(({ row }) => row === 'spf')).toMatchObject({
      status: 'failed',
      message: {
        code: 'dns_provider.refused',
        params: { reason: { code: 'text.verbatim', params: { text: expect.stringContaining('banned') } } },
      },
    })
  })

  test('the missing right is named', async () => {
    const it = await bench('aliyun')
    const limited = createAliyun(
      { access_key_id: 'no-list-key', access_key_secret: 'good-secret' },
      {
        endpoint: it.cloud.url,
        budget: { take: async () => undefined, block: async () => undefined },
        now: () => new Date(),
        counted: () => undefined,
      },
    )
    await expect(limited.test()).rejects.toMatchObject({ permission: 'alidns:DescribeDomains' })
    const pod = await bench('dnspod')
    const poor = createDnspod(
      { secret_id: 'no-list-id', secret_key: 'good-secret' },
      {
        endpoint: pod.cloud.url,
        budget: { take: async () => undefined, block: async () => undefined },
        now: () => new Date(),
        counted: () => undefined,
      },
    )
    await expect(poor.test()).rejects.toMatchObject({ permission: 'dnspod:DescribeDomainList' })
    const flare = await bench('cloudflare')
    for (const [token, permission] of [
      ['no-edit-token', 'Zone → DNS → Edit'],
      ['no-zone-token', 'Zone → Zone → Read'],
    ] as const) {
      const scoped = createCloudflare(
        { api_token: token },
        {
          endpoint: flare.cloud.url,
          budget: { take: async () => undefined, block: async () => undefined },
          now: () => new Date(),
          counted: () => undefined,
        },
      )
      await expect(scoped.test()).rejects.toMatchObject({ kind: 'permission', permission })
    }
  })
})
