/** Credential fields of each DNS provider, and the request body. */
import type { Input } from '../api/client.ts'

type Body = Input<'createDnsAccountOperation'>['body']

export type Provider = Body['provider']

export const PROVIDERS = ['cloudflare', 'aliyun', 'dnspod', 'rfc2136'] as const satisfies readonly Provider[]

export interface Field {
  name:
    | 'api_token'
    | 'zone_id'
    | 'access_key_id'
    | 'access_key_secret'
    | 'secret_id'
    | 'secret_key'
    | 'server'
    | 'zone'
    | 'key_name'
    | 'key_algorithm'
    | 'key_secret'
  secret?: true
  optional?: true
  /** Makes the field a select; the first value is the default. */
  choices?: readonly string[]
}

export const FIELDS: Record<Provider, readonly Field[]> = {
  cloudflare: [
    { name: 'api_token', secret: true },
    { name: 'zone_id', optional: true },
  ],
  aliyun: [{ name: 'access_key_id' }, { name: 'access_key_secret', secret: true }],
  dnspod: [{ name: 'secret_id' }, { name: 'secret_key', secret: true }],
  rfc2136: [
    { name: 'server' },
    { name: 'zone', optional: true },
    { name: 'key_name' },
    {
      name: 'key_algorithm',
      choices: ['hmac-sha256', 'hmac-sha512', 'hmac-sha384', 'hmac-sha224', 'hmac-sha1'],
      optional: true,
    },
    { name: 'key_secret', secret: true },
  ],
}

/** Omits the name and optional fields if they are empty. */
export function accountBody(provider: Provider, values: Readonly<Record<string, string>>): Body {
  const name = values.name?.trim()
  const entries = FIELDS[provider]
    .map(({ name, optional }): [string, string, boolean] => [name, values[name]?.trim() ?? '', optional ?? false])
    .filter(([, value, optional]) => value !== '' || !optional)
    .map(([name, value]) => [name, value])
  // A test proves that the fields of a provider match its schema, which the compiler cannot derive.
  return { provider, ...(name ? { name } : {}), credentials: Object.fromEntries(entries) } as Body
}
