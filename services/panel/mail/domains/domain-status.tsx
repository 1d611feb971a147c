/** Status of a domain, and how it was verified. */
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'

type Domain = Pick<Output<'getDomainOperation'>, 'status' | 'verified_by'>

const TONES: Record<Domain['status'], Tone> = { pending: 'warn', verified: 'ok', failed: 'bad', suspended: 'bad' }

export function DomainStatus({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const how = domain.status === 'verified' && domain.verified_by ? t(`domains.by.${domain.verified_by}`) : undefined
  return (
    <StatusBadge tone={TONES[domain.status]}>
      {t(`domains.status.${domain.status}`)}
      {how ? ` · ${how}` : ''}
    </StatusBadge>
  )
}
