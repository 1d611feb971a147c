/** Webhook providers of external-dns: each form of TXT, a real one with a name server, and providers that answer wrongly. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { planDns, questionsOf } from '../../../services/mail/dns/plan/dns-plan.ts'
import type { OwnedRecord } from '../../../services/mail/dns/plan/plan-item.ts'
import { planRemoval } from '../../../services/mail/dns/plan/plan-removal.ts'
import type { DnsProvider, Zone } from '../../../services/mail/dns/providers/provider.ts'
import { MEDIA_TYPE } from '../../../services/mail/dns/providers/webhook/protocol.ts'
import { createWebhook } from '../../../services/mail/dns/providers/webhook/webhook.ts'
import { type GuidanceDomain, guidance, spfTerms } from '../../../services/mail/dns/records/guidance.ts'
import { applyDnsPlan, type DnsPlanner } from '../../../services/mail/domains/publishing/apply-dns-plan.ts'
import type { Ledger } from '../../../services/mail/domains/publishing/record-ledger.ts'
import { startDnsServer } from '../../support/dns/authoritative-servers.ts'
import { startExternalDns } from '../../support/dns/external-dns.ts'
import type { FakeCloud } from '../../support/dns/fake-provider-http.ts'
import { createFakeStore, type FakeStore } from '../../support/dns/fake-provider-zones.ts'
import { startWebhookProvider, type WebhookOptions } from '../../support/dns/fake-webhook-provider.ts'
import { interrupted, Killed } from '../../support/dns/interrupted-provider.ts'
import { noBudget } from '../../support/dns/no-budget.ts'

const running: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of running.splice(0)) await stop()
})

const context = (endpoint: string, timeoutMs = 30_000) => ({
  ...{ endpoint, budget: noBudget, now: () => new Date(), counted: () => undefined },
  ...{ timeoutMs, allowPrivate: true },
})
const create = (url: string, zones?: string[]) =>
  createWebhook({ url, bearer: 'good-token', ...(zones ? { zones } : {}) }, context(url))

async function fake(
  options: WebhookOptions = {},
): Promise<{ cloud: FakeCloud; store: FakeStore; provider: DnsProvider }> {
  const store = createFakeStore(['zone.test', 'other.test'], 60)
  const cloud = await startWebhookProvider(store, options)
  running.push(cloud.stop)
  return { cloud, store, provider: create(cloud.url) }
}

const OWNERSHIP = 'heritage=external-dns,external-dns/owner=team,external-dns/resource=ingress/web/web'
/** Values of other programs at the name of the SPF record. */
const NEIGHBOURS = [
  'site-verification=abc',
  OWNERSHIP,
  'a "quoted" \\ text',
  'v=spf1 mx include:old.example -all; comment',
]
const DKIM = 'MIIB'.repeat(98)
const domain: GuidanceDomain = {
  name: 'zone.test',
  verification_token: 'token',
  dkim: [{ selector: 's1', algorithm: 'rsa-sha256', public_key: DKIM, state: 'active' }],
}
const host = { hostname: 'mail.elsewhere.test', addresses: ['192.0.2.10'], spfMechanisms: [] }
const rows = guidance(domain, host)
const planner: DnsPlanner = (state, owned) =>
  planDns({
    ...{ ...state, rows, owned, accepted: new Set(), spfTerms: spfTerms(domain, host) },
    inheritedDmarc: { kind: 'none' },
  })
const removal: DnsPlanner = (state, owned) => planRemoval({ ...state, owned })
const options = { questions: questionsOf(rows), note: 'note', replaced: 'restore' as const }

function memoryLedger(): Ledger & { entries: OwnedRecord[] } {
  const same = (a: OwnedRecord, b: OwnedRecord) => a.row === b.row && a.value === b.value
  const ledger = {
    entries: [] as OwnedRecord[],
    read: async () => ledger.entries,
    async write(added: readonly OwnedRecord[]) {
      ledger.entries = [...ledger.entries.filter(other => !added.some(entry => same(other, entry))), ...added]
    },
    async forget(gone: readonly OwnedRecord[]) {
      ledger.entries = ledger.entries.filter(other => !gone.some(entry => same(other, entry)))
    },
  }
  return ledger
}

const dump = (store: FakeStore) =>
  store.zones
    .flatMap(({ records }) => records.map(({ name, type, value, ttl }) => `${name} ${ttl} ${type} ${value}`))
    .toSorted()

