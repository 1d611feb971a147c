/** Removes the records that we wrote for a domain, and restores those that we changed. */
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import { type DnsDeps, providerOf } from '../../dns/dns-context.ts'
import type { OwnedRecord } from '../../dns/plan/plan-item.ts'
import { planRemoval } from '../../dns/plan/plan-removal.ts'
import { type DnsProvider, DnsProviderError } from '../../dns/providers/provider.ts'
import { servesDomain } from '../dns-accounts/rules/account-scope.ts'
import type { DnsAccountDoc } from '../dns-accounts/store/dns-accounts.ts'
import { findWritingAccount } from '../dns-accounts/store/dns-accounts.ts'
import { readOwned } from '../store/dns-ledger.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import { applyDnsPlan, type DnsPlanner } from './apply-dns-plan.ts'
import { ledgerOf, noteOf } from './domain-ledger.ts'
import { type Applied, stoppedBy } from './plan-outcome.ts'
import type { Ledger } from './record-ledger.ts'

const removal: DnsPlanner = (state, owned) => planRemoval({ ...state, owned })

/**
 * Removes the records of a domain, each through the account that wrote it. If that account was removed or no longer serves
 * the domain, the current account is used, unless it is shared; without one the records stay.
 */
export async function unpublishDns(deps: DnsDeps, domain: DomainDoc): Promise<Applied> {
  const writers = await accountsByWriter(deps, domain)
  const all: Applied = { items: [], zones: [] }
  // Two writers may lead to one account, which is then read twice.
  for (const account of new Map([...writers.values()].map(found => [found._id, found])).values()) {
    const ledger: Ledger = {
      ...ledgerOf(deps, domain, account),
      read: async () =>
        (await readOwned(deps.db, domain._id)).filter(entry => writers.get(entry.account_id)?._id === account._id),
    }
    let provider: DnsProvider
    try {
      provider = providerOf(deps, account)
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error
      return { ...all, stopped: stoppedBy(error) }
    }
    const { items, zones, stopped } = await removeOwned(provider, domain, ledger)
    all.items = [...all.items, ...items]
    all.zones = [...all.zones, ...zones]
    if (stopped) return { ...all, stopped }
  }
  return all
}

/** The usable account for each account id in the ledger; the account with that id may have been removed. */
async function accountsByWriter({ db }: DnsDeps, domain: DomainDoc): Promise<Map<string, DnsAccountDoc>> {
  const find = async (id: string | undefined) => {
    const account = id === undefined ? undefined : await findWritingAccount(db, domain.user_id, id)
    return account && servesDomain(account, domain) ? account : undefined
  }
  const fallback = await find(domain.dns_account_id)
  const current = fallback?.shared ? undefined : fallback
  const accounts = new Map<string, DnsAccountDoc>()
  for (const id of new Set((await readOwned(db, domain._id)).map(entry => entry.account_id))) {
    const account = (await find(id)) ?? current
    if (account) accounts.set(id, account)
  }
  return accounts
}

function removeOwned(provider: DnsProvider, domain: DomainDoc, ledger: Ledger): Promise<Applied> {
  return applyDnsPlan(provider, removal, ledger, { questions: [], note: noteOf(domain), replaced: 'own' })
}

/** Removes the records of a publication whose domain is gone. No ledger has them any more: what stays is logged. */
export async function removeWritten(
  deps: DnsDeps,
  domain: DomainDoc,
  provider: DnsProvider,
  written: readonly OwnedRecord[],
): Promise<void> {
  const ledger: Ledger = { read: async () => [...written], write: async () => undefined, forget: async () => undefined }
  const { items, stopped } = await removeOwned(provider, domain, ledger)
  const left = items.filter(({ status }) => !['done', 'pending', 'kept', 'skipped'].includes(status))
  if (!stopped && left.length === 0) return
  const records = left.map(({ name, type, status, message, reason }) => ({
    name,
    type,
    status,
    why: inEnglish(message ?? reason),
  }))
  deps.log.warn(
    {
      domain: domain._id,
      provider: provider.type,
      error: stopped?.kind,
      message: stopped && inEnglish(stopped.message),
      records,
    },
    'dns records of a domain that is gone could not be taken back',
  )
}
