/** Overview page: delivery statistics of the chosen date range, or how to start while there are none. */
import { Button, SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { IconChartHistogram, IconRocket } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { DaysRangeControl, DEFAULT_DAYS_RANGE, daysRangeSearch } from '../../ui/layout/days-range.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { Statistic } from '../../ui/values/statistic.tsx'
import { MessageTable } from '../messages/message-table.tsx'
import { SendButton } from '../send/send-button.tsx'
import { DailyLimit } from './daily-limit.tsx'
import { BOUNCE_LIMITS, bounceTone, ratesOf } from './delivery-rates.ts'

const Chart = lazy(() => import('./overview-chart.tsx').then(module => ({ default: module.OverviewChart })))

const route = getRouteApi('/shell/')

const LATEST = { query: { limit: 5 } }

type Stats = Output<'getStats'>

export function OverviewPage() {
  const { t } = useTranslation()
  const { days = DEFAULT_DAYS_RANGE } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useRead('getStats', { query: { since: daysAgo(days - 1, Date.now()) } })
  return (
    <Page
      title={t('overview.title')}
      lead={t('overview.lead')}
      actions={
        <DaysRangeControl
          days={days}
          set={chosen => void navigate({ search: daysRangeSearch({ days: chosen }), replace: true })}
        />
      }
    >
      <Loaded
        query={query}
        loading={
          <Stack>
            <Skeleton height={110} radius="lg" />
            <Skeleton height={320} radius="lg" />
          </Stack>
        }
      >
        {stats => (
          <>
            <DailyLimit />
            <Content stats={stats} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** The date `days` days before `now` (milliseconds), in UTC as in the statistics of the service. */
export function daysAgo(days: number, now: number): string {
  return new Date(now - days * 86_400_000).toISOString().slice(0, 10)
}

function Content({ stats }: { stats: Stats }) {
  const { t } = useTranslation()
  if (stats.totals.messages === 0) return <NoMail />
  return (
    <>
      <Statistics totals={stats.totals} />
      <Card title={t('overview.byDay')}>
        <Suspense fallback={<Skeleton height={260} radius="md" />}>
          <Chart days={stats.days} />
        </Suspense>
      </Card>
      <Destinations domains={stats.domains} />
      <Latest />
    </>
  )
}

/** The first steps for an account that has never sent; else that there is nothing in the chosen time. */
function NoMail() {
  const { t } = useTranslation()
  const latest = useRead('listEmails', LATEST)
  return (
    <>
      <Card>
        <Loaded query={latest}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={<IconRocket size={26} />} title={t('overview.firstTitle')} action={<StartButton />}>
                {t('overview.firstHint')}
              </Empty>
            ) : (
              <Empty icon={<IconChartHistogram size={26} />} title={t('overview.empty')} action={<SendButton />}>
                {t('overview.emptyHint')}
              </Empty>
            )
          }
        </Loaded>
      </Card>
      <Latest />
    </>
  )
}

function StartButton() {
  const { t } = useTranslation()
  return <Button renderRoot={props => <Link {...props} to="/start" />}>{t('overview.firstAction')}</Button>
}

function Statistics({ totals }: { totals: Stats['totals'] }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const rates = ratesOf(totals)
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      <Statistic
        label={t('overview.messages')}
        value={number(totals.messages)}
        hint={t('overview.recipients', { count: totals.recipients })}
      />
      <Statistic label={t('overview.deliveredRate')} value={rates ? percent(rates.delivered) : '–'} />
      <Statistic
        label={t('overview.bounceRate')}
        value={rates ? percent(rates.bounced) : '–'}
        {...(rates ? { tone: bounceTone(rates.bounced) } : {})}
        hint={t('overview.bounceLimits', { warn: percent(BOUNCE_LIMITS.warn), bad: percent(BOUNCE_LIMITS.bad) })}
      />
      <Statistic label={t('overview.waiting')} value={number(totals.waiting)} hint={t('overview.waitingHint')} />
    </SimpleGrid>
  )
}

function Destinations({ domains }: { domains: Stats['domains'] }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const rate = (row: Stats['domains'][number]) => {
    const rates = ratesOf(row)
    return rates ? percent(rates.bounced) : '–'
  }
  const columns: Column<Stats['domains'][number]>[] = [
    { label: t('overview.destination'), cell: row => row.domain },
    { label: t('overview.recipientsShort'), end: true, cell: row => number(row.recipients) },
    { label: t('messages.status.delivered'), end: true, cell: row => number(row.delivered) },
    { label: t('overview.waiting'), end: true, cell: row => number(row.waiting) },
    { label: t('overview.bounceRate'), end: true, cell: rate },
  ]
  return (
    <Card title={t('overview.destinations')} flush>
      <DataTable name={t('overview.destinations')} columns={columns} rows={domains} rowKey={row => row.domain} />
    </Card>
  )
}

function Latest() {
  const { t } = useTranslation()
  const query = useRead('listEmails', LATEST)
  // Statistics are updated later than the log, so new messages appear here first.
  if (query.data?.data.length === 0) return null
  return (
    <Card title={t('overview.latest')} flush>
      <Loaded query={query}>{page => <MessageTable messages={page.data} />}</Loaded>
    </Card>
  )
}
