/** Makes the DNS account of a resource: tried before it is stored, so that the last credentials that worked stay. */

import { isDeepStrictEqual } from 'node:util'
import { HOUR_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import { SecretError } from '../../../platform/security/secrets.ts'
import { type DnsDeps, openCredentials, sealCredentials } from '../../dns/dns-context.ts'
import type { DnsCredentials } from '../../dns/providers/rules/dns-credentials.ts'
import type { ManagedBy } from '../../store/documents.ts'
import type { DnsAccountDoc } from './store/dns-accounts.ts'
import {
  deleteDnsAccount,
  insertDnsAccount,
  listDnsAccountsOfResource,
  updateDnsAccount,
} from './store/dns-accounts.ts'

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
): Promise<AppliedAccount> {
  const now = deps.clock.now()
  const known = (await listDnsAccountsOfResource(deps.db, resource.uid)).find(({ user_id }) => user_id === userId)
  const same = known !== undefined && holds(deps, known, credentials)
  if (known && same && known.tested.ok && now.getTime() - known.tested.at.getTime() < RETEST_MS)
    return { account: known, created: false }
  const id = known?._id ?? newId('dns', now.getTime())
  const zones = await deps.provider(id, credentials).test()
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
    name: `${resource.namespace}/${resource.name}`,
    by_hand: false,
    sealed,
    tested,
    managed_by: resource,
    created_at: now,
    updated_at: now,
  }
  await insertDnsAccount(deps.db, account)
  return { account, created: true }
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
