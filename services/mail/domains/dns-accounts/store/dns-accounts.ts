/** DNS accounts: one per (user, provider) for people; those of a DNSProvider resource lie outside that rule. */
import { collectionOf, type Db, defineCollection, isDuplicateKey } from '../../../../platform/database/mongo.ts'
import type { DnsAccountDoc } from '../../../store/documents.ts'
import { domains } from '../../store/domains.ts'

/** The collection of DNS accounts. */
export const dnsAccounts = defineCollection<DnsAccountDoc>('dns_accounts', [
  {
    key: { user_id: 1, provider: 1, by_hand: 1 },
    unique: true,
    partialFilterExpression: { by_hand: true },
  },
  { key: { user_id: 1, _id: 1 } },
  { key: { 'managed_by.uid': 1 }, sparse: true },
])

/** Stores a new account; false when the user has one of that provider. */
export async function insertDnsAccount(db: Db, account: DnsAccountDoc): Promise<boolean> {
  try {
    await collectionOf(db, dnsAccounts).insertOne(account)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** The accounts of a user, oldest first. */
export function listDnsAccounts(db: Db, userId: string): Promise<DnsAccountDoc[]> {
  return collectionOf(db, dnsAccounts).find({ user_id: userId }).sort({ _id: 1 }).toArray()
}

/** The accounts that a resource made: one for each user whose domains it writes for. */
export function listDnsAccountsOfResource(db: Db, uid: string): Promise<DnsAccountDoc[]> {
  return collectionOf(db, dnsAccounts).find({ 'managed_by.uid': uid }).sort({ _id: 1 }).toArray()
}

/** One account of a user. */
export async function findDnsAccount(db: Db, userId: string, id: string): Promise<DnsAccountDoc | undefined> {
  return (await collectionOf(db, dnsAccounts).findOne({ _id: id, user_id: userId })) ?? undefined
}

/** Replaces fields of an account and gives it back; undefined when it is gone. */
export async function updateDnsAccount(
  db: Db,
  id: string,
  change: Partial<Pick<DnsAccountDoc, 'name' | 'sealed' | 'tested' | 'updated_at'>>,
): Promise<DnsAccountDoc | undefined> {
  const set = { $set: change }
  return (
    (await collectionOf(db, dnsAccounts).findOneAndUpdate({ _id: id }, set, { returnDocument: 'after' })) ?? undefined
  )
}

/** Removes an account; its domains go on, unmanaged. False when there was none. */
export async function deleteDnsAccount(db: Db, userId: string, id: string): Promise<boolean> {
  if (!(await findDnsAccount(db, userId, id))) return false
  // In this order an end in between leaves no domain that refers to nothing; the account is there to be removed again.
  await unbind(db, id)
  const { deletedCount } = await collectionOf(db, dnsAccounts).deleteOne({ _id: id, user_id: userId })
  // A domain may have been bound in between.
  await unbind(db, id)
  return deletedCount === 1
}

async function unbind(db: Db, id: string): Promise<void> {
  await collectionOf(db, domains).updateMany(
    { dns_account_id: id },
    { $unset: { dns_account_id: '' }, $set: { 'dns.manage': false } },
  )
}
