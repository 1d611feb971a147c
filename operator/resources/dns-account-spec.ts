/** The parts that the kinds of DNS accounts share: DNSProvider and ClusterDNSProvider. */
import { z } from 'zod'
import {
  type CelRule,
  domainName,
  immutable,
  type PrinterColumn,
  READY_COLUMNS,
  setOf,
  statusFields,
  time,
} from './kind.ts'

const only = (member: string, type: string): CelRule => ({
  rule: `!has(self.${member}) || self.type == '${type}'`,
  message: `${member} belongs to type ${type}`,
  fieldPath: `.${member}`,
  reason: 'FieldValueForbidden',
})

const guid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/)
  .max(36)

/**
 * Fields of every DNS account: its type, credentials and settings. `secretRef` and the text about workloadIdentity depend on
 * where the resource lives.
 */
export function dnsAccountFields<T extends z.ZodObject>(secretRef: T, identity: string) {
  return {
    type: immutable(
      z.enum(['cloudflare', 'aliyun', 'dnspod', 'rfc2136', 'webhook', 'route53', 'google', 'azure']),
      'type',
    ).describe(
      'Kind of provider. rfc2136 is any name server that takes signed dynamic updates; webhook any provider with the webhook protocol of external-dns.',
    ),
    secretRef: secretRef
      .optional()
      .describe(
        'Secret with the credentials. Keys: cloudflare api_token; aliyun access_key_id and access_key_secret; dnspod secret_id and secret_key; rfc2136 key_secret (base64); webhook bearer (optional, as the Secret is); route53 access_key_id and secret_access_key; google service_account_key (the JSON file); azure client_secret.',
      ),
    workloadIdentity: z
      .boolean()
      .optional()
      .describe(
        `Instead of a Secret: uses the cloud identity of the pods of Postwright (EKS: IAM roles for service accounts, or Pod Identity; GKE: Workload Identity Federation; AKS: Azure Workload Identity). ${identity}; types: route53, google, azure.`,
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
    route53: z
      .object({
        hostedZoneId: z
          .string()
          .regex(/^Z[A-Z0-9]{1,31}$/)
          .max(32)
          .optional()
          .describe('Identifier of the public hosted zone, for keys that may not list zones.'),
      })
      .optional()
      .describe('Settings of type route53.'),
    google: z
      .object({
        project: z
          .string()
          .regex(/^[a-z0-9.:-]{1,100}$/)
          .max(100)
          .optional()
          .describe('Project of the zones; default is that of the identity.'),
        managedZone: z
          .string()
          .regex(/^[a-z0-9-]{1,63}$/)
          .max(63)
          .optional()
          .describe('Name of the managed zone, where several are for the same domain.'),
      })
      .optional()
      .describe('Settings of type google.'),
    azure: z
      .object({
        subscriptionId: guid.describe('Subscription of the zones.'),
        resourceGroup: z
          .string()
          .regex(/^[A-Za-z0-9_().-]{0,89}[A-Za-z0-9_()-]$/)
          .max(90)
          .optional()
          .describe('Resource group of the zones, for identities that have rights there only.'),
        tenantId: guid.optional().describe('Tenant of the app registration; not with workloadIdentity.'),
        clientId: guid.optional().describe('Client id of the app registration; not with workloadIdentity.'),
      })
      .optional()
      .describe('Settings of type azure.'),
    webhook: z
      .object({
        url: z
          .string()
          .max(512)
          .regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/)
          .describe(
            'Address of the provider, as in `http://external-dns-webhook.dns.svc:8888`. A private address or plain HTTP is allowed where the setting DNS_PRIVATE_WEBHOOKS lists the host for this account.',
          ),
        zones: setOf(domainName, 100)
          .min(1)
          .optional()
          .describe('Zones to write, where the domain filter of the provider does not name them.'),
      })
      .optional()
      .describe('Settings of type webhook.'),
  }
}

/** Rules over {@link dnsAccountFields}: which fields a type needs, and which belong to another type. */
export const DNS_ACCOUNT_RULES: readonly CelRule[] = [
  {
    rule: "self.type != 'rfc2136' || has(self.rfc2136)",
    message: 'type rfc2136 needs the member rfc2136',
    fieldPath: '.rfc2136',
    reason: 'FieldValueRequired',
  },
  {
    rule: "self.type != 'webhook' || has(self.webhook)",
    message: 'type webhook needs the member webhook',
    fieldPath: '.webhook',
    reason: 'FieldValueRequired',
  },
  {
    rule: "self.type == 'webhook' || has(self.secretRef) || (has(self.workloadIdentity) && self.workloadIdentity)",
    message: 'this type needs secretRef',
    fieldPath: '.secretRef',
    reason: 'FieldValueRequired',
  },
  {
    rule: "!has(self.workloadIdentity) || !self.workloadIdentity || (self.type in ['route53', 'google', 'azure'] && !has(self.secretRef))",
    message: 'workloadIdentity is for the types route53, google and azure, instead of secretRef',
    fieldPath: '.workloadIdentity',
    reason: 'FieldValueForbidden',
  },
  only('route53', 'route53'),
  only('google', 'google'),
  {
    rule: "self.type != 'azure' || has(self.azure)",
    message: 'type azure needs the member azure',
    fieldPath: '.azure',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!has(self.azure) || (has(self.workloadIdentity) && self.workloadIdentity) == (!has(self.azure.tenantId) && !has(self.azure.clientId))',
    message: 'azure needs tenantId and clientId with a Secret, and neither with workloadIdentity',
    fieldPath: '.azure',
    reason: 'FieldValueInvalid',
  },
  only('azure', 'azure'),
  only('webhook', 'webhook'),
  only('rfc2136', 'rfc2136'),
  only('cloudflare', 'cloudflare'),
]

/** Status of a DNS account. */
export const dnsAccountStatus = z.object({
  ...statusFields,
  accountId: z.string().max(64).optional().describe('Identifier of the DNS account in the API.'),
  zones: z.int().min(0).optional().describe('Number of zones that the credentials can see.'),
  lastValidatedTime: time.optional().describe('When the credentials were last tried.'),
})

/** Columns of a DNS account. */
export const DNS_ACCOUNT_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Type', type: 'string', jsonPath: '.spec.type' },
  { name: 'Zones', type: 'integer', jsonPath: '.status.zones', priority: 1 },
  ...READY_COLUMNS,
]
