/** Route 53 beyond what all providers have in common: zones, foreign sets, concurrent changes, and the identity of pods. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { createProvider, type ProviderConfig } from '../../../services/mail/dns/providers/create-provider.ts'
import type { AwsPod } from '../../../services/mail/dns/providers/route53/aws-keys.ts'
import { Route53Client } from '../../../services/mail/dns/providers/route53/client.ts'
import { createRoute53 } from '../../../services/mail/dns/providers/route53/route53.ts'
import type { CredentialsOf } from '../../../services/mail/dns/providers/rules/dns-credentials.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import type { FakeCloud } from '../../support/dns/fake-provider-http.ts'
import { createFakeStore, type FakeStore } from '../../support/dns/fake-provider-zones.ts'
import { hostedZoneId, type Route53Options, startRoute53 } from '../../support/dns/fake-route53.ts'
import { noBudget } from '../../support/dns/no-budget.ts'
import { expectLocked, FOREIGN_EDITS } from '../../support/dns/record-set-expectations.ts'

const running: FakeCloud[] = []
afterEach(async () => {
  for (const cloud of running.splice(0)) await cloud.stop()
})

const KEYS = { access_key_id: 'AKIAGOOD', secret_access_key: 'good/secret+key' }

async function start(options: Route53Options = {}, names = ['zone.test']) {
  const store = createFakeStore(names, 60)
  const cloud = await startRoute53(store, options)
  running.push(cloud)
  const create = (credentials: CredentialsOf<'route53'>, pod: Partial<AwsPod> = {}) =>
    createRoute53(credentials, {
      ...{ endpoint: cloud.url, budget: noBudget, now: () => new Date(), counted: () => undefined, timeoutMs: 30_000 },
      pod: { AWS_STS_URL: cloud.url, ...NO_POD, ...pod },
    })
  return { store, cloud, create, provider: create(KEYS) }
}

const NO_POD = {
  ...{ AWS_ROLE_ARN: undefined, AWS_WEB_IDENTITY_TOKEN_FILE: undefined },
  ...{ AWS_CONTAINER_CREDENTIALS_FULL_URI: undefined, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: undefined },
}
const dump = (store: FakeStore) => JSON.stringify(store.zone('zone.test').records)
const record = (name: string, value = 'v') => ({ name, type: 'TXT' as const, value, ttl: 300 })
const zoneOf = async (provider: ReturnType<typeof createRoute53>) =>
  (await provider.findZone('zone.test')) ?? expect.fail('no zone')

describe('zones', () => {
  test('private zones are not seen, one of the same name included', async () => {
    const { store, provider } = await start({ privateZones: ['zone.test', 'internal.test'] }, [
      'zone.test',
      'other.test',
    ])
    expect(await provider.findZone('x.zone.test')).toMatchObject({
      id: hostedZoneId(store.zone('zone.test')),
      nameServers: ['ns-1.awsdns-01.test', 'ns-2.awsdns-02.test'],
    })
    expect(await provider.findZone('x.internal.test')).toBeUndefined()
    expect((await provider.test()).map(({ name }) => name)).toEqual(['other.test', 'zone.test'])
  })

  test('two public zones of one name need the id, which also replaces the right to list zones', async () => {
    const { store, create, provider } = await start({}, ['zone.test', 'zone.test'])
    await expect(provider.findZone('zone.test')).rejects.toMatchObject({
      kind: 'zone_ambiguous',
      sentence: { code: 'dns_provider.route53_ambiguous', params: { zone: 'zone.test', count: 2 } },
    })
    const hosted_zone_id = hostedZoneId(store.zone('zone.test'))
    const limited = { ...KEYS, access_key_id: 'AKIANOLIST' }
    await expect(create(limited).test()).rejects.toMatchObject({ permission: 'route53:ListHostedZones' })
    const exact = create({ ...limited, hosted_zone_id })
    expect([(await exact.test())[0]?.id, (await exact.findZone('x.zone.test'))?.id]).toEqual([
      hosted_zone_id,
      hosted_zone_id,
    ])
    expect(await exact.findZone('x.other.test')).toBeUndefined()
  })

  test.each([
    ['ZPRIVATE0', 'dns_provider.route53_private'],
    ['ZUNKNOWN', 'dns_provider.refused'],
  ])('the id %s is not accepted', async (hosted_zone_id, code) => {
    const { create } = await start({ privateZones: ['zone.test'] })
    const error = { kind: 'zone_not_found', sentence: { code } }
    await expect(create({ ...KEYS, hosted_zone_id }).test()).rejects.toMatchObject(error)
  })
})

describe('foreign sets', () => {
  test.each([
    ['a routing policy', 'TXT', { line: 'eu-west' }],
    ['an alias of AWS', 'A', { proxied: true }],
  ] as const)('a set with %s is seen, locked and not written', async (_, type, more) => {
    const { store, provider } = await start()
    store.put('zone.test', { name: 'zone.test', type, value: 'v', ...more })
    const zone = await zoneOf(provider)
    const before = dump(store)
    const [stored = expect.fail('none')] = await provider.list(zone, 'zone.test')
    expect(stored).toMatchObject({ type, locked: true })
    const wanted = { ...record('zone.test'), type, value: type === 'A' ? '192.0.2.1' : 'w' }
    await expectLocked(provider, zone, stored, wanted)
    expect(dump(store)).toBe(before)
  })

  test('a wildcard and names with other characters are listed as they are', async () => {
    const { store, provider } = await start()
    store.put('zone.test', { name: '*.zone.test', type: 'TXT', value: 'grüß "dich"' })
    const zone = await zoneOf(provider)
    expect(await provider.list(zone, '*.zone.test')).toMatchObject([{ name: '*.zone.test', value: 'grüß "dich"' }])
  })
})

describe('a change of another program between the list and the write', () => {
  test.each<[string, (store: FakeStore) => void]>([
    ...FOREIGN_EDITS,
    ['another value', store => void Object.assign(store.zone('zone.test').records[0] ?? {}, { value: 'theirs' })],
  ])('%s fails the write, and nothing is lost', async (_, edit) => {
    const { store, cloud, provider } = await start()
    store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value: 'ours' })
    const zone = await zoneOf(provider)
    const [stored = expect.fail('none')] = await provider.list(zone, 'x.zone.test')
    let after = ''
    cloud.before = operation => {
      if (operation !== 'ChangeResourceRecordSets') return
      edit(store)
      after = dump(store)
    }
    await expect(provider.update(zone, stored, record('x.zone.test', 'new'))).rejects.toMatchObject({ kind: 'changed' })
    expect(dump(store)).toBe(after)
  })
})

test('an old form of the refusal of changes, and errors without XML, are read as well', async () => {
  const answers: [number, string, string][] = [
    [
      400,
      '<InvalidChangeBatch><Messages><Message>Tried to create x but it already exists</Message></Messages></InvalidChangeBatch>',
      'changed',
    ],
    [
      400,
      '<InvalidChangeBatch><Messages><Message>RRSet conflicts with other records</Message></Messages></InvalidChangeBatch>',
      'conflict',
    ],
    [400, '<ErrorResponse><Error><Code>PriorRequestNotComplete</Code></Error></ErrorResponse>', 'rate_limited'],
    [400, '<ErrorResponse><Error><Code>InvalidInput</Code><Message>no</Message></Error></ErrorResponse>', 'invalid'],
    [502, '<html>Bad Gateway', 'unknown_outcome'],
    [200, '', 'unknown_outcome'],
  ]
  for (const [status, body, kind] of answers) {
    const server = createServer((_, response) => void response.writeHead(status).end(body)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const client = new Route53Client(async () => ({ id: 'a', secret: 'b' }), {
      ...{ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, budget: noBudget },
      ...{ now: () => new Date(), counted: () => undefined },
    })
    const after = { name: 'x.zone.test', type: 'TXT', ttl: 60, values: ['"v"'] }
    await expect(client.change('Z1', [{ after }], '')).rejects.toMatchObject({ kind })
  }
})

describe('the identity of the pods', () => {
  async function tokenFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'pw-aws-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'token'), 'pod-token\n')
    return join(folder, 'token')
  }
  /** A service for keys; gives the request that it got. */
  async function serve(status: number, body: string) {
    const seen: string[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      seen.push(`${request.method} ${request.headers.authorization ?? ''} ${Buffer.concat(chunks)}`)
      response.writeHead(status).end(body)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
  }
  const STS = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>temporary</SecretAccessKey><SessionToken>session token/=</SessionToken></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
  const identity = { workload_namespace: 'team' }

  test('a role of the service account (IRSA): its token is exchanged once', async () => {
    const { create } = await start()
    const { url, seen } = await serve(200, STS)
    const pod = {
      AWS_STS_URL: url,
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/dns',
      AWS_WEB_IDENTITY_TOKEN_FILE: await tokenFile(),
    }
    const provider = create(identity, pod)
    expect((await provider.test()).map(({ name }) => name)).toEqual(['zone.test'])
    await provider.create(await zoneOf(provider), record('x.zone.test'), '')
    expect(seen).toEqual([expect.stringContaining('RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fdns')])
    expect(seen[0]).toContain('WebIdentityToken=pod-token')
  })

  test('EKS Pod Identity', async () => {
    const { create } = await start()
    const { url, seen } = await serve(
      200,
      JSON.stringify({ AccessKeyId: 'ASIAROLE', SecretAccessKey: 'temporary', Token: 'session token/=' }),
    )
    const pod = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: await tokenFile() }
    expect(await create(identity, pod).findZone('zone.test')).toMatchObject({ name: 'zone.test' })
    expect(seen).toEqual(['GET pod-token '])
  })

  test.each<[string, number, string, string, string]>([
    ['an expired token', 400, error('ExpiredTokenException'), 'auth', 'dns_provider.refused'],
    ['a role that does not trust it', 403, error('AccessDenied'), 'permission', 'dns_provider.route53_permission'],
    ['an answer without keys', 200, '<AssumeRoleWithWebIdentityResponse/>', 'unavailable', 'dns_provider.unknown_form'],
    ['no XML', 200, 'ok', 'unavailable', 'dns_provider.refused'],
  ])('%s is an error of the account', async (_, status, body, kind, code) => {
    const { create } = await start()
    const { url } = await serve(status, body)
    const pod = { AWS_STS_URL: url, AWS_ROLE_ARN: 'arn', AWS_WEB_IDENTITY_TOKEN_FILE: await tokenFile() }
    const refused = create(identity, pod).test()
    await expect(refused).rejects.toMatchObject({
      kind,
      sentence: { code },
      message: expect.not.stringContaining('pod-token'),
    })
  })

  test('a pod without an identity, and a token that cannot be read', async () => {
    const { create } = await start()
    const none = { kind: 'auth', sentence: { code: 'dns_provider.no_pod_identity' } }
    await expect(create(identity).test()).rejects.toMatchObject(none)
    const pod = { AWS_ROLE_ARN: 'arn', AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere/token' }
    const missing = { kind: 'auth', sentence: { code: 'dns_provider.identity_token_missing' } }
    await expect(create(identity, pod).test()).rejects.toMatchObject(missing)
  })

  test.each<[string, string[], boolean]>([
    ['in the list', ['other', 'team'], true],
    ['all', ['*'], true],
    ['not in the list', ['teams', 'tea'], false],
    ['an empty list', [], false],
  ])('a namespace uses it only if an administrator allows it: %s', (_, allowed, isAllowed) => {
    const config = { DNS_WORKLOAD_IDENTITY_NAMESPACES: allowed, ROUTE53_URL: 'http://a' } as unknown as ProviderConfig
    const make = () =>
      createProvider('route53', identity, {
        account: { _id: 'dns_1' },
        ...{ config, metrics: createMetrics('test'), budget: noBudget, now: () => new Date() },
      })
    if (isAllowed) return void expect(make().type).toBe('route53')
    expect(make).toThrow(
      expect.objectContaining({
        kind: 'permission',
        sentence: expect.objectContaining({ code: 'dns_provider.identity_not_allowed' }),
      }),
    )
  })

  function error(code: string): string {
    return `<ErrorResponse><Error><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`
  }
})
