/** DNSProvider: an account at a DNS provider. */
import { z } from 'zod'
import {
  type CelRule,
  defineKind,
  domainName,
  immutable,
  READY_COLUMNS,
  referenceTo,
  statusFields,
  time,
  withRules,
} from './kind.ts'

const only = (member: string, type: string): CelRule => ({
  rule: `!has(self.${member}) || self.type == '${type}'`,
  message: `${member} belongs to type ${type}`,
  fieldPath: `.${member}`,
  reason: 'FieldValueForbidden',
})

const spec = withRules(
  z.object({
    type: immutable(z.enum(['cloudflare', 'aliyun', 'dnspod', 'rfc2136']), 'type').describe(
      'Kind of provider. rfc2136 is any name server that takes signed dynamic updates.',
    ),
    secretRef: referenceTo('Secret').describe(
      'Secret with the credentials. Keys: cloudflare api_token; aliyun access_key_id and access_key_secret; dnspod secret_id and secret_key; rfc2136 key_secret (base64).',
    ),
    cloudflare: z
      .object({
        zoneId: z
          .string()
          .regex(/^[0-9a-f]{32}$/)
          .max(32)
          .optional()
          .describe('Identifier of the zone, for tokens that may not list zones.'),
      })
      .optional()
      .describe('Settings of type cloudflare.'),
    rfc2136: z
      .object({
        server: z
          .string()
          .min(1)
          .max(260)
          .regex(/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/)
          .describe('Primary name server, `host` or `host:port`.'),
        zone: domainName
          .optional()
          .describe('Zone to update; default is the zone that the server reports for the name.'),
        keyName: z
          .string()
          .min(1)
          .max(253)
          .regex(/^[A-Za-z0-9._-]+$/)
          .describe('Name of the TSIG key (RFC 8945).'),
        keyAlgorithm: z
          .enum(['hmac-sha256', 'hmac-sha384', 'hmac-sha512'])
          .default('hmac-sha256')
          .describe('Algorithm of the TSIG key.'),
      })
      .optional()
      .describe('Settings of type rfc2136.'),
  }),
  {
    rule: "self.type != 'rfc2136' || has(self.rfc2136)",
    message: 'type rfc2136 needs the member rfc2136',
    fieldPath: '.rfc2136',
    reason: 'FieldValueRequired',
  },
  only('rfc2136', 'rfc2136'),
  only('cloudflare', 'cloudflare'),
)

const status = z.object({
  ...statusFields,
  accountId: z.string().max(64).optional().describe('Identifier of the DNS account in the API.'),
  zones: z.int().min(0).optional().describe('Number of zones that the credentials can see.'),
  lastValidatedTime: time.optional().describe('When the credentials were last tried.'),
})

/** A DNS account. */
export const DNSProvider = defineKind({
  kind: 'DNSProvider',
  plural: 'dnsproviders',
  shortName: 'dnsp',
  description:
    'An account at a DNS provider, with its credentials in a Secret of the same namespace. MailDomains of this namespace write their records with it.',
  spec,
  status,
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Zones', type: 'integer', jsonPath: '.status.zones', priority: 1 },
    ...READY_COLUMNS,
  ],
})
/** Parsed DNSProvider. */
export type DNSProvider = ReturnType<typeof DNSProvider.parse>
