/** DNSProvider: an account at a DNS provider. */
import { z } from 'zod'
import { DNS_ACCOUNT_COLUMNS, DNS_ACCOUNT_RULES, dnsAccountFields, dnsAccountStatus } from './dns-account-spec.ts'
import { defineKind, FORMER_VERSIONS, referenceTo, withRules } from './kind.ts'

const IDENTITY = 'Only in namespaces that the setting DNS_WORKLOAD_IDENTITY_NAMESPACES lists'

const spec = withRules(z.object(dnsAccountFields(referenceTo('Secret'), IDENTITY)), ...DNS_ACCOUNT_RULES)

/** A DNS account. */
export const DNSProvider = defineKind({
  kind: 'DNSProvider',
  plural: 'dnsproviders',
  shortNames: ['dnsp'],
  formerVersions: FORMER_VERSIONS,
  description:
    'An account at a DNS provider, with its credentials in a Secret of the same namespace. MailDomains of this namespace write their records with it.',
  spec,
  status: dnsAccountStatus,
  columns: DNS_ACCOUNT_COLUMNS,
})
/** Parsed DNSProvider. */
export type DNSProvider = ReturnType<typeof DNSProvider.parse>
