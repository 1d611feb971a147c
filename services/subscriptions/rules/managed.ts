/** Records that a Kubernetes resource manages. */

/** The resource. */
export interface ManagedBy {
  kind: string
  namespace: string
  name: string
  uid: string
}

/** How the resource is named to people: `k8s:namespace/name`. */
export function managedText({ namespace, name }: ManagedBy): string {
  return `k8s:${namespace}/${name}`
}
