/**
 * Reconciles ClusterDNSProviders: one DNS account that belongs to no user, with what it permits; MailDomains are bound to it
 * by their own reconciler.
 */
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import {
  applySharedAccount,
  domainsOfAccount,
  findSharedAccount,
  limitSharedAccount,
  unbindNamespaces,
  withdrawDnsAccounts,
} from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { ClusterDNSProvider } from '../../resources/cluster-dns-provider.ts'
import { allowsNamespace } from '../shared/allowed-namespaces.ts'
import { bad } from '../shared/conditions.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import type { Outcome, Reconciler, Removal } from '../shared/reconcile.ts'
import { readCredentials } from './dns-provider-credentials.ts'
import { inUse, storeCredentials } from './store-credentials.ts'

type Spec = ClusterDNSProvider['spec']
type Status = NonNullable<ClusterDNSProvider['status']>

const CONFLICTS = { Fail: 'fail', Adopt: 'adopt', Overwrite: 'overwrite' } as const

/** The reconciler of ClusterDNSProviders. */
export function clusterDnsProviderReconciler(context: OperatorContext, dns: DnsDeps): Reconciler<Spec, Status> {
  return {
    kind: ClusterDNSProvider,
    ensure: resource => ensure(context, dns, resource),
    remove: (resource, retain) => remove(context, dns, resource, retain),
    mirror: (id, uid, state) => mirrorState(context.mongo.db, 'ClusterDNSProvider', uid, id, state),
  }
}

async function ensure(context: OperatorContext, dns: DnsDeps, resource: ClusterDNSProvider): Promise<Outcome> {
  const { spec } = resource
  const owner = managedBy(resource)
  const shared = {
    domains: spec.allowedDomains,
    conflicts: spec.allowedConflictPolicies.map(policy => CONFLICTS[policy]),
  }
  await limitSharedAccount(dns, owner, shared)
  await withdrawFromNamespaces(context, dns, resource)
  const namespace = spec.secretRef?.namespace ?? context.ownNamespace
  if (namespace !== context.ownNamespace && !context.config.CLUSTER_DNS_SECRET_NAMESPACES.includes(namespace))
    return {
      conditions: [
        bad('Accepted', 'NamespaceNotAllowed', sentence('resource.cluster_secret_namespace', { namespace })),
      ],
    }
  const read = await readCredentials(context, spec, namespace)
  if ('invalid' in read) return read.invalid
  return storeCredentials(context, resource, async () => {
    const { account } = await applySharedAccount(dns, owner, read.credentials, shared)
    return {
      account,
      accepted: sentence('resource.cluster_provider_accepted', { domains: spec.allowedDomains.slice(0, 5) }),
    }
  })
}

/** Also for MailDomains that are paused, whose own reconciler does not run. */
async function withdrawFromNamespaces(
  context: OperatorContext,
  dns: DnsDeps,
  { spec, metadata: { name, uid } }: ClusterDNSProvider,
): Promise<void> {
  const account = await findSharedAccount(dns, uid)
  if (!account) return
  const isAllowed = (namespace: string) => allowsNamespace(context, spec.allowedNamespaces, namespace)
  const withdrawn = await unbindNamespaces(dns, account._id, isAllowed)
  if (withdrawn.length > 0) context.log.info({ name, namespaces: withdrawn }, 'cluster dns provider withdrawn')
}

/** Only domains that it writes for count: a MailDomain that is refused must not keep the provider. */
async function remove(
  context: OperatorContext,
  dns: DnsDeps,
  resource: ClusterDNSProvider,
  retain: boolean,
): Promise<Removal> {
  if (!retain) await withdrawFromNamespaces(context, dns, resource)
  const account = await findSharedAccount(dns, resource.metadata.uid)
  const users = account && !retain ? await domainsOfAccount(dns, account._id) : []
  if (users.length > 0)
    return inUse(
      users.length,
      users.map(({ managed_by: { namespace = '', name = '' } = {} }) => `${namespace}/${name}`),
    )
  await withdrawDnsAccounts(dns, managedBy(resource))
  return { done: true }
}
