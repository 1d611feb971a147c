/** Analytics of an app: users, subscriptions, revenue, trends. */
import { SimpleGrid, Skeleton } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { DEFAULT_DAYS_RANGE } from '../../ui/layout/days-range-search.ts'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { Statistic } from '../../ui/values/statistic.tsx'
import { type SubOutput, useSubRead } from '../shared/subscriptions-api.ts'
import { AnalyticsCharts } from './analytics-charts.tsx'
import { AnalyticsFrame } from './analytics-frame.tsx'

type Overview = SubOutput<'overviewOperation'>

const route = getRouteApi('/shell/apps/$key')

export function AnalyticsPage() {
  const { t } = useTranslation()
  const { days = DEFAULT_DAYS_RANGE } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <AnalyticsFrame
      tab="revenue"
      lead={t('subs.statisticsLead')}
      days={days}
      go={search => void navigate({ search, replace: true })}
    >
      {appKey => <Analytics appKey={appKey} days={days} />}
    </AnalyticsFrame>
  )
}

function Analytics({ appKey, days }: { appKey: string; days: number }) {
  const query = useSubRead('overviewOperation', { query: { app_key: appKey, days } })
  return (
    <Loaded query={query} loading={<Skeleton height={320} radius="lg" />}>
      {overview => <Content overview={overview} />}
    </Loaded>
  )
}

function Content({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const money = (value: number) => `¥${number(value)}`
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Statistic
          label={t('subs.totalUsers')}
          value={number(overview.total_users)}
          hint={t('subs.newToday', { count: overview.today_new_users })}
        />
        <Statistic
          label={t('subs.activeSubscriptions')}
          value={number(overview.active_subscriptions)}
          hint={t('subs.expiring', { count: overview.expiring_soon_subscriptions })}
        />
        <Statistic
          label={t('subs.revenueMonth')}
          value={money(overview.this_month_revenue)}
          hint={t('subs.revenueLast', { amount: money(overview.last_month_revenue) })}
        />
        <Statistic
          label={t('subs.mrr')}
          value={money(overview.mrr)}
          hint={t('subs.rates', {
            churn: percent(overview.churn_rate / 100),
            renewal: percent(overview.renewal_rate / 100),
          })}
        />
      </SimpleGrid>
      <AnalyticsCharts trend={overview.trend} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Shares
          title={t('subs.byPlan')}
          rows={overview.plans.map(row => ({ ...row, id: row.plan_id, name: row.plan_name }))}
        />
        <Shares
          title={t('subs.byMethod')}
          rows={overview.payment_methods.map(row => ({
            ...row,
            id: row.payment_method,
            name: t(`subs.methods.${row.payment_method as 'alipay'}`, { defaultValue: row.payment_method }),
          }))}
        />
      </SimpleGrid>
    </>
  )
}

interface Share {
  id: string
  name: string
  active_subscriptions: number
  share: number
}

function Shares({ title, rows }: { title: string; rows: readonly Share[] }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const columns: Column<Share>[] = [
    { label: t('subs.name'), cell: row => row.name },
    { label: t('subs.holders'), end: true, cell: row => number(row.active_subscriptions) },
    { label: t('subs.share'), end: true, cell: row => percent(row.share / 100) },
  ]
  if (rows.length === 0) return null
  return (
    <Card title={title} flush>
      <DataTable name={title} columns={columns} rows={rows} rowKey={row => row.id} />
    </Card>
  )
}
