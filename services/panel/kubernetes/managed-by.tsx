/** Badge of records that are managed by a Kubernetes resource and therefore read-only in the panel. */
import { Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useAccount } from '../session/session.ts'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'

export interface ResourceName {
  kind: string
  namespace: string
  name: string
}

/** Badge with the resource's name, for admins a link to its conditions; nothing for unmanaged records. */
export function ManagedBy({ resource }: { resource: ResourceName | null | undefined }) {
  const { t } = useTranslation()
  const { role } = useAccount()
  if (!resource) return null
  const { kind, namespace, name } = resource
  const pill = (
    <StatusBadge tone="info">
      {kind} {namespace}/{name}
    </StatusBadge>
  )
  return (
    <Tooltip label={t('ui.managedHint')} multiline w={260}>
      {role === 'admin' ? (
        <Link to="/admin/resources" search={{ q: `${namespace}/${name}` }} className="pw-pill-link">
          {pill}
        </Link>
      ) : (
        <span>{pill}</span>
      )}
    </Tooltip>
  )
}