describe.each(['quoted', 'plain', 'strings'] as const)('values %s', txt => {
  const start = async () => {
    const it = await fake({ txt })
    for (const value of NEIGHBOURS.slice(0, txt === 'strings' ? 2 : 3))
      it.store.put('zone.test', { name: 'zone.test', type: 'TXT', value })
    it.store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'v=spf1 mx include:old.example -all' })
    it.store.put('other.test', { name: 'other.test', type: 'TXT', value: 'untouched' })
    return it
  }

  test('a domain is written beside the values of others, kept, and removed without a trace', async () => {
    const { cloud, store, provider } = await start()
    const before = dump(store)
    const ledger = memoryLedger()
    const first = await applyDnsPlan(provider, planner, ledger, options)
    expect([first.stopped, first.items.map(({ status }) => status)]).toEqual([
      undefined,
      ['done', 'done', 'done', 'done', 'skipped'],
    ])
    expect(dump(store)).toEqual(
      [
        ...before.filter(line => !line.includes('v=spf1')),
        'zone.test 60 TXT v=spf1 mx include:old.example ip4:192.0.2.10 -all',
        `s1._domainkey.zone.test 600 TXT v=DKIM1; k=rsa; p=${DKIM}`,
        '_dmarc.zone.test 600 TXT v=DMARC1; p=none',
        '_postwright-challenge.zone.test 600 TXT token',
      ].toSorted(),
    )
    cloud.calls.length = 0
    const again = await applyDnsPlan(provider, planner, ledger, options)
    expect(again.items.every(({ status }) => status === 'kept' || status === 'skipped')).toBe(true)
    expect(cloud.calls).toEqual(['GET /records'])
    await applyDnsPlan(provider, removal, ledger, { ...options, questions: [] })
    expect(dump(store)).toEqual(before)
    expect(ledger.entries).toEqual([])
  })

  test('after an end at any call, the next run completes every record once', async () => {
    for (const how of ['before', 'after', 'cut'] as const)
      for (let at = 1; ; at++) {
        const { store, provider } = await start()
        const ledger = memoryLedger()
        const broken = interrupted(provider, ledger, { at, how })
        const run = applyDnsPlan(broken.provider, planner, broken.ledger, options).catch((error: unknown) => error)
        const ended = await run
        if (ended instanceof Error && !(ended instanceof Killed)) throw ended
        await applyDnsPlan(provider, planner, ledger, options)
        expect(dump(store).filter(line => /v=spf1|DKIM1|DMARC1|token/.test(line))).toHaveLength(4)
        expect(ledger.entries).toHaveLength(4)
        if (broken.calls() < at) break
      }
  })
})

describe('the RFC 2136 provider of external-dns with Knot', () => {
  const start = async (lines: string[]) => {
    const server = await startDnsServer('knot', [{ name: 'zone.test', lines }])
    running.push(server.stop)
    const externalDns = await startExternalDns(['zone.test'], server)
    running.push(externalDns.stop)
    return { server, externalDns, provider: create(externalDns.url, ['zone.test']) }
  }

  test('returns each character-string as a target without quotes; a domain is written and removed all the same', async () => {
    const { server, externalDns, provider } = await start([
      '@ IN TXT "site-verification=abc; with a semicolon"',
      '@ IN TXT "v=spf1 mx include:old.example -all"',
      '@ IN MX 10 mx',
      'www IN CNAME @',
    ])
    const before = server.transfer('zone.test')
    const ledger = memoryLedger()
    const { stopped, items } = await applyDnsPlan(provider, planner, ledger, options)
    expect([stopped, items.map(({ status }) => status)]).toEqual([
      undefined,
      ['done', 'done', 'done', 'done', 'skipped'],
    ])
    const key = (await externalDns.records()).find(({ dnsName }) => dnsName === 's1._domainkey.zone.test')
    expect(key?.targets.map(({ length }) => length)).toEqual([255, 155])
    const written = server.transfer('zone.test').filter(line => /\sTXT\s/.test(line))
    expect(written).toHaveLength(5)
    expect(written.join('\n')).toContain('"v=spf1 mx include:old.example ip4:192.0.2.10 -all"')
    expect(written.join('\n')).toContain('"site-verification=abc; with a semicolon"')
    const again = await applyDnsPlan(provider, planner, ledger, options)
    expect(again.items.every(({ status }) => status === 'kept' || status === 'skipped')).toBe(true)
    await applyDnsPlan(provider, removal, ledger, { ...options, questions: [] })
    expect(server.transfer('zone.test')).toEqual(before)
  })

  test('nothing is written beside a value whose parts cannot be told apart', async () => {
    const { server, provider } = await start([`@ IN TXT "${'x'.repeat(255)}" "rest"`, '@ IN TXT "v=spf1 mx -all"'])
    const before = server.transfer('zone.test')
    const { items } = await applyDnsPlan(provider, planner, memoryLedger(), options)
    expect(items.find(({ row }) => row === 'spf')).toMatchObject({
      status: 'failed',
      message: { code: 'dns_provider.webhook_ambiguous', params: { name: 'zone.test', type: 'TXT' } },
    })
    expect(server.transfer('zone.test')).toEqual(expect.arrayContaining(before))
  })

  test('a name server that refuses the update is reported, and nothing changes', async () => {
    const server = await startDnsServer('knot', [{ name: 'zone.test' }])
    running.push(server.stop)
    const externalDns = await startExternalDns(['zone.test'], { ...server, key: server.strangerKey })
    running.push(externalDns.stop)
    const provider = create(externalDns.url, ['zone.test'])
    const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
    const record = { name: 'x.zone.test', type: 'TXT' as const, value: 'v', ttl: 300 }
    await expect(provider.create(zone, record, '')).rejects.toMatchObject({ kind: 'invalid', code: '500' })
    expect(server.transfer('zone.test').join('\n')).not.toContain('x.zone.test')
  })
})

