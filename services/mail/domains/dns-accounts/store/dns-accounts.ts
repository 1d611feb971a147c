/** DNS accounts: one per (user, provider) for people; those of a DNSProvider resource lie outside that rule. */

import * as field from '../../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, insertUnique, modelOf } from '../../../../platform/database/models.ts'
import { managed } from '../../../../platform/managed/managed-fields.ts'
import { listManagedBy } from '../../../../platform/managed/managed-records.ts'
import type { StoredSentence } from '../../../../platform/sentences/sentence.ts'
import { domains } from '../../store/domain-model.ts'

/** Credentials for a DNS provider. */
export const dnsAccounts = defineModel('dns_accounts', {
  _id: field.text,
  user_id: field.text,
  provider: field.oneOf('cloudflare', 'aliyun', 'dnspod', 'rfc2136'),
  name: field.text,
  /** JSON of the credentials, sealed with purpose `dns-credential`, place `dns-accounts/<_id>`. Never given back. */
  sealed: field.text,
  /** Made by a person, not by a resource: unique per user and provider. */
  by_hand: field.flag,
  /** Result of the last test. */
  tested: field.required(
    field.part({
      at: field.date,
      ok: field.flag,
      zones: field.required([String]),
      message: field.optionalUnchecked<StoredSentence>(),
    }),
  ),
  ...managed,
  ...field.times,
})
dnsAccounts.schema.index(
  { user_id: 1, provider: 1, by_hand: 1 },
  { unique: true, partialFilterExpression: { by_hand: true } },
)
dnsAccounts.schema.index({ user_id: 1, _id: 1 })
dnsAccounts.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

export type DnsAccountDoc = DocumentOf<typeof dnsAccounts>

/** Stores a new account; false when the user has one of that provider. */
export function insertDnsAccount(db: Db, account: DnsAccountDoc): Promise<boolean> {
  return insertUnique(modelOf(db, dnsAccounts), account)
}

/** The accounts of a user, oldest first. */
export async function listDnsAccounts(db: Db, userId: string): Promise<DnsAccountDoc[]> {
  return modelOf(db, dnsAccounts).find({ user_id: userId }).sort({ _id: 1 }).lean()
}

/** The accounts that a resource made: one for each user whose domains it writes for. */
export function listDnsAccountsOfResource(db: Db, uid: string): Promise<DnsAccountDoc[]> {
  return listManagedBy(modelOf(db, dnsAccounts), uid)
}

/** One account of a user. */
export async function findDnsAccount(db: Db, userId: string, id: string): Promise<DnsAccountDoc | undefined> {
  return (await modelOf(db, dnsAccounts).findOne({ _id: id, user_id: userId }).lean()) ?? undefined
}

/** Replaces fields of an account and gives it back; undefined when it is gone. */
export async function updateDnsAccount(
  db: Db,
  id: string,
  change: Partial<Pick<DnsAccountDoc, 'name' | 'sealed' | 'tested' | 'updated_at'>>,
): Promise<DnsAccountDoc | undefined> {
  return (await modelOf(db, dnsAccounts).findByIdAndUpdate(id, change).lean()) ?? undefined
}

/** Removes an account; its domains go on, unmanaged. False when there was none. */
export async function deleteDnsAccount(db: Db, userId: string, id: string): Promise<boolean> {
  if (!(await findDnsAccount(db, userId, id))) return false
  // In this order an end in between leaves no domain that refers to nothing; the account is there to be removed again.
  await unbind(db, id)
  const { deletedCount } = await modelOf(db, dnsAccounts).deleteOne({ _id: id, user_id: userId })
  // A domain may have been bound in between.
  await unbind(db, id)
  return deletedCount === 1
}

async function unbind(db: Db, id: string): Promise<void> {
  await modelOf(db, domains).updateMany(
    { dns_account_id: id },
    { $unset: { dns_account_id: '' }, $set: { 'dns.manage': false } },
  )
}
