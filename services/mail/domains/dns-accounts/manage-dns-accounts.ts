/** DNS accounts of people: credentials are tried before they are stored, sealed, and never given back. */
import { newId } from '../../../platform/ids.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type DnsDeps, providerOf, sealCredentials } from '../../dns/dns-context.ts'
import { DnsProviderError } from '../../dns/providers/provider.ts'
import type { DnsCredentials } from '../../dns/providers/rules/dns-credentials.ts'
import { refuseManaged } from '../../managed.ts'
import { asProblem } from '../publishing/publish-records.ts'
import type { DnsAccountDoc } from './store/dns-accounts.ts'
import { deleteDnsAccount, findDnsAccount, insertDnsAccount, updateDnsAccount } from './store/dns-accounts.ts'

/** Credentials with the name that their owner gives them. */
export type GivenCredentials = DnsCredentials & { name?: string | undefined }

/**
 * Tries credentials and stores them. 422 with the missing right when the provider refuses them, 503 when it does not
 * answer, 409 `conflict` when the user has an account of that provider.
 */
export async function createDnsAccount(deps: DnsDeps, userId: string, given: GivenCredentials): Promise<DnsAccountDoc> {
  const now = deps.clock.now()
  const _id = newId('dns', now.getTime())
  const credentials = withoutName(given)
  const account: DnsAccountDoc = {
    _id,
    user_id: userId,
    provider: given.provider,
    name: given.name ?? given.provider,
    by_hand: true,
    sealed: sealCredentials(deps.secrets, _id, credentials),
    tested: await tryCredentials(deps, _id, credentials),
    created_at: now,
    updated_at: now,
  }
  if (!(await insertDnsAccount(deps.db, account)))
    throw new ProblemError('conflict', sentence('detail.dns_account_exists', { provider: given.provider }))
  return account
}

/** Tries new credentials and puts them in place of the old. As {@link createDnsAccount}; 422 for another provider. */
export async function replaceCredentials(
  deps: DnsDeps,
  userId: string,
  id: string,
  given: GivenCredentials,
): Promise<DnsAccountDoc> {
  const account = await getDnsAccount(deps, userId, id)
  refuseManaged(account, {})
  if (account.provider !== given.provider) throw invalid('/provider', sentence('detail.dns_account_provider'))
  const credentials = withoutName(given)
  return update(deps, id, {
    name: given.name ?? account.name,
    tested: await tryCredentials(deps, id, credentials),
    sealed: sealCredentials(deps.secrets, id, credentials),
    updated_at: deps.clock.now(),
  })
}

/** Tries the stored credentials and remembers the result, good or bad. */
export async function testDnsAccount(deps: DnsDeps, userId: string, id: string): Promise<DnsAccountDoc> {
  const account = await getDnsAccount(deps, userId, id)
  const at = deps.clock.now()
  try {
    const zones = await providerOf(deps, account).test()
    return await update(deps, id, { tested: { at, ok: true, zones: zones.map(({ name }) => name) } })
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return update(deps, id, { tested: { at, ok: false, zones: [], message: error.sentence } })
  }
}

/** An account of the user, or 404. */
export async function getDnsAccount({ db }: DnsDeps, userId: string, id: string): Promise<DnsAccountDoc> {
  const account = await findDnsAccount(db, userId, id)
  if (!account) throw new ProblemError('not_found', sentence('detail.dns_account_unknown'))
  return account
}

/** Forgets an account; its records stay where they are. */
export async function removeDnsAccount(deps: DnsDeps, userId: string, id: string): Promise<DnsAccountDoc> {
  const account = await getDnsAccount(deps, userId, id)
  refuseManaged(account, {})
  await deleteDnsAccount(deps.db, userId, id)
  return account
}

async function tryCredentials(
  deps: DnsDeps,
  id: string,
  credentials: DnsCredentials,
): Promise<DnsAccountDoc['tested']> {
  try {
    const zones = await deps.provider({ _id: id }, credentials).test()
    return { at: deps.clock.now(), ok: true, zones: zones.map(({ name }) => name) }
  } catch (error) {
    const refused = error instanceof DnsProviderError && ['auth', 'permission', 'zone_not_found'].includes(error.kind)
    if (refused) throw invalid('/credentials', error.sentence)
    return asProblem(() => Promise.reject(error))
  }
}

async function update(
  deps: DnsDeps,
  id: string,
  change: Parameters<typeof updateDnsAccount>[2],
): Promise<DnsAccountDoc> {
  const changed = await updateDnsAccount(deps.db, id, change)
  if (!changed) throw new ProblemError('not_found', sentence('detail.dns_account_unknown'))
  return changed
}

function withoutName({ name: _, ...credentials }: GivenCredentials): DnsCredentials {
  return credentials as DnsCredentials
}

function invalid(pointer: string, reason: Sentence): ProblemError {
  return new ProblemError('validation_failed', reason, {
    errors: [{ pointer, reason: sentence('field.refused', { reason }) }],
  })
}
