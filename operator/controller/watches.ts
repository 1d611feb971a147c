/** Which change enqueues which resources: all dependencies between resources, records, Secrets and Namespaces. */
import { isDeepStrictEqual } from 'node:util'
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
const RECORD_FIELDS = [
  ...['domainId', 'accountId', 'credentialId', 'tokenId', 'templateId'],
  ...['appId', 'planId', 'switchId', 'webhookId'],
] as const
/**
 * Fields whose changes concern no resource: our own notes, times of use, and the lease of a check, whose result follows.
 */
const NOISE: readonly string[] = ['k8s', 'last_used_at', 'updated_at', 'dns_owned', 'next_check_at', 'quick_check_at']

/** Puts a key of a kind into its queue. */
export type Enqueue = (kind: string, key: string, priority?: Priority) => void

/** An index over a kind by the name of another object. */
interface Reference {
  kind: string
  /** Name of the index and kind of the object that is referred to. */
  to: string
  /** Path of the name inside of the spec; a list on it stands for each of its entries. */
  path: readonly string[]
  /** Namespace of the other object; default is the same one. */
  namespace?: (object: KubeObject) => string
}

/** The kind of the provider that a MailDomain names. */
function providerKindOf(object: KubeObject): string {
  return textAt(object, ['dns', 'providerRef', 'kind']) ?? 'DNSProvider'
}

const REFERENCES: readonly Reference[] = [
  { kind: 'MailDomain', to: 'DNSProvider', path: ['dns', 'providerRef', 'name'] },
  { kind: 'MailDomain', to: 'ClusterDNSProvider', path: ['dns', 'providerRef', 'name'], namespace: () => '' },
  {
    kind: 'ClusterDNSProvider',
    to: 'Secret',
    path: ['secretRef', 'name'],
    namespace: object => textAt(object, ['secretRef', 'namespace']) ?? '',
  },
  { kind: 'SMTPCredential', to: 'MailDomain', path: ['domainRef', 'name'] },
  { kind: 'APIToken', to: 'MailDomain', path: ['domainRef', 'name'] },
  { kind: 'WebhookEndpoint', to: 'MailDomain', path: ['domainRefs', 'name'] },
  { kind: 'WebhookEndpoint', to: 'App', path: ['appRef', 'name'] },
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
    for (const { kind: from, to, ...reference } of REFERENCES.filter(({ kind: from }) => from === kind)) {
      const target = to === 'Secret' ? secrets : caches.get(to)
      cache.addIndex(to, object => referenced(object, { to, ...reference }))
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
  for (const kind of NAMING_OWNERS) caches.get(kind)?.addIndex(OWNER_INDEX, ownersNamedBy)
  secrets.onChange(change => {
    if (!change.initial) wakeOwner(change, caches, enqueue)
  })
}

/** Kinds whose records or senders depend on the owners that the Namespace lists. */
const OWNED_KINDS = [
  ...['MailDomain', 'SMTPCredential', 'APIToken', 'DNSProvider', 'Template', 'WebhookEndpoint'],
  ...['App', 'SubscriptionPlan', 'FeatureSwitch'],
] as const

/**
 * A change of the owners annotation enqueues every resource of the Namespace; one of its labels, which a ClusterDNSProvider may
 * select, those MailDomains that name one, and all ClusterDNSProviders: they withdraw the permission also from paused ones.
 */
export function wireNamespaces(
  namespaces: ObjectCache,
  caches: ReadonlyMap<string, ObjectCache>,
  enqueue: Enqueue,
): void {
  const enqueueWithin = (kind: string, namespace: string, concerns: (key: string) => boolean = () => true) => {
    for (const key of caches.get(kind)?.keys() ?? [])
      if (key.startsWith(`${namespace}/`) && concerns(key)) enqueue(kind, key)
  }
  const listed = (namespace: KubeObject | undefined) => namespace?.metadata.annotations?.[OWNERS_ANNOTATION]
  namespaces.onChange(({ before, after, initial }) => {
    if (initial || !after) return
    const { name } = after.metadata
    if (listed(before) !== listed(after)) for (const kind of OWNED_KINDS) enqueueWithin(kind, name)
  })
  namespaces.onChange(({ before, after, initial }) => {
    if (initial || !after || isDeepStrictEqual(before?.metadata.labels, after.metadata.labels)) return
    // With other owners all of them are enqueued already.
    if (listed(before) === listed(after))
      enqueueWithin('MailDomain', after.metadata.name, key => namesClusterProvider(caches, key))
    for (const key of caches.get('ClusterDNSProvider')?.keys() ?? []) enqueue('ClusterDNSProvider', key)
  })
}

function namesClusterProvider(caches: ReadonlyMap<string, ObjectCache>, key: string): boolean {
  const object = caches.get('MailDomain')?.get(key)
  return object !== undefined && providerKindOf(object) === 'ClusterDNSProvider'
}

/** A change of a DNSEndpoint, also one by external-dns in its status, enqueues the MailDomain of its name. */
export function wireDnsEndpoints(endpoints: ObjectCache, enqueue: Enqueue): void {
  endpoints.onChange(({ key, initial }) => {
    if (!initial) enqueue('MailDomain', key)
  })
}

/** Index of Apps: the domain of their sender, and whether they have a sender at all. */
const SENDER_INDEX = 'sender'
const ANY_SENDER = '*'

function sendersOf(object: KubeObject): string[] {
  const { spec } = object as KubeObject & { spec?: { mailFrom?: string } }
  return spec?.mailFrom === undefined ? [] : [ANY_SENDER, domainOf(spec.mailFrom)]
}

/** Index: the account that a resource names as its owner. */
const OWNER_INDEX = 'owner'
/** Kinds that may name one. */
const NAMING_OWNERS = ['MailDomain', 'Template', 'WebhookEndpoint'] as const

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
    if (document) for (const kind of NAMING_OWNERS) wake(kind, OWNER_INDEX, document.username)
  }
}

/** A change of a record, by any process, enqueues the resource that manages it and those that wait for it. */
export function recordChanged(caches: ReadonlyMap<string, ObjectCache>, enqueue: Enqueue) {
  return (change: RecordChange): void => {
    const { id, document, fields } = change
    wakeWaiting(change, caches, enqueue)
    if (fields?.every(field => NOISE.includes(field))) return
    const owner = document?.managed_by as { kind?: string; namespace?: string; name?: string } | undefined
    if (owner?.kind && owner.name) enqueue(owner.kind, `${owner.namespace ?? ''}/${owner.name}`)
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

function referenced(object: KubeObject, { to, path, namespace }: Omit<Reference, 'kind'>): string[] {
  if (to.endsWith('DNSProvider') && providerKindOf(object) !== to) return []
  const place = namespace ? namespace(object) : (object.metadata.namespace ?? '')
  return textsAt(object, path).map(name => keyOf({ namespace: place, name }))
}

/** The first text at a path inside of the spec. */
function textAt(object: KubeObject, path: readonly string[]): string | undefined {
  return textsAt(object, path)[0]
}

/** The texts at a path inside of the spec, which other releases may have written. */
function textsAt(object: KubeObject, path: readonly string[]): string[] {
  let found: unknown[] = [(object as KubeObject & { spec?: unknown }).spec]
  for (const part of path)
    found = found.flatMap(value => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : []))
  return found.filter(value => typeof value === 'string')
}
