/** Usage of the daily recipient limit. */
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { isAbsent, Loaded } from '../../ui/feedback/content-states.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { Statistic } from '../../ui/values/statistic.tsx'

/** Share of the limit from which a warning is shown. */
const WARNING_SHARE = 0.9

/** What {@link DailyLimit} shows. */
export const useDailyLimit = () => useRead('getLimits', {})

/** Renders nothing without a limit. */
export function DailyLimit({ query }: { query: ReturnType<typeof useDailyLimit> }) {
  if (isAbsent(query, ({ recipients_per_day: limit }) => limit === 0)) return null
  return (
    <Loaded query={query}>
      {({ recipients_today: used, recipients_per_day: limit }) => <Use used={used} limit={limit} />}
    </Loaded>
  )
}

function Use({ used, limit }: { used: number; limit: number }) {
  const { t } = useTranslation()
  const { number } = useFormat()
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
