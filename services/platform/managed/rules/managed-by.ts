/** Records that a Kubernetes resource manages: only the resource changes them, or it would undo what people change. */

import type { ManagedBy, ResourceState } from '../managed-fields.ts'

export type { ManagedBy, ResourceState }

/**
 * True when `resource` is the owner or its successor: a resource that was recreated with the same kind, namespace and
 * name, for instance in a restored cluster, continues with the record. A person (undefined) is never the owner.
 */
export function isOwner(owner: ManagedBy, resource: ManagedBy | undefined): boolean {
  if (!resource) return false
  if (owner.uid === resource.uid) return true
  return owner.kind === resource.kind && owner.namespace === resource.namespace && owner.name === resource.name
}

/** The resource that keeps `acting` from changing a record; undefined when it may. */
export function otherOwner(record: { managed_by?: ManagedBy }, acting: ManagedBy | undefined): ManagedBy | undefined {
  return record.managed_by && !isOwner(record.managed_by, acting) ? record.managed_by : undefined
}

/** How the resource is named to people: `k8s:namespace/name`. */
export function managedText({ namespace, name }: ManagedBy): string {
  return `k8s:${namespace}/${name}`
}
