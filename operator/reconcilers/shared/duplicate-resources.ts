/**
 * Which of several resources that declare the same thing holds it: the one that has the record, else the oldest, so that
 * a newcomer takes nothing away.
 */
import { isOwner, type OwningResource } from '../../../services/platform/owning-resource.ts'
import type { KubeObject } from '../../kube/object-cache.ts'

/**
 * Whose the record is. Age decides only while none of them has it: one that may have it only later, however old it is,
 * waits for the one that holds it, instead of both waiting for each other.
 */
export function currentOwner<T extends KubeObject>(
  objects: readonly T[],
  owner: OwningResource | undefined,
): T | undefined {
  return objects.find(object => isRecordedOwner(object, owner)) ?? oldest(objects)
}

/** True for the object that a record of its kind names as its owner, and for one made anew in its place. */
export function isRecordedOwner({ metadata }: KubeObject, owner: OwningResource | undefined): boolean {
  if (!owner) return false
  const { namespace = '', name, uid } = metadata
  return isOwner(owner, { kind: owner.kind, namespace, name, uid })
}

/** Which of the others takes over when the object with this uid goes. */
export function successor<T extends KubeObject>(objects: readonly T[], uid: string): T | undefined {
  return oldest(objects.filter(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined))
}

/** Time stamps have whole seconds: of two made in the same second the smaller uid decides. */
function oldest<T extends KubeObject>(objects: readonly T[]): T | undefined {
  return objects.toSorted(byAge)[0]
}

function byAge({ metadata: one }: KubeObject, { metadata: two }: KubeObject): number {
  return order(one.creationTimestamp, two.creationTimestamp) || order(one.uid, two.uid)
}

function order(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