describe('what belongs to others', () => {
  const record = (name: string, type: 'TXT' | 'A' | 'CNAME' = 'TXT') => ({ name, type, value: '192.0.2.7', ttl: 300 })

  test.each<[string, string, 'A' | 'TXT' | 'CNAME', string, boolean]>([
    ['the default name', 'a-www.zone.test', 'A', 'www.zone.test', true],
    ['another type', 'aaaa-www.zone.test', 'A', 'www.zone.test', false],
    ['a prefix', 'edns.a-www.zone.test', 'A', 'www.zone.test', true],
    ['a suffix', 'a-www-edns.zone.test', 'A', 'www.zone.test', true],
    ['another host', 'a-www2.zone.test', 'A', 'www.zone.test', false],
    ['an old version', 'www.zone.test', 'A', 'www.zone.test', true],
    ['a text', 'txt-_dmarc.zone.test', 'TXT', '_dmarc.zone.test', true],
    ['the zone itself', 'a-zone.test', 'A', 'zone.test', true],
    ['a text beside it', 'zone.test', 'TXT', 'zone.test', false],
  ])('a record that external-dns owns by %s', async (_, owner, type, name, isLocked) => {
    const { store, provider } = await fake()
    store.put('zone.test', { name, type, value: '192.0.2.7' })
    store.put('zone.test', { name: owner, type: 'TXT', value: OWNERSHIP })
    const zone = (await provider.findZone(name)) ?? expect.fail('no zone')
    const stored = (await provider.list(zone, name)).find(({ value }) => value === '192.0.2.7') ?? expect.fail('none')
    expect(stored.locked ?? false).toBe(isLocked)
    const before = dump(store)
    const update = provider.update(zone, stored, { ...record(name, type), value: '192.0.2.8' })
    if (!isLocked) return void expect(await update).toMatchObject({ value: '192.0.2.8' })
    await expect(update).rejects.toMatchObject({ kind: 'locked', sentence: { code: 'dns_provider.foreign_set' } })
    await expect(provider.remove(zone, stored)).rejects.toMatchObject({ kind: 'locked' })
    expect(dump(store)).toEqual(before)
  })

  test('an ownership record is not written', async () => {
    const { store, provider } = await fake()
    store.put('zone.test', { name: 'a-www.zone.test', type: 'TXT', value: OWNERSHIP })
    const zone = (await provider.findZone('zone.test')) ?? expect.fail('no zone')
    const [stored] = await provider.list(zone, 'a-www.zone.test')
    expect(stored).toMatchObject({ locked: true })
    await expect(provider.remove(zone, stored ?? expect.fail('none'))).rejects.toMatchObject({ kind: 'locked' })
    await expect(provider.create(zone, record('a-www.zone.test'), '')).rejects.toMatchObject({ kind: 'locked' })
  })

  test('a set with a routing policy or an owner in its labels is not written', async () => {
    const { store, provider } = await fake({ labels: { '_dmarc.zone.test TXT': { owner: 'team' } } })
    store.put('zone.test', { name: 'zone.test', type: 'TXT', value: 'v=spf1 -all', line: 'eu' })
    store.put('zone.test', { name: '_dmarc.zone.test', type: 'TXT', value: 'v=DMARC1; p=none' })
    const before = dump(store)
    const { items } = await applyDnsPlan(provider, planner, memoryLedger(), options)
    expect(items.find(({ row }) => row === 'spf')).toMatchObject({ status: 'conflict', code: 'locked' })
    expect(dump(store)).toEqual(expect.arrayContaining(before))
  })
})

