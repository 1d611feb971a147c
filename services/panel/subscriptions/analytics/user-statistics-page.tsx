/** Statistics of the end users of an app: totals, growth, days, platforms. */
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
import { AnalyticsFrame } from './analytics-frame.tsx'
import { UserChart } from './user-chart.tsx'

type Statistics = SubOutput<'userStatisticsOperation'>
type Day = NonNullable<Statistics['trend']>[number]
type Platform = NonNullable<Statistics['platforms']>[number]

const route = getRouteApi('/shell/apps/$key/user-statistics')

export function UserStatisticsPage() {
  const { t } = useTranslation()
  const { days = DEFAULT_DAYS_RANGE } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <AnalyticsFrame
      tab="users"
      lead={t('subs.userStatisticsLead')}
      days={days}
      go={search => void navigate({ search, replace: true })}
    >
      {appKey => <UserStatistics appKey={appKey} days={days} />}
    </AnalyticsFrame>
  )
}

function UserStatistics({ appKey, days }: { appKey: string; days: number }) {
  const { t } = useTranslation()
  const trend = useSubRead('userStatisticsOperation', { query: { app_key: appKey, type: 'trend', days } })
  const platforms = useSubRead('userStatisticsOperation', { query: { app_key: appKey, type: 'platform' } })
  return (
    <Loaded query={trend} loading={<Skeleton height={320} radius="lg" />}>
      {statistics => (
        <>
          <Totals statistics={statistics} />
          <Card title={t('subs.usersByDay')}>
            <UserChart days={statistics.trend ?? []} />
          </Card>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <DayTable days={statistics.trend ?? []} />
            <Loaded query={platforms}>{answer => <Platforms platforms={answer.platforms ?? []} />}</Loaded>
          </SimpleGrid>
        </>
      )}
    </Loaded>
  )
}

function Totals({ statistics }: { statistics: Statistics }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const growth = (value: number) => `${value > 0 ? '+' : ''}${percent(value / 100)}`
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      <Statistic
        label={t('subs.totalUsers')}
        value={number(statistics.total_users)}
        hint={t('subs.enabledUsers', {
          share: percent(statistics.active_rate / 100),
          disabled: number(statistics.inactive_users),
        })}
      />
      <Statistic
        label={t('subs.newUsersToday')}
        value={number(statistics.today_new_users)}
        hint={t('subs.againstYesterday', {
          count: statistics.yesterday_new_users,
          growth: growth(statistics.daily_growth_rate),
        })}
      />
      <Statistic
        label={t('subs.newUsersMonth')}
        value={number(statistics.this_month_new_users)}
        hint={t('subs.againstLastMonth', {
          count: statistics.last_month_new_users,
          growth: growth(statistics.monthly_growth_rate_like_for_like),
        })}
      />
      <Statistic
        label={t('subs.loginsToday')}
        value={number(statistics.today_login_users)}
        hint={t('subs.loginsTodayHint')}
      />
    </SimpleGrid>
  )
}

/** Newest day first, as in the lists. */
function DayTable({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  const { number, day } = useFormat()
  const columns: Column<Day>[] = [
    { label: t('overview.day'), cell: row => day(row.date) },
    { label: t('subs.newUsers'), end: true, cell: row => number(row.new_users) },
    { label: t('subs.loginUsers'), end: true, cell: row => number(row.login_users) },
  ]
  return (
    <Card title={t('subs.byDay')} flush>
      <div className="pw-day-table">
        <DataTable name={t('subs.byDay')} columns={columns} rows={days.toReversed()} rowKey={row => row.date} />
      </div>
    </Card>
  )
}

function Platforms({ platforms }: { platforms: readonly Platform[] }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const columns: Column<Platform>[] = [
    { label: t('subs.platform'), cell: row => row.platform || t('subs.unknownPlatform') },
    { label: t('subs.totalUsers'), end: true, cell: row => number(row.total_users) },
    { label: t('subs.share'), end: true, cell: row => percent(row.share / 100) },
  ]
  if (platforms.length === 0) return null
  return (
    <Card title={t('subs.byPlatform')} flush>
      <DataTable name={t('subs.byPlatform')} columns={columns} rows={platforms} rowKey={row => row.platform} />
    </Card>
  )
}
