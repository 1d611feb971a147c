/** Charts of subscription changes and revenue by day. */
import { SimpleGrid } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Card } from '../../ui/layout/page.tsx'
import { type Series, StackedBars } from '../../ui/values/stacked-bars.tsx'
import type { SubOutput } from '../shared/subscriptions-api.ts'

type Day = SubOutput<'overviewOperation'>['trend'][number]

export function AnalyticsCharts({ trend }: { trend: readonly Day[] }) {
  const { t } = useTranslation()
  const people: Series<Day>[] = [
    { key: 'new_subscriptions', name: t('subs.newSubscriptions'), colour: 'var(--pw-chart-ok)' },
    { key: 'renewals', name: t('subs.renewals'), colour: 'var(--pw-chart-wait)' },
    { key: 'ended', name: t('subs.ended'), colour: 'var(--pw-chart-bad)' },
  ]
  const money: Series<Day>[] = [{ key: 'revenue', name: t('subs.revenue'), colour: 'var(--pw-chart-ok)' }]
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title={t('subs.movements')}>
        <StackedBars name={t('subs.movements')} days={trend} series={people} />
      </Card>
      <Card title={t('subs.revenue')}>
        <StackedBars name={t('subs.revenue')} days={trend} series={money} />
      </Card>
    </SimpleGrid>
  )
}