describe('zones', () => {
  test.each<[string, object | null, string[] | undefined, string, string | undefined]>([
    ['those of the filter', { include: ['zone.test'] }, undefined, 'x.zone.test', 'zone.test'],
    ['names that people read', { include: ['Bücher.test.'] }, undefined, 'x.xn--bcher-kva.test', 'xn--bcher-kva.test'],
    ['another', { include: ['zone.test'] }, undefined, 'x.notzone.test', undefined],
    [
      'one that is excluded',
      { include: ['zone.test'], exclude: ['x.zone.test'] },
      undefined,
      'a.x.zone.test',
      undefined,
    ],
    ['names below only', { include: ['.zone.test'] }, undefined, 'x.zone.test', 'zone.test'],
    ['those of the account', {}, ['zone.test'], 'x.zone.test', 'zone.test'],
    ['no filter', null, ['zone.test'], 'x.zone.test', 'zone.test'],
    ['an expression, which is not run', { regexInclude: '(a+)+$' }, ['zone.test'], 'x.zone.test', 'zone.test'],
    ['the longest', { include: ['zone.test', 'sub.zone.test'] }, undefined, 'x.sub.zone.test', 'sub.zone.test'],
  ])('%s', async (_, filter, zones, name, expected) => {
    const { cloud } = await fake({ filter })
    expect((await create(cloud.url, zones).findZone(name))?.name).toBe(expected)
  })

  test.each<[string, object | null, string[] | undefined, string]>([
    ['a filter without names', {}, undefined, 'dns_provider.webhook_zones'],
    ['an expression', { regexInclude: 'zone' }, undefined, 'dns_provider.webhook_zones'],
    ['a zone outside of it', { include: ['zone.test'] }, ['other.test'], 'dns_provider.webhook_zone_unserved'],
  ])('%s is an error that names what is missing', async (_, filter, zones, code) => {
    const { cloud } = await fake({ filter })
    const error = { kind: 'zone_not_found', sentence: { code } }
    await expect(create(cloud.url, zones).test()).rejects.toMatchObject(error)
  })

  test('the apex of a zone whose filter holds names below it only is not written', async () => {
    const { cloud, store, provider } = await fake({ filter: { include: ['.zone.test'] } })
    const zone: Zone = (await provider.findZone('x.zone.test')) ?? expect.fail('no zone')
    const write = provider.create(zone, { name: 'zone.test', type: 'TXT', value: 'v', ttl: 300 }, '')
    await expect(write).rejects.toMatchObject({ kind: 'zone_not_found' })
    expect([dump(store), cloud.calls.includes('POST /records')]).toEqual([[], false])
  })
})

