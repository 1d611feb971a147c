/** Reconciles DNSProviders: reads the credentials from the Secret, tests them and stores them sealed. */
import { ensureNamespaceAccount } from '../../../services/accounts/namespace-account.ts'
import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import {
  applyDnsAccount,
  withdrawDnsAccounts,
} from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { keyOf } from '../../kube/object-paths.ts'
import { DNSProvider } from '../../resources/dns-provider.ts'
import type { Kind } from '../../resources/kind.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { entitlementOf } from '../shared/namespace-entitlement.ts'
import { namespaceAccount } from '../shared/namespace-owners.ts'
import { cacheOf, managedBy, type OperatorContext } from '../shared/operator-context.ts'
import type { Outcome, Reconciler, Removal } from '../shared/reconcile.ts'
import { readCredentials } from './dns-provider-credentials.ts'
import { inUse, storeCredentials } from './store-credentials.ts'

type Spec = DNSProvider['spec']
type Status = NonNullable<DNSProvider['status']>

/** The reconciler of DNSProviders. */
export function dnsProviderReconciler(context: OperatorContext, dns: DnsDeps): Reconciler<Spec, Status> {
  return {
    kind: DNSProvider,
    ensure: resource => ensure(context, dns, resource),
    remove: (resource, retain) => remove(context, resource, retain),
    mirror: (id, uid, state) => mirrorState(context.mongo.db, 'DNSProvider', uid, id, state),
  }
}

async function ensure(context: OperatorContext, dns: DnsDeps, resource: DNSProvider): Promise<Outcome> {
  const { metadata, spec } = resource
  // Credentials of the namespace are not left with accounts that it may not act for any more.
  await withdrawDnsAccounts(dns, managedBy(resource), async userId => {
    return !(await entitlementOf(context, metadata.namespace, userId)).allowed
  })
  const read = await readCredentials(context, spec, metadata.namespace)
  if ('invalid' in read) return read.invalid
  return storeCredentials(context, resource, async () => {
    const owner = await ensureNamespaceAccount(context, namespaceAccount(metadata.namespace), metadata.namespace)
    const { account } = await applyDnsAccount(dns, managedBy(resource), owner._id, read.credentials)
    return { account, accepted: sentence('resource.dns_account_accepted', { account: owner.username }) }
  })
}

async function remove(context: OperatorContext, resource: DNSProvider, retain: boolean): Promise<Removal> {
  const { metadata } = resource
  const cache = cacheOf(context, MailDomain as unknown as Kind)
  const users = cache.find('DNSProvider', keyOf(metadata)).filter(key => cache.get(key)?.metadata.finalizers?.length)
  if (users.length > 0 && !retain) {
    return inUse(
      users.length,
      users.map(key => key.split('/')[1] ?? key),
    )
  }
  await withdrawDnsAccounts({ db: context.mongo.db }, managedBy(resource))
  return { done: true }
}
