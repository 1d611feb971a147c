/** The pill of a record that a Kubernetes resource owns, from the text that this API gives. */
import { ManagedBy } from '../../kubernetes/managed-by.tsx'

/** Nothing for records of people; `k8s:namespace/name` otherwise. */
export function ManagedBadge({ resource }: { resource: string | undefined }) {
  const match = /^k8s:(?<namespace>[^/]+)\/(?<name>.+)$/.exec(resource ?? '')
  const { namespace, name } = match?.groups ?? {}
  if (!namespace || !name) return null
  return <ManagedBy resource={{ kind: 'Kubernetes', namespace, name }} />
}