describe('a provider that answers wrongly', () => {
  type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void
  const json = (response: ServerResponse, value: unknown, status = 200) =>
    void response.writeHead(status, { 'content-type': MEDIA_TYPE }).end(JSON.stringify(value))

  /** A server of the protocol with some answers replaced; remembers what was applied. */
  async function serve(replace: Record<string, Handler>, timeoutMs = 30_000) {
    const applied: unknown[] = []
    const answers: Record<string, Handler> = {
      'GET /': (_, response) => json(response, { include: ['zone.test'] }),
      'GET /records': (_, response) => json(response, []),
      'POST /adjustendpoints': (_, response, body) => json(response, JSON.parse(body)),
      'POST /records': (_, response, body) => {
        applied.push(JSON.parse(body))
        response.writeHead(204).end()
      },
      ...replace,
    }
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      answers[`${request.method} ${request.url}`]?.(request, response, Buffer.concat(chunks).toString())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { applied, provider: createWebhook({ url }, context(url, timeoutMs)) }
  }
  const record = { name: 'x.zone.test', type: 'TXT' as const, value: 'v=DKIM1; p=', ttl: 300 }
  const endpoint = (more: object = {}) => ({ dnsName: 'x.zone.test', recordType: 'TXT', targets: ['"v"'], ...more })
  const write = async (provider: DnsProvider) => {
    const zone = (await provider.findZone('x.zone.test')) ?? expect.fail('no zone')
    return provider.create(zone, record, '')
  }

  test.each<[string, Record<string, Handler>, string, string]>([
    [
      'another media type',
      { 'GET /': (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>') },
      'unavailable',
      'dns_provider.webhook_media_type',
    ],
    [
      'another version',
      {
        'GET /': (_, response) =>
          void response.writeHead(200, { 'content-type': MEDIA_TYPE.replace('=1', '=12') }).end('{}'),
      },
      'unavailable',
      'dns_provider.webhook_media_type',
    ],
    [
      'no JSON',
      { 'GET /records': (_, r) => void r.writeHead(200).end('[') },
      'unavailable',
      'dns_provider.unknown_form',
    ],
    ['an object', { 'GET /records': (_, r) => json(r, { a: 1 }) }, 'unavailable', 'dns_provider.unknown_form'],
    [
      'targets that are no texts',
      { 'GET /records': (_, r) => json(r, [endpoint({ targets: [{ $gt: '' }] })]) },
      'unavailable',
      'dns_provider.unknown_form',
    ],
    ['no answer', { 'GET /records': () => undefined }, 'unavailable', 'dns_provider.timeout'],
    [
      'a slow answer',
      { 'GET /records': (_, response) => void response.writeHead(200).write('[') },
      'unavailable',
      'dns_provider.timeout',
    ],
    [
      'an endless answer',
      {
        'GET /records': (_, response) => {
          response.writeHead(200)
          const more = () => {
            while (!response.destroyed && response.write(' '.repeat(1 << 20)));
          }
          response.on('drain', more)
          more()
        },
      },
      'unavailable',
      'dns_provider.answer_too_long',
    ],
    [
      'more records than are read',
      { 'GET /records': (_, r) => json(r, Array(50_001).fill({})) },
      'unavailable',
      'dns_provider.webhook_too_many',
    ],
    [
      'a set with more values than fit into an answer of DNS',
      { 'GET /records': (_, r) => json(r, [endpoint({ targets: Array(5_001).fill('v') })]) },
      'unavailable',
      'dns_provider.unknown_form',
    ],
    [
      'more than 4 MiB',
      { 'GET /records': (_, r) => json(r, [endpoint({ labels: { note: 'x'.repeat(4 << 20) } })]) },
      'unavailable',
      'dns_provider.answer_too_long',
    ],
    [
      'a filter with more names than are read',
      { 'GET /': (_, r) => json(r, { include: Array(10_001).fill('zone.test') }) },
      'unavailable',
      'dns_provider.unknown_form',
    ],
    [
      'a filter with a name too long for DNS',
      { 'GET /': (_, r) => json(r, { include: ['x'.repeat(513)] }) },
      'unavailable',
      'dns_provider.unknown_form',
    ],
    [
      'a redirect',
      { 'GET /records': (_, r) => void r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end() },
      'unavailable',
      'dns_provider.connection_lost',
    ],
    [
      'an error',
      { 'GET /records': (_, r) => void r.writeHead(500).end() },
      'unavailable',
      'dns_provider.webhook_refused',
    ],
    [
      'an error with a text',
      { 'GET /records': (_, r) => void r.writeHead(500).end(`quota\n\u0000\u001b exceeded${'x'.repeat(9_000)}`) },
      'unavailable',
      'dns_provider.webhook_refused_text',
    ],
    ['not found', { 'GET /': (_, r) => void r.writeHead(404).end() }, 'unavailable', 'dns_provider.webhook_refused'],
    ['no login', { 'GET /': (_, r) => void r.writeHead(401).end() }, 'auth', 'dns_provider.webhook_refused'],
  ])('%s is an error of the account', async (_, replace, kind, code) => {
    const { applied, provider } = await serve(replace, code === 'dns_provider.timeout' ? 700 : 30_000)
    const error = await provider.test().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'DnsProviderError', kind, sentence: { code } })
    expect((error as Error).message).toMatch(/^[^\n\0]{1,400}$/)
    if (code !== 'dns_provider.answer_too_long') await expect(write(provider)).rejects.toThrow()
    expect(applied).toEqual([])
  })

  test.each<[string, (body: object[]) => unknown, string]>([
    ['without the record', () => [], 'dns_provider.webhook_unsupported'],
    ['null', () => null, 'dns_provider.webhook_unsupported'],
    ['with another name', ([one]) => [{ ...one, dnsName: 'www.zone.test' }], 'dns_provider.webhook_unsupported'],
    ['with another type', ([one]) => [{ ...one, recordType: 'A' }], 'dns_provider.webhook_unsupported'],
    ['with another value', ([one]) => [{ ...one, targets: ['"x"'] }], 'dns_provider.webhook_mangled'],
    ['with one value more', ([one]) => [{ ...one, targets: ['"v=DKIM1; p="', '"x"'] }], 'dns_provider.webhook_mangled'],
  ])('an adjusted endpoint %s is not applied', async (_, adjust, code) => {
    const { applied, provider } = await serve({
      'POST /adjustendpoints': (_request, response, body) => json(response, adjust(JSON.parse(body) as object[])),
    })
    await expect(write(provider)).rejects.toMatchObject({ kind: 'invalid', sentence: { code } })
    expect(applied).toEqual([])
  })

  test('endpoints that come with the adjusted one are not applied, settings of the provider are', async () => {
    const { applied, provider } = await serve({
      'POST /adjustendpoints': (_, response, body) => {
        const [one] = JSON.parse(body) as object[]
        const stranger = { dnsName: 'www.zone.test', recordType: 'A', targets: ['192.0.2.1'] }
        json(response, [stranger, { ...one, recordTTL: 900, providerSpecific: [{ name: 'a', value: 'b' }] }])
      },
    })
    await write(provider)
    expect(applied).toEqual([
      {
        create: [
          {
            ...endpoint({ targets: ['"v=DKIM1; p="'], labels: {}, recordTTL: 900 }),
            providerSpecific: [{ name: 'a', value: 'b' }],
          },
        ],
        ...{ updateOld: [], updateNew: [], delete: [] },
      },
    ])
  })

  test('a value that is stored in another form is reported', async () => {
    let reads = 0
    const { provider } = await serve({
      'GET /records': (_, response) => json(response, ++reads > 1 ? [endpoint({ targets: ['v=DKIM1'] })] : []),
    })
    await expect(write(provider)).rejects.toMatchObject({
      kind: 'invalid',
      sentence: { code: 'dns_provider.webhook_mangled', params: { name: 'x.zone.test', type: 'TXT' } },
    })
  })

  test('records of other zones are not seen, whatever their names are', async () => {
    const names = [
      'x.other.test',
      'x.notzone.test',
      '',
      '.',
      'X.ZONE.TEST.',
      'zone.test.other.test',
      `${'a'.repeat(300)}.test`,
    ]
    const { provider } = await serve({
      'GET /records': (_, response) =>
        json(
          response,
          names.map(dnsName => endpoint({ dnsName })),
        ),
    })
    const [state] = await provider.read([{ name: 'x.zone.test', types: ['TXT'] }])
    expect(state?.records).toHaveLength(1)
  })

  test('a list that does not show the new record yet is no error', async () => {
    const { applied, provider } = await serve({})
    await expect(write(provider)).resolves.toMatchObject({ value: record.value })
    expect(applied).toHaveLength(1)
  })

  test('old values that stayed are deleted as the provider wrote them', async () => {
    let reads = 0
    const { applied, provider } = await serve({
      'GET /records': (_, r) =>
        json(r, [endpoint({ targets: ++reads > 2 ? ['v=spf1 mx -all', 'v=spf1 -all'] : ['v=spf1 mx -all'] })]),
    })
    const zone = (await provider.findZone('x.zone.test')) ?? expect.fail('no zone')
    const [before] = await provider.list(zone, 'x.zone.test')
    await provider.update(zone, before ?? expect.fail('none'), { ...record, value: 'v=spf1 -all' })
    expect(applied).toMatchObject([
      { updateOld: [{ targets: ['"v=spf1 mx -all"'] }], updateNew: [{ targets: ['"v=spf1 -all"'] }] },
      { create: [], delete: [{ dnsName: 'x.zone.test', targets: ['v=spf1 mx -all'] }] },
    ])
  })
})
