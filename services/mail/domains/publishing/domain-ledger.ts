/** The ledger of a domain: which records were written for it, and through which account. */
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import type { OwnedRecord } from '../../dns/plan/plan-item.ts'
import type { DnsAccountDoc } from '../dns-accounts/store/dns-accounts.ts'
import { forgetOwned, readOwned, writeOwned } from '../store/dns-ledger.ts'
import type { DomainDoc, OwnedRecordDoc } from '../store/domain-model.ts'
import { findDomainById } from '../store/domains.ts'
import type { Ledger } from './record-ledger.ts'

/** The domain is removed while its records are written; `exists` until its document is deleted. */
export class DomainGone extends ProblemError {
  constructor(exists: boolean) {
    super(exists ? 'conflict' : 'not_found', sentence(exists ? 'detail.domain_leaving' : 'detail.domain_records_gone'))
  }
}

/** The account that writes, and whether it is shared. */
export type LedgerAccount = Pick<DnsAccountDoc, '_id' | 'shared'>

/**
 * The entries that count for an account. For a shared one only its own do: what a namespace wrote with other credentials is no
 * right to replace, or to restore, a record that the shared account serves.
 */
export async function readLedger(
  { db }: Pick<DnsDeps, 'db'>,
  { _id }: Pick<DomainDoc, '_id'>,
  account: LedgerAccount,
): Promise<OwnedRecordDoc[]> {
  const entries = await readOwned(db, _id)
  return account.shared ? entries.filter(entry => entry.account_id === account._id) : entries
}

/** `written` collects every entry, so that the writes can be undone without the domain's document. */
export function ledgerOf(
  { db, clock }: DnsDeps,
  { _id }: DomainDoc,
  account: LedgerAccount,
  written: OwnedRecord[] = [],
): Ledger {
  return {
    read: () => readLedger({ db }, { _id }, account),
    write: async entries => {
      written.push(...entries)
      const stored = entries.map(entry => ({ ...entry, account_id: account._id, at: clock.now() }))
      if (await writeOwned(db, _id, stored, clock.now())) return
      throw new DomainGone((await findDomainById(db, _id)) !== undefined)
    },
    forget: entries => forgetOwned(db, _id, entries),
  }
}

/** The comment of records at the provider. */
export function noteOf({ _id }: DomainDoc): string {
  return `Postwright ${_id}`
}
