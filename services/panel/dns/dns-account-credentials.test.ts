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
}

test.each(PROVIDERS)('the service accepts the fields of %s, with and without optional ones', provider => {
  const bare = dnsCredentials.safeParse(accountBody(provider, typed))
  const full = dnsCredentials.safeParse(
    accountBody(provider, { ...typed, zone_id: '0'.repeat(32), zone: 'example.com' }),
  )
  expect([bare.success, full.success]).toEqual([true, true])
})

test('the service accepts every choice of a field', () => {
  for (const provider of PROVIDERS)
    for (const { name, choices } of FIELDS[provider])
      for (const choice of choices ?? [])
        expect(dnsCredentials.safeParse(accountBody(provider, { ...typed, [name]: choice })).success).toBe(true)
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
