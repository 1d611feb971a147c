/** Chart of recipients by day and delivery status. */
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { type Series, StackedBars } from '../../ui/values/stacked-bars.tsx'

type Day = Output<'getStats'>['days'][number]

export function OverviewChart({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  const series: Series<Day>[] = [
    { key: 'delivered', name: t('overview.series.delivered'), colour: 'var(--pw-chart-ok)' },
    { key: 'waiting', name: t('overview.series.waiting'), colour: 'var(--pw-chart-wait)' },
    { key: 'bounced', name: t('overview.series.bounced'), colour: 'var(--pw-chart-bad)' },
    { key: 'failed', name: t('overview.series.failed'), colour: 'var(--pw-chart-worse)' },
    { key: 'complained', name: t('overview.series.complained'), colour: 'var(--pw-chart-complained)' },
  ]
  return <StackedBars name={t('overview.byDay')} days={days} series={series} />
}
