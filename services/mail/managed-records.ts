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
import { templates } from './templates/store/templates.ts'
import { mailWebhooks } from './webhooks/store/webhook-collections.ts'

interface Row extends ManagedFields {
  _id: string
  user_id: string
  name?: string
  username?: string
}

const COLLECTIONS = {
  domain: domains,
  dns_account: dnsAccounts,
  credential: credentials,
  token: tokens,
  template: templates,
  webhook: mailWebhooks,
} as const

const KINDS = {
  MailDomain: 'domain',
  DNSProvider: 'dns_account',
  ClusterDNSProvider: 'dns_account',
  SMTPCredential: 'credential',
  APIToken: 'token',
  Template: 'template',
  WebhookEndpoint: 'webhook',
} as const

/** Kinds of the mail module whose records carry a state. */
export type MirroredKind = keyof typeof KINDS

/** All of them, by namespace and name, without the former tokens of a resource that rotates. */
export function managedRecords(db: Db) {
  const types = Object.keys(COLLECTIONS) as (keyof typeof COLLECTIONS)[]
  const sources = types.map(type =>
    managedIn(
      collectionOf<Row>(db, COLLECTIONS[type]),
      { revoked_at: { $exists: false } },
      ['user_id', 'name', 'username'],
      ({ _id: id, user_id, name, username }) => ({ type, id, name: name ?? username ?? id, user_id }),
    ),
  )
  return listManaged(sources)
}

/** Writes the state onto the record of the resource, for the panel. */
export function mirrorState(db: Db, kind: MirroredKind, uid: string, id: string, state: ResourceState): Promise<void> {
  return mirrorOnto(collectionOf<Row>(db, COLLECTIONS[KINDS[kind]]), { id, uid }, state)
}
