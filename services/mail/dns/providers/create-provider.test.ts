import { describe, expect, test } from 'vitest'
import { noBudget } from '../../../../test/support/dns/no-budget.ts'
import { createMetrics } from '../../../platform/observability/metrics.ts'
import { addressOf, createProvider, type ProviderAccount, webhookAccess } from './create-provider.ts'
import { dnsCredentials } from './rules/dns-credentials.ts'

describe('the address of an update server', () => {
  const open = { DNS_PORT: 53, DNS_ALLOW_PRIVATE: true }
  const closed = { DNS_PORT: 53, DNS_ALLOW_PRIVATE: false }
  test.each([
    ['192.0.2.1', open, { ip: '192.0.2.1', port: 53 }],
    ['127.0.0.1:5353', open, { ip: '127.0.0.1', port: 5353 }],
    ['[::1]:5353', open, { ip: '::1', port: 5353 }],
    ['[2606:4700::1111]', closed, { ip: '2606:4700::1111', port: 53 }],
    ['8.8.8.8:5300', closed, { ip: '8.8.8.8', port: 5300 }],
  ])('%s is %o', async (server, config, address) => expect(await addressOf(server, config)).toEqual(address))

  test.each(['127.0.0.1', '10.0.0.53', '169.254.169.254', '[::1]:53', 'localhost'])(
    'private ones are refused: %s',
    async server => {
      await expect(addressOf(server, closed)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('private'),
      })
    },
  )
})

/** Settings of the identity of pods. */
const CLOUD = {
  ...{ DNS_WORKLOAD_IDENTITY_NAMESPACES: ['team'], ROUTE53_URL: 'http://d', AWS_STS_URL: 'http://e' },
  ...{ AZURE_MANAGEMENT_URL: 'http://i', AZURE_AUTHORITY_HOST: 'http://j', AZURE_TENANT_ID: undefined },
  ...{ AZURE_CLIENT_ID: undefined, AZURE_FEDERATED_TOKEN_FILE: undefined },
  ...{ GOOGLE_DNS_URL: 'http://f', GOOGLE_TOKEN_URL: 'http://g', GCE_METADATA_HOST: 'h' },
  ...{ AWS_ROLE_ARN: undefined, AWS_WEB_IDENTITY_TOKEN_FILE: undefined },
  ...{ AWS_CONTAINER_CREDENTIALS_FULL_URI: undefined, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: undefined },
}

const OF_PERSON: ProviderAccount = { _id: 'dns_1' }
const OF_TEAM: ProviderAccount = { _id: 'dns_2', managed_by: { namespace: 'team' } }
const OF_CLUSTER: ProviderAccount = { _id: 'dns_3', shared: { domains: ['*'] }, managed_by: {} }

test.each<[string, string[], boolean]>([
  ['http://hook.dns.svc:8888/', [], false],
  ['http://hook.dns.svc:8888/', ['hook.dns.svc'], true],
  ['http://HOOK.dns.svc:8888/', ['Hook.dns.svc:8888'], true],
  ['http://hook.dns.svc:8889/', ['hook.dns.svc:8888'], false],
  ['http://hook.dns.svc/', ['*.svc'], true],
  ['http://evilsvc/', ['*.svc'], false],
  ['http://svc/', ['*.svc'], false],
  ['http://hook.dns.svc.evil.example/', ['*.svc', 'hook.dns.svc'], false],
  ['http://[fd00::1]:8888/', ['[fd00::1]:8888'], true],
])('%s with the list %j may be private: %s', (url, DNS_PRIVATE_WEBHOOKS, allowPrivate) => {
  expect(webhookAccess(url, { DNS_PRIVATE_WEBHOOKS }, OF_CLUSTER).allowPrivate).toBe(allowPrivate)
})

test.each<[string, ProviderAccount, string, boolean]>([
  ['of a person', OF_PERSON, 'hook.dns.svc', false],
  ['of a person', OF_PERSON, '/hook.dns.svc', false],
  ['of a person', OF_PERSON, 'team/hook.dns.svc', false],
  ['of a person', OF_PERSON, '*/hook.dns.svc', true],
  ['of the namespace', OF_TEAM, 'hook.dns.svc', false],
  ['of the namespace', OF_TEAM, 'team/hook.dns.svc', true],
  ['of the namespace', OF_TEAM, 'Team/HOOK.dns.svc:8888', true],
  ['of the namespace', OF_TEAM, 'team/*.svc', true],
  ['of another namespace', OF_TEAM, 'teams/hook.dns.svc', false],
  ['of the namespace', OF_TEAM, '*/hook.dns.svc', true],
  ['of the cluster', OF_CLUSTER, 'team/hook.dns.svc', true],
])('an account %s (%j) with the entry %s may use a private provider: %s', (_, account, entry, allowPrivate) => {
  const config = { DNS_PRIVATE_WEBHOOKS: [entry] }
  expect(webhookAccess('http://hook.dns.svc:8888/', config, account).allowPrivate).toBe(allowPrivate)
})

