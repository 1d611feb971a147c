/** Usage of the daily recipient limit. */
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { useFormat } from '../../ui/values/number-format.ts'
import { Statistic } from '../../ui/values/statistic.tsx'

/** Share of the limit from which a warning is shown. */
const WARNING_SHARE = 0.9

/** Renders nothing without a limit, or while it is loading. */
export function DailyLimit() {
  const { t } = useTranslation()
  const { number } = useFormat()
  const { data } = useRead('getLimits', {})
  if (!data || data.recipients_per_day === 0) return null
  const { recipients_today: used, recipients_per_day: limit } = data
  const tone = used >= limit ? 'bad' : used >= WARNING_SHARE * limit ? 'warn' : undefined
  return (
    <Statistic
      label={t('overview.today')}
      value={t('overview.ofLimit', { used: number(used), limit: number(limit) })}
      {...(tone ? { tone } : {})}
      hint={t('overview.todayHint')}
    />
  )
}
