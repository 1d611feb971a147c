/** Says that a Kubernetes resource owns a record, so that nobody wonders why it cannot be changed here. */
import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Status } from './status.tsx'

/** The resource as the API names it. */
export interface ResourceName {
  kind: string
  namespace: string
  name: string
}

/** A pill with the resource's name; nothing for records of people. */
export function ManagedBy({ resource }: { resource: ResourceName | null | undefined }) {
  const { t } = useTranslation()
  if (!resource) return null
  return (
    <Tooltip label={t('ui.managedHint')} multiline w={260}>
      <span>
        <Status tone="info">
          {resource.kind} {resource.namespace}/{resource.name}
        </Status>
      </span>
    </Tooltip>
  )
}
