/** Writes where a resource stands onto the record that it manages, for the panel. */
import { collectionOf, type Db } from '../platform/database/mongo.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { tokens } from './credentials/store/tokens.ts'
import { dnsAccounts } from './domains/dns-accounts/store/dns-accounts.ts'
import { domains } from './domains/store/domains.ts'
import type { ResourceState } from './store/documents.ts'

const COLLECTIONS = {
  DNSProvider: dnsAccounts,
  MailDomain: domains,
  SMTPCredential: credentials,
  APIToken: tokens,
} as const

/** Kinds of the mail half whose records carry a state. */
export type MirroredKind = keyof typeof COLLECTIONS

/**
 * Writes the state onto the record of the resource; a record of another one is left alone, and so is one that says the
 * same: an operator that starts finds ten thousand of those.
 */
export async function mirrorState(
  db: Db,
  kind: MirroredKind,
  uid: string,
  id: string,
  state: ResourceState,
): Promise<void> {
  const collection = collectionOf<{ _id: string; k8s?: ResourceState }>(db, COLLECTIONS[kind])
  const { ready, reason, message, conditions } = state
  const differs = Object.entries({ ready, reason, message, conditions }).map(([field, value]) => ({
    [`k8s.${field}`]: { $ne: value },
  }))
  await collection.updateOne({ _id: id, 'managed_by.uid': uid, $or: differs }, { $set: { k8s: state } })
}
