/** Which change enqueues which resources: all dependencies between resources, records, Secrets and Namespaces. */
import { accountCollection } from '../../services/accounts/find-account.ts'
import { DOMAIN_COLLECTION } from '../../services/mail/declared-collections.ts'
import { domainOf } from '../../services/mail/message/address.ts'
import type { RecordChange } from '../../services/platform/database/watch-changes.ts'
import type { Change, KubeObject, ObjectCache } from '../kube/object-cache.ts'
import { keyOf } from '../kube/object-paths.ts'
import { DECLARED_DOMAIN_INDEX, declaredDomains } from '../reconcilers/mail-domain/mail-domain-owner.ts'
import { FINALIZER } from '../reconcilers/shared/finalizer.ts'
import { OWNERS_ANNOTATION } from '../reconcilers/shared/namespace-owners.ts'
import { APP_KEY_INDEX } from '../reconcilers/subscriptions/app-reconciler.ts'
import type { Priority } from './work-queue.ts'

function appKeysOf(object: KubeObject): string[] {
  const { spec } = object as KubeObject & { spec?: { appKey?: string } }
  return spec?.appKey === undefined ? [] : [spec.appKey]
}

/** Index of every kind: id of the record in the database. */
const RECORD_INDEX = 'record'
/** Fields of the status that name a record. */
const RECORD_FIELDS = ['domainId', 'accountId', 'credentialId', 'tokenId', 'appId', 'planId', 'switchId'] as const
/**
 * Fields whose changes concern no resource: our own notes, times of use, and the lease of a check, whose result follows.
 */
const NOISE: readonly string[] = ['k8s', 'last_used_at', 'updated_at', 'dns_owned', 'next_check_at']

/** Puts a key of a kind into its queue. */
export type Enqueue = (kind: string, key: string, priority?: Priority) => void

/** An index over a kind by the name of another object of the same namespace. */
interface Reference {
  kind: string
  /** Name of the index and kind of the object that is referred to. */
  to: string
  /** Path of the name inside of the spec. */
  path: readonly string[]
}

const REFERENCES: readonly Reference[] = [
  { kind: 'MailDomain', to: 'DNSProvider', path: ['dns', 'providerRef', 'name'] },
  { kind: 'SMTPCredential', to: 'MailDomain', path: ['domainRef', 'name'] },
  { kind: 'APIToken', to: 'MailDomain', path: ['domainRef', 'name'] },
  { kind: 'SubscriptionPlan', to: 'App', path: ['appRef', 'name'] },
  { kind: 'FeatureSwitch', to: 'App', path: ['appRef', 'name'] },
  { kind: 'DNSProvider', to: 'Secret', path: ['secretRef', 'name'] },
]

/** Connects the caches with the queues. `secrets` holds the labelled Secrets. */
export function wire(caches: ReadonlyMap<string, ObjectCache>, secrets: ObjectCache, enqueue: Enqueue): void {
  for (const [kind, cache] of caches) {
    cache.addIndex(RECORD_INDEX, recordsOf)
    cache.onChange(change => {
      if (needsRun(change)) enqueue(kind, change.key, change.initial ? 'low' : 'high')
    })
    for (const { kind: from, to, path } of REFERENCES.filter(({ kind: from }) => from === kind)) {
      const target = to === 'Secret' ? secrets : caches.get(to)
      cache.addIndex(to, object => referenced(object, path))
      target?.onChange(change => {
        if (change.initial || !concernsOthers(change)) return
        for (const key of cache.find(to, change.key)) enqueue(from, key)
      })
    }
  }
  /** When a resource is deleted, the next one that declares the same record takes over. */
  const wireDuplicates = (kind: string, index: string, of: (object: KubeObject) => string[]) => {
    const cache = caches.get(kind)
    cache?.addIndex(index, of)
    cache?.onChange(({ before, after }) => {
      if (!before || after) return
      for (const name of of(before)) for (const key of cache.find(index, name)) enqueue(kind, key)
    })
  }
  wireDuplicates('MailDomain', DECLARED_DOMAIN_INDEX, declaredDomains)
  wireDuplicates('App', APP_KEY_INDEX, appKeysOf)
  caches.get('App')?.addIndex(SENDER_INDEX, sendersOf)
  caches.get('MailDomain')?.addIndex(OWNER_INDEX, ownersNamedBy)
  secrets.onChange(change => {
    if (!change.initial) wakeOwner(change, caches, enqueue)
  })
}

/** Kinds whose records or senders depend on the owners that the Namespace lists. */
const OWNED_KINDS = [
  ...['MailDomain', 'SMTPCredential', 'APIToken', 'DNSProvider'],
  ...['App', 'SubscriptionPlan', 'FeatureSwitch'],
] as const

/** A change of the owners annotation enqueues every resource of the Namespace. */
export function wireNamespaces(
  namespaces: ObjectCache,
  caches: ReadonlyMap<string, ObjectCache>,
  enqueue: Enqueue,
): void {
  namespaces.onChange(({ before, after, initial }) => {
    const listed = (namespace: KubeObject | undefined) => namespace?.metadata.annotations?.[OWNERS_ANNOTATION]
    if (initial || !after || listed(before) === listed(after)) return
    for (const kind of OWNED_KINDS)
      for (const key of caches.get(kind)?.keys() ?? [])
        if (key.startsWith(`${after.metadata.name}/`)) enqueue(kind, key)
  })
}

