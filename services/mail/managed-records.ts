/** The records of the mail half that Kubernetes resources own, with where each resource stands. */
import { collectionOf, type Db } from '../platform/database/mongo.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { tokens } from './credentials/store/tokens.ts'
import { dnsAccounts } from './domains/dns-accounts/store/dns-accounts.ts'
import { domains } from './domains/store/domains.ts'
import type { ManagedBy, ResourceState } from './store/documents.ts'

/** A record and the resource that owns it. */
export interface ManagedRecord {
  resource: ManagedBy
  record: { type: 'domain' | 'dns_account' | 'credential' | 'token'; id: string; name: string; user_id: string }
  /** Absent until the operator has looked at it once. */
  state: ResourceState | undefined
}

interface Row {
  _id: string
  user_id: string
  name?: string
  username?: string
  /** Of tokens: former ones of a resource that rotates. */
  revoked_at?: Date
  managed_by?: ManagedBy
  k8s?: ResourceState
}

const KINDS = [
  ['domain', domains],
  ['dns_account', dnsAccounts],
  ['credential', credentials],
  ['token', tokens],
] as const

/** Most records of a kind that are shown; an operator with more uses kubectl. */
const LIMIT = 1_000
const FIELDS = { user_id: 1, name: 1, username: 1, managed_by: 1, k8s: 1 }

/** All of them, by namespace and name; `complete` is false when there are more than are shown. */
export async function managedRecords(db: Db): Promise<{ records: ManagedRecord[]; complete: boolean }> {
  const found = await Promise.all(
    KINDS.map(async ([type, collection]) => {
      const rows = await collectionOf<Row>(db, collection)
        .find({ managed_by: { $exists: true }, revoked_at: { $exists: false } }, { projection: FIELDS })
        .limit(LIMIT + 1)
        .toArray()
      return rows.flatMap(({ _id: id, user_id, name, username, managed_by, k8s }): ManagedRecord[] =>
        managed_by
          ? [{ resource: managed_by, record: { type, id, name: name ?? username ?? id, user_id }, state: k8s }]
          : [],
      )
    }),
  )
  return {
    records: found
      .flatMap(rows => rows.slice(0, LIMIT))
      .toSorted((a, b) => order(a.resource).localeCompare(order(b.resource))),
    complete: found.every(rows => rows.length <= LIMIT),
  }
}

function order({ namespace, name, kind }: ManagedBy): string {
  return `${namespace}/${name}/${kind}`
}
