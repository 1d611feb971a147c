import { ManagedBy } from '../../kubernetes/managed-by.tsx'

/** `resource` has the form `k8s:namespace/name`; renders nothing for unmanaged records. */
export function ManagedBadge({ resource }: { resource: string | undefined }) {
  const match = /^k8s:(?<namespace>[^/]+)\/(?<name>.+)$/.exec(resource ?? '')
  const { namespace, name } = match?.groups ?? {}
  if (!namespace || !name) return null
  return <ManagedBy resource={{ kind: 'Kubernetes', namespace, name }} />
}
