/** The context of the reconcilers, and what they read from caches and Namespaces. */
import type { ManagedBy } from '../../../services/platform/managed/rules/managed-by.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'
import type { Recorder } from '../../kube/event-recorder.ts'
import type { ObjectCache } from '../../kube/object-cache.ts'
import { keyOf } from '../../kube/object-paths.ts'
import type { Writer } from '../../kube/object-writer.ts'
import type { Kind, Metadata, Resource } from '../../resources/kind.ts'
import { allowedOwners } from './namespace-owners.ts'

/** Dependencies of all reconcilers. */
export interface OperatorContext extends Foundation {
  /** Objects of each kind, by the kind's name. */
  caches: ReadonlyMap<string, ObjectCache>
  /** Namespace of the operator itself. */
  ownNamespace: string
  /** Whether all namespaces are watched, and with them the cluster-scoped kinds. */
  clusterWide: boolean
  /** Secrets with one of our labels. */
  secretCache: ObjectCache
  /** Every write checks the lease first. */
  writer: Writer
  recorder: Recorder
  /** Throws when this process is no longer the leader: guards writes to providers. */
  assertLeader(): void
  /** Puts another resource into its queue. */
  enqueue(kind: string, key: string): void
}

/** What identifies an object. */
interface Identity {
  namespace?: string | undefined
  name: string
  uid: string
}

/** The owner that records of a resource store. */
export function managedBy({ kind, metadata }: { kind: string; metadata: Identity }): ManagedBy {
  const { namespace = '', name, uid } = metadata
  return { kind, namespace, name, uid }
}

/** The cache of a kind. */
export function cacheOf(context: Pick<OperatorContext, 'caches'>, kind: Pick<Kind, 'kind'>): ObjectCache {
  const cache = context.caches.get(kind.kind)
  if (!cache) throw new Error(`${kind.kind} is not watched`)
  return cache
}

/** A cluster-scoped resource, parsed; undefined as in {@link sibling}. */
export function clusterResource<Spec, Status>(
  context: Pick<OperatorContext, 'caches'>,
  kind: Kind<Spec, Status>,
  name: string,
): Resource<Spec, Status> | undefined {
  return sibling(context, kind, { namespace: '' }, name)
}

/** Another resource of the same namespace, parsed; undefined when it is missing, going, or not readable. */
export function sibling<Spec, Status>(
  context: Pick<OperatorContext, 'caches'>,
  kind: Kind<Spec, Status>,
  { namespace }: Pick<Metadata, 'namespace'>,
  name: string,
): Resource<Spec, Status> | undefined {
  const object = cacheOf(context, kind as Kind).get(keyOf({ namespace, name }))
  if (!object) return undefined
  try {
    const resource = kind.parse(object)
    return resource.metadata.deletionTimestamp === undefined ? resource : undefined
  } catch {
    return undefined
  }
}

/** Reads the owners that the Namespace lists from the API server; a deleted Namespace lists none. */
export function ownersOf({ writer }: Pick<OperatorContext, 'writer'>, namespace: string) {
  return async () => allowedOwners((await writer.readNamespace(namespace))?.metadata.annotations)
}
