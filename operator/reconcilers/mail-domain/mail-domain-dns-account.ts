/** Selects the DNS account that writes the records of a MailDomain. */
import type { UserDoc } from '../../../services/accounts/find-account.ts'
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { shareDnsAccount, sharedProviderOf } from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { findDomainOfAccount } from '../../../services/mail/domains/find-domains.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { keyOf } from '../../kube/object-paths.ts'
import { ClusterDNSProvider } from '../../resources/cluster-dns-provider.ts'
import { DNSProvider } from '../../resources/dns-provider.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { bad, conditionOf, sentenceOf, unknown } from '../shared/conditions.ts'
import { cacheOf, managedBy, type OperatorContext, sibling } from '../shared/operator-context.ts'
import { clusterAccountFor } from './cluster-provider-account.ts'
import type { DnsAccountChoice } from './dns-account-choice.ts'

/** Credentials that work for one account are tried again for another one after this time. */
const SHARE_RETRY_MS = 30_000

/**
 * The account of the referenced provider for this owner. Without a usable one the present account stays bound, unless it is that
 * of a ClusterDNSProvider that the MailDomain does not name any more.
 */
export async function dnsAccountFor(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  owner: Pick<UserDoc, '_id'>,
): Promise<DnsAccountChoice> {
  const choice = await choiceFor(context, dns, resource, owner)
  if (!('condition' in choice) || choice.unbind) return choice
  return (await isBoundElsewhere(context, dns, resource, owner)) ? { ...choice, unbind: true } : choice
}

async function isBoundElsewhere(
  context: OperatorContext,
  dns: DnsDeps,
  { spec: { domainName, dns: wanted } }: MailDomain,
  owner: Pick<UserDoc, '_id'>,
): Promise<boolean> {
  const domain = await findDomainOfAccount(context.mongo.db, owner._id, domainName)
  const provider = domain?.dns_account_id && (await sharedProviderOf(dns, domain.dns_account_id))
  if (!provider) return false
  const { kind, name = '' } = wanted.providerRef ?? {}
  if (kind !== 'ClusterDNSProvider') return true
  return cacheOf(context, ClusterDNSProvider).get(keyOf({ namespace: '', name }))?.metadata.uid !== provider.uid
}

async function choiceFor(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  owner: Pick<UserDoc, '_id'>,
): Promise<DnsAccountChoice> {
  const { spec, metadata } = resource
  const { managementPolicy, providerRef } = spec.dns
  if (managementPolicy !== 'Manage' || !providerRef) return { use: 'none' }
  if (providerRef.kind === 'ClusterDNSProvider')
    return clusterAccountFor(context, dns, resource, providerRef.name, owner)
  const missing = (message: Sentence) => ({ condition: bad('DNSSynced', 'DependencyNotReady', message) })
  const provider = sibling(context, DNSProvider, metadata, providerRef.name)
  if (!provider) return missing(sentence('resource.dns_provider_missing', { name: providerRef.name }))
  const account = await shareDnsAccount(dns, managedBy(provider), owner._id).catch((error: unknown) => {
    if (error instanceof DnsProviderError) return undefined
    throw error
  })
  if (account) return { use: { id: account._id } }
  const ready = conditionOf(provider.status?.conditions, 'Ready')
  if (!ready) {
    const message = sentence('resource.dns_provider_untested', { name: providerRef.name })
    return { condition: unknown('DNSSynced', 'DependencyNotReady', message) }
  }
  // It is ready for its own account, but the provider refused it for this owner: no event reports when that changes.
  const retry = ready.status === 'True' ? { requeueAfterMs: SHARE_RETRY_MS } : {}
  const reason = sentence('resource.dns_provider_not_ready', { name: providerRef.name, reason: sentenceOf(ready) })
  return { ...missing(reason), ...retry }
}
