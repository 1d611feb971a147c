/** Decides whether a MailDomain may publish through external-dns: by its namespace, its domain, and what it puts on the object. */
import { coversDomain } from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import type { Config } from '../../../services/platform/process/config.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'

type Settings = Pick<Config, 'DNS_ENDPOINT_NAMESPACES' | 'DNS_ENDPOINT_DOMAINS'>

/** external-dns obeys annotations of this prefix, such as those for targets, and a provider's own. */
const EXTERNAL_DNS_PREFIX = 'external-dns.alpha.kubernetes.io/'
/** Selects the external-dns that reads the object. */
const CONTROLLER = `${EXTERNAL_DNS_PREFIX}controller`
/** The operator recognises its objects by keys of this prefix. */
const OWN_PREFIX = 'postwright.dev/'

/**
 * The condition of a MailDomain that may not write a DNSEndpoint; undefined when it may. external-dns writes in all zones
 * that its own credentials reach, whatever namespace asks: only an administrator decides who publishes, and where.
 */
export function endpointRefusal(
  { DNS_ENDPOINT_NAMESPACES: namespaces, DNS_ENDPOINT_DOMAINS: domains }: Settings,
  { metadata: { namespace }, spec: { domainName, dns } }: Pick<MailDomain, 'metadata' | 'spec'>,
): ConditionState | undefined {
  if (!namespaces.includes('*') && !namespaces.includes(namespace))
    return bad('DNSSynced', 'NamespaceNotAllowed', sentence('dns_endpoint.namespace', { namespace }))
  if (!domains.includes('*') && !coversDomain(domains, domainName))
    return bad('DNSSynced', 'DomainNotAllowed', sentence('dns_endpoint.domain', { domain: domainName }))
  for (const field of ['labels', 'annotations'] as const) {
    const keys = Object.keys(dns.dnsEndpoint?.[field] ?? {}).filter(isReserved)
    if (keys.length > 0)
      return bad('DNSSynced', 'MetadataNotAllowed', sentence('dns_endpoint.metadata', { field, keys }))
  }
  return undefined
}

function isReserved(key: string): boolean {
  return (key.startsWith(EXTERNAL_DNS_PREFIX) && key !== CONTROLLER) || key.startsWith(OWN_PREFIX)
}
