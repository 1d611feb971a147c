/** Which Kubernetes resource a managed record answers to. */

/** A resource, as a record that it manages remembers it. */
export interface OwningResource {
  kind: string
  namespace: string
  name: string
  uid: string
}

/**
 * True when `resource` is the owner, or its successor: one that was made anew under its kind and name, in a restored
 * cluster for instance, goes on with the record. Nobody at all (a person) is never the owner.
 */
export function isOwner(owner: OwningResource, resource: OwningResource | undefined): boolean {
  if (!resource) return false
  if (owner.uid === resource.uid) return true
  return owner.kind === resource.kind && owner.namespace === resource.namespace && owner.name === resource.name
}
