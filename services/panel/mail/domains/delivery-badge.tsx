/** Shows that mail of a domain does not go to its recipients. */
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'

export function DeliveryBadge({
  domain: { delivery, redirect_to },
}: {
  domain: Pick<Output<'getDomainOperation'>, 'delivery' | 'redirect_to'>
}) {
  const { t } = useTranslation()
  if (delivery === 'live') return null
  return (
    <StatusBadge tone="warn" {...(redirect_to !== null && { title: redirect_to })}>
      {t(`inbox.badge.${delivery}`)}
    </StatusBadge>
  )
}
