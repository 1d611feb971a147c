import { useTranslation } from 'react-i18next'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { type MailStatus, toneOf } from './mail-statuses.ts'

export function MailStatusBadge({ status }: { status: string }) {
  const { t } = useTranslation()
  return (
    <StatusBadge tone={toneOf(status)}>
      {t(`messages.status.${status as MailStatus}`, { defaultValue: status })}
    </StatusBadge>
  )
}