test.each([
  ['http://8.8.8.8/', 'dns_provider.webhook_tls'],
  ['https://127.0.0.1:1/', 'dns_provider.private_host'],
  ['https://169.254.169.254/', 'dns_provider.private_host'],
  ['https://localhost:1/', 'dns_provider.private_host'],
  ['https://[::ffff:10.0.0.1]/', 'dns_provider.private_host'],
])('a webhook at %s is not called, also where name servers may be private', async (url, code) => {
  const config = { DNS_PORT: 53, DNS_ALLOW_PRIVATE: true, DNS_PRIVATE_WEBHOOKS: [], ...CLOUD }
  const endpoints = { CLOUDFLARE_API_URL: 'http://a', ALIYUN_DNS_ENDPOINT: 'http://b', DNSPOD_ENDPOINT: 'http://c' }
  const deps = {
    ...{ config: { ...config, ...endpoints }, metrics: createMetrics('test') },
    ...{ budget: noBudget, now: () => new Date() },
  }
  const call = createProvider('webhook', { url }, { ...deps, account: OF_CLUSTER }).test()
  await expect(call).rejects.toMatchObject({ kind: 'unavailable', sentence: { code } })
})

test.each([
  ['cloudflare', { api_token: 'x' }],
  ['aliyun', { access_key_id: 'x', access_key_secret: 'y' }],
  ['dnspod', { secret_id: 'x', secret_key: 'y' }],
  ['rfc2136', { server: 'ns.example', key_name: 'k', key_algorithm: 'hmac-sha256', key_secret: 'eA==' }],
  ['webhook', { url: 'https://dns.example' }],
  ['route53', { access_key_id: 'AKID', secret_access_key: 'x' }],
  ['google', { service_account_key: '{}' }],
  ['azure', { tenant_id: 'a', client_id: 'b', client_secret: 'c', subscription_id: 'd' }],
] as const)('%s is made of its credentials without a call', (type, credentials) => {
  const config = {
    CLOUDFLARE_API_URL: 'http://a',
    ALIYUN_DNS_ENDPOINT: 'http://b',
    DNSPOD_ENDPOINT: 'http://c',
    DNS_PORT: 53,
    DNS_ALLOW_PRIVATE: false,
    DNS_PRIVATE_WEBHOOKS: [],
    ...CLOUD,
  }
  const deps = { config, metrics: createMetrics('test'), budget: noBudget, now: () => new Date() }
  expect(createProvider(type, credentials, { ...deps, account: OF_TEAM }).type).toBe(type)
})

describe('credentials', () => {
  test('are trimmed, and algorithms have a default', () => {
    expect(dnsCredentials.parse({ provider: 'cloudflare', credentials: { api_token: ' abc\n' } }).credentials).toEqual({
      api_token: 'abc',
    })
    const given = { provider: 'rfc2136', credentials: { server: 'ns.example', key_name: 'k', key_secret: 'eA==' } }
    expect(dnsCredentials.parse(given).credentials).toMatchObject({ key_algorithm: 'hmac-sha256' })
  })
  test.each([
    ['a zone with the dot of its zone file', { zone: ' Example.COM. ' }, { zone: 'example.com' }],
    ['an international zone', { zone: 'Bücher.example' }, { zone: 'xn--bcher-kva.example' }],
    ['a reverse zone without a class', { zone: '0/25.2.0.192.in-addr.arpa' }, { zone: '0/25.2.0.192.in-addr.arpa' }],
    ['a key with a dot and capitals', { key_name: 'Update-Key.example.' }, { key_name: 'Update-Key.example.' }],
    ['a secret with its line end', { key_secret: ' eA==\n' }, { key_secret: 'eA==' }],
    ['the last port', { server: 'ns.example:65535' }, { server: 'ns.example:65535' }],
    ['an address with a port', { server: '[2001:db8::1]:5353' }, { server: '[2001:db8::1]:5353' }],
  ])('as pasted: %s', (_, more, expected) => {
    const credentials = { server: 'ns.example', key_name: 'k', key_secret: 'eA==', ...more }
    expect(dnsCredentials.parse({ provider: 'rfc2136', credentials }).credentials).toMatchObject(expected)
  })
  test.each([
    ['port 0', { server: 'ns.example:0' }],
    ['a port above all', { server: 'ns.example:65536' }],
    ['a key name with an empty label', { key_name: 'a..b' }],
    ['a key name with a label of 64', { key_name: `${'k'.repeat(64)}.example` }],
    ['a zone with an empty label', { zone: 'a..example' }],
    ['a zone with a label of 64', { zone: `${'z'.repeat(64)}.example` }],
    ['an empty zone', { zone: ' . ' }],
  ])('%s is refused', (_, more) => {
    const credentials = { server: 'ns.example', key_name: 'k', key_secret: 'eA==', ...more }
    expect(dnsCredentials.safeParse({ provider: 'rfc2136', credentials }).success).toBe(false)
  })
  test.each([
    ['the global API key', { provider: 'cloudflare', credentials: { email: 'a@b.c', api_key: 'x' } }],
    ['a token with a line end inside', { provider: 'cloudflare', credentials: { api_token: 'a\nb' } }],
    [
      'MD5',
      {
        provider: 'rfc2136',
        credentials: { server: 'ns.example', key_name: 'k', key_algorithm: 'hmac-md5', key_secret: 'eA==' },
      },
    ],
    [
      'a secret that is no base64',
      { provider: 'rfc2136', credentials: { server: 'ns.example', key_name: 'k', key_secret: 'ä' } },
    ],
    [
      'a server with a path',
      { provider: 'rfc2136', credentials: { server: 'http://ns.example/', key_name: 'k', key_secret: 'eA==' } },
    ],
    ['another provider', { provider: 'namecheap', credentials: {} }],
    [
      'an object in place of text',
      { provider: 'aliyun', credentials: { access_key_id: { $gt: '' }, access_key_secret: 'x' } },
    ],
  ])('%s is refused', (_, given) => expect(dnsCredentials.safeParse(given).success).toBe(false))
})
