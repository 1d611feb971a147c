/** The records of the mail module that Kubernetes resources own, with the state of each resource. */
import { collectionOf, type Db } from '../platform/database/mongo.ts'
import {
  listManaged,
  type ManagedFields,
  managedIn,
  mirrorState as mirrorOnto,
} from '../platform/managed/managed-records.ts'
import type { ResourceState } from '../platform/managed/rules/managed-by.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { tokens } from './credentials/store/tokens.ts'
import { dnsAccounts } from './domains/dns-accounts/store/dns-accounts.ts'
import { domains } from './domains/store/domain-model.ts'

interface Row extends ManagedFields {
  _id: string
  user_id: string
  name?: string
  username?: string
}

const KINDS = {
  MailDomain: { type: 'domain', collection: domains },
  DNSProvider: { type: 'dns_account', collection: dnsAccounts },
  SMTPCredential: { type: 'credential', collection: credentials },
  APIToken: { type: 'token', collection: tokens },
} as const

/** Kinds of the mail module whose records carry a state. */
export type MirroredKind = keyof typeof KINDS

/** All of them, by namespace and name, without the former tokens of a resource that rotates. */
export function managedRecords(db: Db) {
  const sources = Object.values(KINDS).map(({ type, collection }) =>
    managedIn(
      collectionOf<Row>(db, collection),
      { revoked_at: { $exists: false } },
      ['user_id', 'name', 'username'],
      ({ _id: id, user_id, name, username }) => ({ type, id, name: name ?? username ?? id, user_id }),
    ),
  )
  return listManaged(sources)
}

/** Writes the state onto the record of the resource, for the panel. */
export function mirrorState(db: Db, kind: MirroredKind, uid: string, id: string, state: ResourceState): Promise<void> {
  return mirrorOnto(collectionOf<Row>(db, KINDS[kind].collection), { id, uid }, state)
}
