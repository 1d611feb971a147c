/** Decides whether a MailDomain may publish through external-dns: by its namespace and its domain. */
import { coversDomain } from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import type { Config } from '../../../services/platform/process/config.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'

type Settings = Pick<Config, 'DNS_ENDPOINT_NAMESPACES' | 'DNS_ENDPOINT_DOMAINS'>

/**
 * The condition of a MailDomain that may not write a DNSEndpoint; undefined when it may. external-dns writes in all zones
 * that its own credentials reach, whatever namespace asks: only an administrator decides who publishes, and where.
 */
export function endpointRefusal(
  { DNS_ENDPOINT_NAMESPACES: namespaces, DNS_ENDPOINT_DOMAINS: domains }: Settings,
  { metadata: { namespace }, spec: { domainName } }: Pick<MailDomain, 'metadata' | 'spec'>,
): ConditionState | undefined {
  if (!namespaces.includes('*') && !namespaces.includes(namespace))
    return bad('DNSSynced', 'NamespaceNotAllowed', sentence('dns_endpoint.namespace', { namespace }))
  if (!domains.includes('*') && !coversDomain(domains, domainName))
    return bad('DNSSynced', 'DomainNotAllowed', sentence('dns_endpoint.domain', { domain: domainName }))
  return undefined
}
