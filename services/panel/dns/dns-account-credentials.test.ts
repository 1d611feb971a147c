/** The forms ask for exactly what the service takes. */
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

test.each(PROVIDERS)('what is typed for %s is taken, with and without its optional fields', provider => {
  const bare = dnsCredentials.safeParse(accountBody(provider, typed))
  const full = dnsCredentials.safeParse(
    accountBody(provider, { ...typed, zone_id: '0'.repeat(32), zone: 'example.com' }),
  )
  expect([bare.success, full.success]).toEqual([true, true])
})

test('every choice of a field is one that the service takes', () => {
  for (const provider of PROVIDERS)
    for (const { name, choices } of FIELDS[provider])
      for (const choice of choices ?? [])
        expect(dnsCredentials.safeParse(accountBody(provider, { ...typed, [name]: choice })).success).toBe(true)
})

test('a name goes with the credentials, an empty one does not', () => {
  expect(accountBody('aliyun', { ...typed, name: ' ours ' })).toMatchObject({ name: 'ours' })
  expect(accountBody('aliyun', { ...typed, name: ' ' })).not.toHaveProperty('name')
})

test.each(PROVIDERS)('a required field of %s that is empty is refused by its name', provider => {
  for (const { name } of FIELDS[provider].filter(field => !field.optional)) {
    const result = dnsCredentials.safeParse(accountBody(provider, { ...typed, [name]: '' }))
    expect(result.error?.issues[0]?.path).toEqual(['credentials', name])
  }
})
