/** Which domains the credentials of a DNS account may be used for. */

/** A record that a Kubernetes resource may manage. */
interface Managed {
  managed_by?: { kind: string; namespace: string }
}

/**
 * True when the account may write the domain's records. The credentials of a DNSProvider are a namespace's: they write for
 * what MailDomains of that namespace declare, and for nothing else of the account that the namespace acts for.
 */
export function servesDomain({ managed_by: provider }: Managed, { managed_by: domain }: Managed): boolean {
  if (!provider) return true
  return domain?.kind === 'MailDomain' && domain.namespace === provider.namespace
}
