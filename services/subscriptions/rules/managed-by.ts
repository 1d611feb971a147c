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

/** Where the resource that manages a record stands, as administrators see it. */
export interface ResourceState {
  ready: boolean
  reason: string
  message: string
  conditions: { type: string; status: 'True' | 'False' | 'Unknown'; reason: string; message: string }[]
  observed_at: Date
}
