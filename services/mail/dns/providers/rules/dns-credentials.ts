/** The credentials of each DNS provider, validated at the boundary. Values are trimmed: tokens are pasted with line ends. */

import { z } from 'zod'
import { reason } from '../../../../platform/sentences/issue-reason.ts'
import { canonicalName, isDnsName } from '../../records/names.ts'

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

/** One schema a provider; the key of the union is `provider`. */
export const dnsCredentials = z.discriminatedUnion('provider', [
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
      // Zone files and DNS panels show it with a trailing dot and with international characters.
      zone: z
        .string()
        .trim()
        .overwrite(canonicalName)
        .max(253)
        .refine(isDnsName, reason('field.dns_name'))
        .meta({ format: 'idn-hostname' })
        .optional(),
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
])

function hasPort(server: string): boolean {
  const port = /:(\d+)$/.exec(server)?.[1]
  return port === undefined || (Number(port) > 0 && Number(port) < 65_536)
}

/** A provider with its credentials. */
export type DnsCredentials = DistributiveOmit<z.output<typeof dnsCredentials>, 'name'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
/** The credentials of one provider. */
export type CredentialsOf<P extends DnsCredentials['provider']> = Extract<
  DnsCredentials,
  { provider: P }
>['credentials']
