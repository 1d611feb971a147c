/** Which domains the credentials of a DNS account may be used for. */
import { isWithin } from '../../../dns/records/names.ts'

/** A DNS account, which a Kubernetes resource may manage. */
interface Account {
  _id?: string
  managed_by?: { kind: string; namespace: string }
  shared?: { domains: readonly string[] } | undefined
}

/** A domain, which a Kubernetes resource may manage. */
interface Domain {
  name?: string
  managed_by?: { kind: string; namespace: string }
  dns_account_id?: string
}

/**
 * True when the account may write the domain's records. The credentials of a DNSProvider are a namespace's: they write for
 * what MailDomains of that namespace declare, and for nothing else of the account that the namespace acts for. Those of a
 * ClusterDNSProvider write for what the operator has bound to them, as long as it is within the domains that they are for.
 */
export function servesDomain(account: Account, domain: Domain): boolean {
  const { managed_by: provider } = account
  if (!provider) return true
  if (domain.managed_by?.kind !== 'MailDomain') return false
  if (provider.kind === 'ClusterDNSProvider') return isBound(account, domain) && isCovered(account, domain)
  return domain.managed_by.namespace === provider.namespace
}

function isBound({ _id }: Account, { dns_account_id }: Domain): boolean {
  return _id !== undefined && _id === dns_account_id
}

function isCovered({ shared }: Account, { name }: Domain): boolean {
  return name !== undefined && coversDomain(shared?.domains ?? [], name)
}

/** True when the name is one of the domains, or below one of them. */
export function coversDomain(domains: readonly string[], name: string): boolean {
  return domains.some(domain => isWithin(name, domain))
}
