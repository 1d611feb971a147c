import { describe, expect, test } from 'vitest'
import { type DnsCredentials, dnsCredentials } from './dns-credentials.ts'

/** Credentials that are taken, by provider. */
const GOOD: Readonly<Record<DnsCredentials['provider'], Record<string, string>>> = {
  cloudflare: { api_token: 'cf_token' },
  aliyun: { access_key_id: 'LTAI5t', access_key_secret: 'secret' },
  dnspod: { secret_id: 'AKIDz8', secret_key: 'secret' },
  rfc2136: { server: 'ns1.example.com', key_name: 'update-key.', key_secret: 'c2VjcmV0' },
  webhook: { url: 'https://dns.example.com/hook', bearer: 'token' },
  google: {
    service_account_key: JSON.stringify({
      ...{ type: 'service_account', project_id: 'p', client_email: 'a@p.iam.gserviceaccount.com' },
      private_key: '-----BEGIN PRIVATE KEY-----',
    }),
  },
  azure: {
    ...{ tenant_id: '11111111-2222-3333-4444-555555555555', client_id: '11111111-2222-3333-4444-555555555555' },
    ...{ client_secret: 'secret', subscription_id: '11111111-2222-3333-4444-555555555555' },
  },
  route53: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'secret' },
}
const read = (provider: DnsCredentials['provider'], change: Record<string, unknown> = {}, more: object = {}) =>
  dnsCredentials.safeParse({ provider, credentials: { ...GOOD[provider], ...change }, ...more })
const providers = Object.keys(GOOD) as DnsCredentials['provider'][]

describe.each(providers)('%s', provider => {
  test('takes its credentials, without the line ends that are pasted along', () => {
    const pasted = Object.fromEntries(Object.entries(GOOD[provider]).map(([name, value]) => [name, ` ${value}\r\n`]))
    expect(read(provider, pasted).data?.credentials).toMatchObject(read(provider).data?.credentials ?? {})
    expect(read(provider).data?.credentials).toMatchObject(GOOD[provider])
  })

  test.each(Object.keys(GOOD[provider]).filter(name => name !== 'bearer'))('needs %s', name => {
    for (const value of [undefined, '', ' ', 7]) expect(read(provider, { [name]: value }).success).toBe(false)
    // A header made of it must stay one line.
    for (const value of ['a b', 'a\nb', 'a\u0000b']) expect(read(provider, { [name]: value }).success).toBe(false)
  })

  test('takes nothing else: a typo would be stored and never used', () => {
    expect(read(provider, { apiToken: 'x' }).success).toBe(false)
    expect(read(provider, {}, { more: 1 }).success).toBe(false)
    for (const other of providers.filter(one => one !== provider))
      expect(dnsCredentials.safeParse({ provider, credentials: GOOD[other] }).success).toBe(false)
  })

  test.each([
    ['a name of its own', ' Main account ', 'Main account'],
    ['none', undefined, undefined],
  ])('may have %s', (_, name, expected) => expect(read(provider, {}, { name }).data?.name).toBe(expected))

  test.each(['', ' ', 'x'.repeat(101)])('has no name like %j', name => {
    expect(read(provider, {}, { name }).success).toBe(false)
  })
})

test('an unknown provider is none', () => {
  expect(dnsCredentials.safeParse({ provider: 'namecheap', credentials: {} }).success).toBe(false)
})

test.each([
  ['0123456789abcdef0123456789abcdef', true],
  ['0123456789ABCDEF0123456789ABCDEF', false],
  ['0123456789abcdef0123456789abcde', false],
  ['example.com', false],
])('the Cloudflare zone %s is one: %s', (zone_id, good) => expect(read('cloudflare', { zone_id }).success).toBe(good))

test.each([
  ['ns1.example.com', true],
  ['NS1.Example.com', true],
  ['192.0.2.53', true],
  ['192.0.2.53:5353', true],
  ['[2001:db8::53]', true],
  ['[2001:db8::53]:5353', true],
  ['ns1.example.com:65535', true],
  ['ns1.example.com:65536', false],
  ['ns1.example.com:0', false],
  ['[::1]:0', false],
  ['2001:db8::53', false],
  ['ns1.example.com:', false],
  ['http://ns1.example.com', false],
  ['ns1.example.com/zone', false],
  ['user@ns1.example.com', false],
  ['ns1.example.com:00053', true],
  ['ns1.example.com:000065535', true],
  ['ns1.example.com:065536', false],
])('the server %s is one: %s, and the contract says so', (server, good) => {
  expect(read('rfc2136', { server }).success).toBe(good)
  const { pattern = '' } = dnsCredentials.options[3].shape.credentials.shape.server.meta() ?? {}
  expect(new RegExp(String(pattern), 'u').test(server)).toBe(good)
})

test.each([
  ['example.com.', 'example.com'],
  ['Example.COM', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa'],
  [undefined, undefined],
])('the zone %s is stored as %s', (zone, stored) => {
  const { data } = read('rfc2136', zone === undefined ? {} : { zone })
  expect(data?.provider === 'rfc2136' && data.credentials.zone).toBe(stored)
})

test.each(['', '.', 'a..example', `${'a'.repeat(64)}.example`, `${'a.'.repeat(127)}example`])(
  'no zone is named %s',
  zone => expect(read('rfc2136', { zone }).success).toBe(false),
)

test('a TSIG key has a known algorithm, SHA-256 unless said otherwise, and a secret in base64', () => {
  const keyOf = (change: object) => {
    const { data } = read('rfc2136', { ...change })
    return data?.provider === 'rfc2136' ? data.credentials.key_algorithm : undefined
  }
  expect(keyOf({})).toBe('hmac-sha256')
  expect(keyOf({ key_algorithm: 'hmac-sha512' })).toBe('hmac-sha512')
  expect(keyOf({ key_algorithm: 'hmac-md5' })).toBeUndefined()
  for (const key_secret of ['no base64!', 'abc', 'a-b_', '==']) expect(keyOf({ key_secret })).toBeUndefined()
})

test.each([
  ['http://webhook.dns.svc:8888', true],
  ['https://dns.example.com/hook/', true],
  ['https://[2001:db8::1]:8888/', true],
  ['ftp://dns.example.com', false],
  ['dns.example.com', false],
  ['https://user:secret@dns.example.com', false],
  ['https://dns.example.com/?token=x', false],
  ['https://dns.example.com/#x', false],
  ['https://dns.example.com:99999/', false],
  [`https://dns.example.com/${'x'.repeat(512)}`, false],
])('the address %s of a webhook provider is one: %s', (url, good) =>
  expect(read('webhook', { url }).success).toBe(good),
)

test('the zones of a webhook provider are names', () => {
  const { data } = read('webhook', { zones: [' Example.COM. ', 'bücher.example'] })
  expect(data?.credentials).toMatchObject({ zones: ['example.com', 'xn--bcher-kva.example'] })
  for (const zones of [[], ['a..b'], [''], 'example.com', Array.from({ length: 101 }, (_, n) => `z${n}.example`)])
    expect(read('webhook', { zones }).success).toBe(false)
})
