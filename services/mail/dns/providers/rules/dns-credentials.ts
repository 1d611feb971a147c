/** The credentials of each DNS provider, validated at the boundary. Values are trimmed: tokens are pasted with line ends. */

import { z } from 'zod'
import { reason } from '../../../../platform/sentences/issue-reason.ts'
import { canonicalName, isDnsName } from '../../records/names.ts'
import { parseServiceAccountKey } from './service-account-key.ts'

const text = (max = 512) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[!-~]+$/, reason('field.printable_ascii'))

/** What people may add: a name of their own for the account. */
const name = z.string().trim().min(1).max(100).meta({ pattern: '\\S' }).optional()

/** 1 to 65535. */
const PORT = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])'

/** Zone files and DNS panels show it with a trailing dot and with international characters. */
const zoneName = z
  .string()
  .trim()
  .overwrite(canonicalName)
  .max(253)
  .refine(isDnsName, reason('field.dns_name'))
  .meta({ format: 'idn-hostname' })

/** Without login, query and fragment: paths are appended. */
const httpUrl = z
  .string()
  .trim()
  .max(512)
  .regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, reason('field.http_url'))
  .refine(url => URL.canParse(url), reason('field.http_url'))

/** Identifies a public hosted zone, for keys that may not list zones. */
const hostedZoneId = z
  .string()
  .trim()
  .regex(/^Z[A-Z0-9]{1,31}$/, reason('field.hosted_zone_id'))

/** The namespace of a resource that uses the cloud identity of this installation's pods. */
const workload_namespace = z.string().min(1).max(63)

/** The providers whose credentials are the same in the API and in the database. */
const PROVIDERS = [
  z.strictObject({
    provider: z.literal('cloudflare'),
    name,
    credentials: z.strictObject({
      /** An API token; the global API key gives power over the whole account and is not taken. */
      api_token: text(),
      zone_id: z
        .string()
        .trim()
        .regex(/^[0-9a-f]{32}$/, 'is 32 hexadecimal digits')
        .optional(),
    }),
  }),
  z.strictObject({
    provider: z.literal('aliyun'),
    name,
    credentials: z.strictObject({ access_key_id: text(128), access_key_secret: text(128) }),
  }),
  z.strictObject({
    provider: z.literal('dnspod'),
    name,
    credentials: z.strictObject({ secret_id: text(128), secret_key: text(128) }),
  }),
  z.strictObject({
    provider: z.literal('rfc2136'),
    name,
    credentials: z.strictObject({
      server: z
        .string()
        .trim()
        .regex(/^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z.-]+)(:[0-9]{1,9})?$/, reason('field.host'))
        .refine(hasPort, 'has a port from 1 to 65535')
        .meta({ pattern: `^(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z.-]+)(:0{0,4}${PORT})?$` }),
      zone: zoneName.optional(),
      key_name: text(254).refine(isDnsName, reason('field.dns_name')).meta({ format: 'hostname' }),
      key_algorithm: z
        .enum(['hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'])
        .default('hmac-sha256'),
      key_secret: z
        .string()
        .trim()
        .meta({ format: 'byte', contentEncoding: 'base64', minLength: 1, maxLength: 512 })
        .pipe(z.base64().min(1).max(512)),
    }),
  }),
  z.strictObject({
    provider: z.literal('webhook'),
    name,
    credentials: z.strictObject({
      /** Base address of a provider that speaks the webhook protocol of external-dns. */
      url: httpUrl,
      /** Sent as `Authorization: Bearer …`, for providers that have a proxy in front of them. */
      bearer: text(4096).optional(),
      /** Needed where the provider serves every domain; otherwise its domain filter names the zones. */
      zones: z.array(zoneName).min(1).max(100).optional(),
    }),
  }),
] as const

const route53 = z.strictObject({
  access_key_id: text(128),
  secret_access_key: text(128),
  hosted_zone_id: hostedZoneId.optional(),
})

/** Settings of Google Cloud DNS that go with a key and with the identity of the pods. */
const googleSettings = {
  /** Default: the project of the identity. */
  project: z
    .string()
    .trim()
    .regex(/^[a-z0-9.:-]{1,100}$/, reason('field.google_project'))
    .optional(),
  /** The managed zone to write, where several have the same name. */
  managed_zone: z
    .string()
    .trim()
    .regex(/^[a-z0-9-]{1,63}$/, reason('field.managed_zone'))
    .optional(),
}
const google = z.strictObject({
  /** The JSON file of a service account's key. */
  service_account_key: z
    .string()
    .trim()
    .min(1)
    .max(8192)
    .refine(text => parseServiceAccountKey(text) !== undefined, reason('field.service_account_key'))
    .meta({ format: 'json' }),
  ...googleSettings,
})

const guid = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, reason('field.guid'))

/** Settings of Azure DNS that go with a secret and with the identity of the pods. */
const azureSettings = {
  subscription_id: guid,
  /** For identities that have rights in one group only. */
  resource_group: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_().-]{0,89}[A-Za-z0-9_()-]$/, reason('field.resource_group'))
    .optional(),
}
const azure = z.strictObject({ tenant_id: guid, client_id: guid, client_secret: text(256), ...azureSettings })

/** One schema a provider; the key of the union is `provider`. */
export const dnsCredentials = z.discriminatedUnion('provider', [
  ...PROVIDERS,
  z.strictObject({ provider: z.literal('route53'), name, credentials: route53 }),
  z.strictObject({ provider: z.literal('google'), name, credentials: google }),
  z.strictObject({ provider: z.literal('azure'), name, credentials: azure }),
])

/** Credentials as they are stored: those of the API, and the identity of the pods, which resources only can use. */
export const storedCredentials = z.discriminatedUnion('provider', [
  ...PROVIDERS,
  z.strictObject({
    provider: z.literal('route53'),
    name,
    credentials: z.union([route53, z.strictObject({ workload_namespace, hosted_zone_id: hostedZoneId.optional() })]),
  }),
  z.strictObject({
    provider: z.literal('google'),
    name,
    credentials: z.union([google, z.strictObject({ workload_namespace, ...googleSettings })]),
  }),
  z.strictObject({
    provider: z.literal('azure'),
    name,
    credentials: z.union([azure, z.strictObject({ workload_namespace, ...azureSettings })]),
  }),
])

function hasPort(server: string): boolean {
  const port = /:(\d+)$/.exec(server)?.[1]
  return port === undefined || (Number(port) > 0 && Number(port) < 65_536)
}

/** A provider with its credentials. */
export type DnsCredentials = DistributiveOmit<z.output<typeof storedCredentials>, 'name'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
/** The credentials of one provider. */
export type CredentialsOf<P extends DnsCredentials['provider']> = Extract<
  DnsCredentials,
  { provider: P }
>['credentials']
