/** Decides whether a MailDomain may write with a ClusterDNSProvider: by its namespace, its domain and its conflict policy. */
import type { UserDoc } from '../../../services/accounts/find-account.ts'
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import {
  coversDomain,
  findSharedAccount,
  otherHolder,
} from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { keyOf } from '../../kube/object-paths.ts'
import { ClusterDNSProvider } from '../../resources/cluster-dns-provider.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { allowsNamespace } from '../shared/allowed-namespaces.ts'
import { bad, conditionOf, sentenceOf, unknown } from '../shared/conditions.ts'
import { cacheOf, clusterResource, type OperatorContext } from '../shared/operator-context.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'
import type { DnsAccountChoice } from './dns-account-choice.ts'

/** The account of the ClusterDNSProvider, or why the MailDomain may not use it: then the domain is taken off the account. */
export async function clusterAccountFor(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  name: string,
  owner: Pick<UserDoc, '_id'>,
): Promise<DnsAccountChoice> {
  if (!context.clusterWide)
    return refused('ProviderNotAllowed', sentence('resource.cluster_provider_unwatched', { name }))
  const provider = clusterResource(context, ClusterDNSProvider, name)
  if (!provider) {
    const condition = bad('DNSSynced', 'DependencyNotReady', sentence('resource.cluster_provider_missing', { name }))
    // One that is being deleted still removes the records of its domains; without one, nothing permits a write.
    const isGone = cacheOf(context, ClusterDNSProvider).get(keyOf({ namespace: '', name })) === undefined
    return isGone ? { condition, unbind: true } : { condition }
  }
  const refusal = await refusalBy(context, provider, resource)
  if (refusal) return refusal
  const account = await findSharedAccount(dns, provider.metadata.uid)
  if (!account) return notReady(provider)
  const other = await otherHolder(dns, account._id, resource.spec.domainName, owner._id)
  if (!other) return { use: { id: account._id } }
  const message = sentence('resource.cluster_provider_taken', { name, domain: resource.spec.domainName })
  return { ...refused('DomainTaken', message), requeueAfterMs: REFUSED_MS }
}

async function refusalBy(
  context: OperatorContext,
  { spec, metadata: { name } }: ClusterDNSProvider,
  { spec: wanted, metadata: { namespace } }: MailDomain,
): Promise<DnsAccountChoice | undefined> {
  const { domainName } = wanted
  const { conflictPolicy } = wanted.dns
  if (!(await allowsNamespace(context, spec.allowedNamespaces, namespace)))
    return refused('NamespaceNotAllowed', sentence('resource.cluster_provider_namespace', { name, namespace }))
  if (!coversDomain(spec.allowedDomains, domainName))
    return refused('DomainNotAllowed', sentence('resource.cluster_provider_domain', { name, domain: domainName }))
  if (!spec.allowedConflictPolicies.includes(conflictPolicy))
    return refused(
      'ConflictPolicyNotAllowed',
      sentence('resource.cluster_provider_policy', { name, policy: conflictPolicy }),
    )
  return undefined
}

function refused(reason: string, message: Sentence) {
  return { condition: bad('DNSSynced', reason, message), unbind: true as const }
}

function notReady({ status, metadata: { name } }: ClusterDNSProvider): DnsAccountChoice {
  const ready = conditionOf(status?.conditions, 'Ready')
  if (!ready) {
    const message = sentence('resource.cluster_provider_untested', { name })
    return { condition: unknown('DNSSynced', 'DependencyNotReady', message) }
  }
  const message = sentence('resource.cluster_provider_not_ready', { name, reason: sentenceOf(ready) })
  return { condition: bad('DNSSynced', 'DependencyNotReady', message) }
}
