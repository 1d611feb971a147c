/**
 * Decides which of several resources with the same declaration owns the record: the one that the record names, else the
 * oldest, so that a new resource never takes a record over.
 */
import { isOwner, type ManagedBy } from '../../../services/platform/managed/rules/managed-by.ts'
import type { KubeObject } from '../../kube/object-cache.ts'

/**
 * The owner of the record. Age decides only while the record names none of them: an older resource that becomes entitled
 * later waits for the current owner, so that the two never wait for each other.
 */
export function currentOwner<T extends KubeObject>(objects: readonly T[], owner: ManagedBy | undefined): T | undefined {
  return objects.find(object => isRecordedOwner(object, owner)) ?? oldest(objects)
}

/** True for the object that a record names as its owner, and for one that was created again under its name. */
export function isRecordedOwner({ metadata }: KubeObject, owner: ManagedBy | undefined): boolean {
  if (!owner) return false
  const { namespace = '', name, uid } = metadata
  return isOwner(owner, { kind: owner.kind, namespace, name, uid })
}

/** The object that takes over when the one with this uid is deleted: the oldest of the others. */
export function successor<T extends KubeObject>(objects: readonly T[], uid: string): T | undefined {
  return oldest(objects.filter(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined))
}

/** Timestamps have a resolution of seconds: of two objects created in one second the smaller uid is first. */
function oldest<T extends KubeObject>(objects: readonly T[]): T | undefined {
  return objects.toSorted(byAge)[0]
}

function byAge({ metadata: one }: KubeObject, { metadata: two }: KubeObject): number {
  return order(one.creationTimestamp, two.creationTimestamp) || order(one.uid, two.uid)
}

function order(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