/** Index of Apps: the domain of their sender, and whether they have a sender at all. */
const SENDER_INDEX = 'sender'
const ANY_SENDER = '*'

function sendersOf(object: KubeObject): string[] {
  const { spec } = object as KubeObject & { spec?: { mailFrom?: string } }
  return spec?.mailFrom === undefined ? [] : [ANY_SENDER, domainOf(spec.mailFrom)]
}

/** Index of MailDomains: the account that they name as their owner. */
const OWNER_INDEX = 'owner'

function ownersNamedBy(object: KubeObject): string[] {
  const { spec } = object as KubeObject & { spec?: { owner?: { username?: string } } }
  return spec?.owner?.username === undefined ? [] : [spec.owner.username]
}

/** Wakes resources that depend on a record of another owner: the domain that an App sends from, the account of an owner. */
function wakeWaiting(
  { collection, document, fields }: Pick<RecordChange, 'collection' | 'document' | 'fields'>,
  caches: ReadonlyMap<string, ObjectCache>,
  enqueue: Enqueue,
): void {
  const touches = (...names: string[]) => fields === undefined || fields.some(field => names.includes(field))
  const wake = (kind: string, index: string, name: unknown) => {
    for (const key of caches.get(kind)?.find(index, String(name)) ?? []) enqueue(kind, key)
  }
  if (collection === DOMAIN_COLLECTION && touches('status', 'verified_by'))
    wake('App', SENDER_INDEX, document?.name ?? ANY_SENDER)
  if (collection === accountCollection.name && touches('status', 'role')) {
    wake('App', SENDER_INDEX, ANY_SENDER)
    if (document) wake('MailDomain', OWNER_INDEX, document.username)
  }
}

/** A change of a record, by any process, enqueues the resource that manages it and those that wait for it. */
export function recordChanged(caches: ReadonlyMap<string, ObjectCache>, enqueue: Enqueue) {
  return (change: RecordChange): void => {
    const { id, document, fields } = change
    wakeWaiting(change, caches, enqueue)
    if (fields?.every(field => NOISE.includes(field))) return
    const owner = document?.managed_by as { kind?: string; namespace?: string; name?: string } | undefined
    if (owner?.kind && owner.namespace && owner.name) enqueue(owner.kind, `${owner.namespace}/${owner.name}`)
    // The owner may be what changed, and the change of a removed record contains none.
    for (const [kind, cache] of caches) for (const key of cache.find(RECORD_INDEX, String(id))) enqueue(kind, key)
  }
}

function recordsOf(object: KubeObject): string[] {
  const { status = {} } = object as KubeObject & { status?: Partial<Record<string, unknown>> }
  return RECORD_FIELDS.flatMap(field => {
    const id = status[field]
    return typeof id === 'string' ? [id] : []
  })
}

/** Former owners too: their status has to report that the Secret is no longer theirs. */
function wakeOwner({ before, after }: Change, caches: ReadonlyMap<string, ObjectCache>, enqueue: Enqueue): void {
  const owners = [before, after].flatMap(secret =>
    (secret?.metadata.ownerReferences ?? [])
      .filter(({ kind }) => caches.has(kind))
      .map(({ kind, name }) => ({ kind, key: keyOf({ namespace: secret?.metadata.namespace ?? '', name }) })),
  )
  const once = new Map(owners.map(owner => [`${owner.kind} ${owner.key}`, owner]))
  for (const { kind, key } of once.values()) enqueue(kind, key)
}

/** Our own writes of the status must not start another run. */
export function needsRun({ before, after }: Pick<Change, 'before' | 'after'>): boolean {
  if (!after) return false
  if (!before || before.metadata.uid !== after.metadata.uid) return true
  const facts = ({ metadata }: KubeObject) =>
    JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations])
  const isUnguarded = hasFinalizer(before) && !hasFinalizer(after)
  return isUnguarded || facts(before) !== facts(after)
}

function hasFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false
}

/** Dependent resources run again when an object is created or deleted, or changes its spec, data or conditions. */
function concernsOthers({ before, after }: Change): boolean {
  if (!before || !after) return true
  return facts(before) !== facts(after)
}

function facts(object: KubeObject): string {
  const { metadata, spec, data, status } = object as KubeObject & {
    spec?: unknown
    data?: unknown
    status?: { conditions?: { type: string; status: string; reason: string }[]; owner?: string; accountId?: string }
  }
  const conditions = status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason])
  return JSON.stringify([metadata.deletionTimestamp, spec, data, conditions, status?.owner, status?.accountId])
}

function referenced({ metadata, ...rest }: KubeObject, path: readonly string[]): string[] {
  let value: unknown = (rest as { spec?: unknown }).spec
  for (const part of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  return typeof value === 'string' ? [keyOf({ namespace: metadata.namespace ?? '', name: value })] : []
}
