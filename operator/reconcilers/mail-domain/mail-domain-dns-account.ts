/** Selects the DNS account that writes the records of a MailDomain. */
import type { UserDoc } from '../../../services/accounts/find-account.ts'
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { shareDnsAccount } from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { DNSProvider } from '../../resources/dns-provider.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState, conditionOf, sentenceOf, unknown } from '../shared/conditions.ts'
import { managedBy, type OperatorContext, sibling } from '../shared/operator-context.ts'

/** Credentials that work for one account are tried again for another one after this time. */
const SHARE_RETRY_MS = 30_000

/** `none`: records are not written. With a condition: there is no usable account yet. */
export type DnsAccountChoice = { use: { id: string } | 'none' } | { condition: ConditionState; requeueAfterMs?: number }

/** The account of the referenced DNSProvider for this owner. */
export async function dnsAccountFor(
  context: OperatorContext,
  dns: DnsDeps,
  { spec, metadata }: MailDomain,
  owner: Pick<UserDoc, '_id'>,
): Promise<DnsAccountChoice> {
  const { managementPolicy, providerRef } = spec.dns
  if (managementPolicy !== 'Manage' || !providerRef) return { use: 'none' }
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
