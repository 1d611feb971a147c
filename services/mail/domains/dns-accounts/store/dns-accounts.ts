/** DNS accounts: one per (user, provider) for people; that rule does not apply to those of Kubernetes resources. */

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
  provider: field.oneOf('cloudflare', 'aliyun', 'dnspod', 'rfc2136', 'webhook', 'route53', 'google', 'azure'),
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
  /** Of a ClusterDNSProvider: which domains it may write, and how MailDomains may treat records that exist. */
  shared: field.optional(
    field.part({
      domains: field.required([String]),
      conflicts: field.required([field.oneOf('fail', 'adopt', 'overwrite')]),
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
/** What a ClusterDNSProvider permits. */
export type SharedScope = NonNullable<DnsAccountDoc['shared']>

/**
 * `user_id` of the accounts of ClusterDNSProviders. No user has this id, so that no account lists, reads or selects them: only
 * the operator binds domains to one.
 */
export const CLUSTER_OWNER = 'cluster'

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

/** The account that may write for a domain of the user: one of its own, or one of the cluster. */
export async function findWritingAccount(db: Db, userId: string, id: string): Promise<DnsAccountDoc | undefined> {
  const filter = { _id: id, user_id: { $in: [userId, CLUSTER_OWNER] } }
  return (await modelOf(db, dnsAccounts).findOne(filter).lean()) ?? undefined
}

/** Replaces fields of an account and gives it back; undefined when it is gone. */
export async function updateDnsAccount(
  db: Db,
  id: string,
  change: Partial<Pick<DnsAccountDoc, 'name' | 'sealed' | 'tested' | 'shared' | 'updated_at'>>,
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

/** A domain that is bound to an account, and the resource that declares it. */
export interface BoundDomain {
  _id: string
  user_id: string
  name: string
  managed_by?: { namespace: string; name: string }
}

/** Domains that are bound to an account, at most `limit`, oldest first; with `name` those of that name. */
export async function listBoundDomains(
  db: Db,
  accountId: string,
  limit: number,
  name?: string,
): Promise<BoundDomain[]> {
  return modelOf(db, domains)
    .find({ dns_account_id: accountId, ...(name === undefined ? {} : { name }) })
    .select({ user_id: 1, name: 1, managed_by: 1 })
    .sort({ _id: 1 })
    .limit(limit)
    .lean()
}

/** Namespaces whose resources declare domains that are bound to an account. */
export async function listBoundNamespaces(db: Db, accountId: string): Promise<string[]> {
  const found = await modelOf(db, domains).distinct('managed_by.namespace', { dns_account_id: accountId })
  return found.map(String)
}

/** Takes the domains of a namespace off an account. */
export async function unbindNamespace(db: Db, accountId: string, namespace: string, now: Date): Promise<void> {
  await modelOf(db, domains).updateMany(
    { dns_account_id: accountId, 'managed_by.namespace': namespace },
    { $unset: { dns_account_id: '' }, $set: { updated_at: now } },
  )
}

async function unbind(db: Db, id: string): Promise<void> {
  await modelOf(db, domains).updateMany(
    { dns_account_id: id },
    { $unset: { dns_account_id: '' }, $set: { 'dns.manage': false } },
  )
}
