/** Chart of recipients by day or hour and delivery status; each bar leads to its messages. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../ui/values/number-format.ts'
import { type Series, StackedBars } from '../../ui/values/stacked-bars.tsx'
import { logOfBar } from './overview-search.ts'
import type { Bar, Report } from './use-report.ts'

export function OverviewChart({ report: { bars, span } }: { report: Report }) {
  const { t } = useTranslation()
  const { day, hour } = useFormat()
  const navigate = useNavigate()
  const format = span.endsWith('h') ? hour : day
  const series: Series<Bar>[] = [
    { key: 'delivered', name: t('overview.series.delivered'), colour: 'var(--pw-chart-ok)' },
    { key: 'waiting', name: t('overview.series.waiting'), colour: 'var(--pw-chart-wait)' },
    { key: 'bounced', name: t('overview.series.bounced'), colour: 'var(--pw-chart-bad)' },
    { key: 'failed', name: t('overview.series.failed'), colour: 'var(--pw-chart-worse)' },
    { key: 'complained', name: t('overview.series.complained'), colour: 'var(--pw-chart-complained)' },
  ]
  return (
    <StackedBars
      name={t(span.endsWith('h') ? 'overview.byHour' : 'overview.byDay')}
      unit={t(span.endsWith('h') ? 'overview.hour' : 'overview.day')}
      days={bars}
      series={series}
      format={format}
      open={bar => void navigate({ to: '/messages', search: logOfBar(bar.date, span) })}
      link={bar => (
        <Link to="/messages" search={logOfBar(bar.date, span)} className="pw-link">
          {format(bar.date)}
        </Link>
      )}
    />
  )
}
