/** The forms match the schema of the service. */
import { expect, test } from 'vitest'
import { dnsCredentials } from '../../mail/dns/providers/rules/dns-credentials.ts'
import { accountBody, FIELDS, PROVIDERS } from './dns-account-credentials.ts'

const typed = {
  api_token: ' token ',
  zone_id: '',
  access_key_id: 'id',
  access_key_secret: 'secret',
  secret_id: 'id',
  secret_key: 'key',
  server: 'ns1.example.com',
  zone: '',
  key_name: 'key.',
  key_secret: 'c2VjcmV0',
  url: 'https://dns.example.com',
  bearer: '',
  zones: '',
  secret_access_key: 'secret',
  hosted_zone_id: '',
  service_account_key: JSON.stringify({
    ...{ type: 'service_account', project_id: 'p', client_email: 'a@p.iam.gserviceaccount.com' },
    private_key: '-----BEGIN PRIVATE KEY-----',
  }),
  project: '',
  managed_zone: '',
  tenant_id: '11111111-2222-3333-4444-555555555555',
  client_id: '11111111-2222-3333-4444-555555555555',
  client_secret: 'secret',
  subscription_id: '11111111-2222-3333-4444-555555555555',
  resource_group: '',
}

test.each(PROVIDERS)('the service accepts the fields of %s, with and without optional ones', provider => {
  const bare = dnsCredentials.safeParse(accountBody(provider, typed))
  const full = dnsCredentials.safeParse(
    accountBody(provider, {
      ...{ ...typed, zone_id: '0'.repeat(32), zone: 'example.com' },
      ...{ bearer: 'token', zones: 'example.com, example.org', hosted_zone_id: 'Z2FDTNDATAQYW2' },
      ...{ project: 'mail-project', managed_zone: 'example-com', resource_group: 'dns' },
    }),
  )
  expect([bare.success, full.success]).toEqual([true, true])
})

test('the service accepts every choice of a field', () => {
  for (const provider of PROVIDERS)
    for (const { name, choices } of FIELDS[provider])
      for (const choice of choices ?? [])
        expect(dnsCredentials.safeParse(accountBody(provider, { ...typed, [name]: choice })).success).toBe(true)
})

test('several values are separated by commas or blanks', () => {
  expect(accountBody('webhook', { ...typed, zones: ' a.example,b.example  c.example, ' }).credentials).toEqual({
    ...{ url: 'https://dns.example.com', zones: ['a.example', 'b.example', 'c.example'] },
  })
})

test('a name is sent with the credentials, an empty one is omitted', () => {
  expect(accountBody('aliyun', { ...typed, name: ' ours ' })).toMatchObject({ name: 'ours' })
  expect(accountBody('aliyun', { ...typed, name: ' ' })).not.toHaveProperty('name')
})

test.each(PROVIDERS)('an empty required field of %s is rejected by its name', provider => {
  for (const { name } of FIELDS[provider].filter(field => !field.optional)) {
    const result = dnsCredentials.safeParse(accountBody(provider, { ...typed, [name]: '' }))
    expect(result.error?.issues[0]?.path).toEqual(['credentials', name])
  }
})
