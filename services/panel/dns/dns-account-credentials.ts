/** Credential fields of each DNS provider, and the request body. */
import type { Input } from '../api/client.ts'

type Body = Input<'createDnsAccountOperation'>['body']

export type Provider = Body['provider']

export const PROVIDERS = [
  'cloudflare',
  'aliyun',
  'dnspod',
  'rfc2136',
  'webhook',
  'route53',
  'google',
  'azure',
] as const satisfies readonly Provider[]

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
    | 'url'
    | 'bearer'
    | 'zones'
    | 'secret_access_key'
    | 'hosted_zone_id'
    | 'service_account_key'
    | 'project'
    | 'managed_zone'
    | 'tenant_id'
    | 'client_id'
    | 'client_secret'
    | 'subscription_id'
    | 'resource_group'
  secret?: true
  optional?: true
  /** Several values, separated by commas or blanks. */
  list?: true
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
  route53: [
    { name: 'access_key_id' },
    { name: 'secret_access_key', secret: true },
    { name: 'hosted_zone_id', optional: true },
  ],
  google: [
    { name: 'service_account_key', secret: true },
    { name: 'project', optional: true },
    { name: 'managed_zone', optional: true },
  ],
  azure: [
    { name: 'tenant_id' },
    { name: 'client_id' },
    { name: 'client_secret', secret: true },
    { name: 'subscription_id' },
    { name: 'resource_group', optional: true },
  ],
  webhook: [
    { name: 'url' },
    { name: 'bearer', secret: true, optional: true },
    { name: 'zones', optional: true, list: true },
  ],
}

/** Omits the name and optional fields if they are empty. */
export function accountBody(provider: Provider, values: Readonly<Record<string, string>>): Body {
  const name = values.name?.trim()
  const entries = FIELDS[provider]
    .map(({ name, optional = false, list = false }) => [name, values[name]?.trim() ?? '', optional, list] as const)
    .filter(([, value, optional]) => value !== '' || !optional)
    .map(([name, value, , list]) => [name, list ? value.split(/[\s,]+/).filter(Boolean) : value])
  // A test proves that the fields of a provider match its schema, which the compiler cannot derive.
  return { provider, ...(name ? { name } : {}), credentials: Object.fromEntries(entries) } as Body
}
