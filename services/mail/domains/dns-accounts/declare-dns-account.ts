/** Makes the DNS account of a resource: tried before it is stored, so that the last credentials that worked stay. */

import { isDeepStrictEqual } from 'node:util'
import { HOUR_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import { SecretError } from '../../../platform/security/secrets.ts'
import { type DnsDeps, openCredentials, sealCredentials } from '../../dns/dns-context.ts'
import type { DnsCredentials } from '../../dns/providers/rules/dns-credentials.ts'
import type { ManagedBy } from '../../store/documents.ts'
import type { BoundDomain, DnsAccountDoc, SharedScope } from './store/dns-accounts.ts'
import {
  CLUSTER_OWNER,
  deleteDnsAccount,
  findDnsAccount,
  insertDnsAccount,
  listBoundDomains,
  listBoundNamespaces,
  listDnsAccountsOfResource,
  unbindNamespace,
  updateDnsAccount,
} from './store/dns-accounts.ts'

export { coversDomain } from './rules/account-scope.ts'
export type { DnsAccountDoc }

/** The account for a resource and the zones that its credentials can see. */
export interface AppliedAccount {
  account: DnsAccountDoc
  created: boolean
}

/** Unchanged credentials are tested again after this time, in milliseconds. */
const RETEST_MS = 6 * HOUR_MS

/**
 * Stores the credentials for the user after the provider took them; the same ones are tried again only after six
 * hours. Throws DnsProviderError and changes nothing when the provider refuses them or does not answer.
 */
export async function applyDnsAccount(
  deps: DnsDeps,
  resource: ManagedBy,
  userId: string,
  credentials: DnsCredentials,
  shared?: SharedScope,
): Promise<AppliedAccount> {
  const now = deps.clock.now()
  const known = (await listDnsAccountsOfResource(deps.db, resource.uid)).find(({ user_id }) => user_id === userId)
  const same = known !== undefined && holds(deps, known, credentials)
  if (known && same && known.tested.ok && now.getTime() - known.tested.at.getTime() < RETEST_MS)
    return { account: known, created: false }
  const id = known?._id ?? newId('dns', now.getTime())
  const zones = await deps.provider({ _id: id, managed_by: resource, ...(shared && { shared }) }, credentials).test()
  const tested = { at: now, ok: true, zones: zones.map(({ name }) => name) }
  const sealed = same ? known.sealed : sealCredentials(deps.secrets, id, credentials)
  if (known) {
    const account = await updateDnsAccount(deps.db, id, { sealed, tested, updated_at: now })
    if (account) return { account, created: false }
  }
  const account: DnsAccountDoc = {
    _id: id,
    user_id: userId,
    provider: credentials.provider,
    name: resource.namespace ? `${resource.namespace}/${resource.name}` : resource.name,
    by_hand: false,
    sealed,
    tested,
    ...(shared ? { shared } : {}),
    managed_by: resource,
    created_at: now,
    updated_at: now,
  }
  await insertDnsAccount(deps.db, account)
  return { account, created: true }
}

/**
 * The one account of a ClusterDNSProvider: all domains that the operator binds to it share the credentials and the limit of
 * calls. As {@link applyDnsAccount}.
 */
export async function applySharedAccount(
  deps: DnsDeps,
  resource: ManagedBy,
  credentials: DnsCredentials,
  shared: SharedScope,
): Promise<AppliedAccount> {
  return applyDnsAccount(deps, resource, CLUSTER_OWNER, credentials, shared)
}

/** Changes what the account permits, if it exists: a permission is withdrawn whether or not its credentials work. */
export async function limitSharedAccount(deps: DnsDeps, { uid }: ManagedBy, shared: SharedScope): Promise<void> {
  const known = await findSharedAccount(deps, uid)
  if (known && !isDeepStrictEqual(known.shared, shared))
    await updateDnsAccount(deps.db, known._id, { shared, updated_at: deps.clock.now() })
}

/** The account of a ClusterDNSProvider; undefined until its credentials worked. */
export async function findSharedAccount({ db }: Pick<DnsDeps, 'db'>, uid: string): Promise<DnsAccountDoc | undefined> {
  return (await listDnsAccountsOfResource(db, uid)).find(({ user_id }) => user_id === CLUSTER_OWNER)
}

/**
 * The domain for which another account writes with the shared account already: the first one that was bound keeps the name. Of
 * two that were bound at once, the older one does.
 */
export async function otherHolder(
  { db }: Pick<DnsDeps, 'db'>,
  accountId: string,
  name: string,
  userId: string,
): Promise<BoundDomain | undefined> {
  const bound = await listBoundDomains(db, accountId, MAX_HOLDERS, name)
  const own = bound.find(({ user_id }) => user_id === userId)
  return bound.find(({ _id, user_id }) => user_id !== userId && (own === undefined || _id < own._id))
}

/** Two at most, when both were bound at once; more only by a restored database. */
const MAX_HOLDERS = 100

/** Domains that write with an account, for those who want to delete it: the first ones, oldest first. */
export async function domainsOfAccount({ db }: Pick<DnsDeps, 'db'>, accountId: string): Promise<BoundDomain[]> {
  return listBoundDomains(db, accountId, MAX_HOLDERS)
}

/**
 * Takes the domains of all namespaces that are not allowed off a shared account, and returns these namespaces. Their records
 * stay; nothing writes them any more.
 */
export async function unbindNamespaces(
  { db, clock }: Pick<DnsDeps, 'db' | 'clock'>,
  accountId: string,
  isAllowed: (namespace: string) => Promise<boolean>,
): Promise<string[]> {
  const withdrawn: string[] = []
  for (const namespace of await listBoundNamespaces(db, accountId)) {
    if (await isAllowed(namespace)) continue
    await unbindNamespace(db, accountId, namespace, clock.now())
    withdrawn.push(namespace)
  }
  return withdrawn
}

/** The ClusterDNSProvider that an account belongs to; undefined for accounts of users. */
export async function sharedProviderOf({ db }: Pick<DnsDeps, 'db'>, accountId: string): Promise<ManagedBy | undefined> {
  return (await findDnsAccount(db, CLUSTER_OWNER, accountId))?.managed_by
}

/** The account of the resource for another user, with the same credentials. Undefined when the resource has none yet. */
export async function shareDnsAccount(
  deps: DnsDeps,
  resource: ManagedBy,
  userId: string,
): Promise<DnsAccountDoc | undefined> {
  const accounts = await listDnsAccountsOfResource(deps.db, resource.uid)
  const [first] = accounts
  if (!first) return undefined
  const own = accounts.find(({ user_id }) => user_id === userId)
  const credentials = openCredentials(deps.secrets, first)
  if (own && holds(deps, own, credentials)) return own
  return (await applyDnsAccount(deps, resource, userId, credentials)).account
}

/** Removes the accounts of a resource, of all users or of those whom `goes` names; domains that still use one go on, unmanaged. */
export async function withdrawDnsAccounts(
  { db }: Pick<DnsDeps, 'db'>,
  resource: ManagedBy,
  goes: (userId: string) => Promise<boolean> = async () => true,
): Promise<void> {
  for (const { _id, user_id } of await listDnsAccountsOfResource(db, resource.uid))
    if (await goes(user_id)) await deleteDnsAccount(db, user_id, _id)
}

function holds({ secrets }: DnsDeps, account: DnsAccountDoc, credentials: DnsCredentials): boolean {
  try {
    return isDeepStrictEqual(openCredentials(secrets, account), credentials)
  } catch (error) {
    if (error instanceof SecretError) return false
    throw error
  }
}
