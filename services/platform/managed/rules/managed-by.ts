/** Records that a Kubernetes resource manages: only the resource changes them, or it would undo what people change. */

/** The resource that manages a record, as the record remembers it. */
export interface ManagedBy {
  kind: string
  namespace: string
  name: string
  uid: string
}

/** The state of the managing resource, as the operator last saw it. */
export interface ResourceState {
  ready: boolean
  reason: string
  message: string
  conditions: { type: string; status: 'True' | 'False' | 'Unknown'; reason: string; message: string }[]
  observed_at: Date
}

/**
 * True when `resource` is the owner, or its successor: one that was created again under its kind and name, in a restored
 * cluster for instance, goes on with the record. A person (undefined) is never the owner.
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
