/** Overview page: delivery statistics of the chosen date range, or how to start while there are none. */
import { Button, SegmentedControl, Skeleton, Stack } from '@mantine/core'
import { IconChartHistogram, IconRocket } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { Empty, isSettled, Loaded, LoadingRows } from '../../ui/feedback/content-states.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { MessageTable } from '../messages/message-table.tsx'
import { SendButton } from '../send/send-button.tsx'
import { Breakdown } from './breakdown.tsx'
import { DailyLimit, useDailyLimit } from './daily-limit.tsx'
import { DomainHealth, useDomainHealth } from './domain-health.tsx'
import { FailingDestinations, Reasons, useFailingDestinations } from './failures.tsx'
import { OverviewChart } from './overview-chart.tsx'
import { LATEST, SPANS, searchOf, spanOf } from './overview-search.ts'
import { OverviewTiles } from './overview-tiles.tsx'
import { type Report, useReport } from './use-report.ts'

const route = getRouteApi('/shell/')

export function OverviewPage() {
  const { t } = useTranslation()
  const span = spanOf(route.useSearch())
  const navigate = route.useNavigate()
  const { query, previous } = useReport(span)
  const [domains, limit] = [useDomainHealth(), useDailyLimit()]
  return (
    <Page
      title={t('overview.title')}
      lead={t('overview.lead')}
      actions={
        <SegmentedControl
          className="pw-segments"
          aria-label={t('overview.span')}
          value={span}
          onChange={value => {
            const chosen = SPANS.find(known => known === value) ?? span
            void navigate({ search: searchOf(chosen), replace: true })
          }}
          data={SPANS.map(value => ({ value, label: t(`overview.spans.${value}`) }))}
        />
      }
    >
      {isSettled(domains) && isSettled(limit) ? (
        <>
          <DomainHealth query={domains} />
          <Loaded query={query} loading={<LoadingTiles />}>
            {report => (
              <>
                <DailyLimit query={limit} />
                <Content report={report} previous={previous} />
              </>
            )}
          </Loaded>
        </>
      ) : (
        <LoadingTiles />
      )}
    </Page>
  )
}

function LoadingTiles() {
  const { t } = useTranslation()
  return (
    <Stack role="status" aria-label={t('ui.loading')}>
      <Skeleton height={110} radius="lg" />
      <Skeleton height={320} radius="lg" />
    </Stack>
  )
}

function Content({ report, previous }: { report: Report; previous: Report['totals'] | undefined }) {
  const { t } = useTranslation()
  if (report.totals.messages === 0) return <NoMail />
  return (
    <>
      <OverviewTiles report={report} previous={previous} />
      <Card title={t(report.span.endsWith('h') ? 'overview.byHour' : 'overview.byDay')}>
        <OverviewChart report={report} />
      </Card>
      <Details report={report} />
    </>
  )
}

function Details({ report }: { report: Report }) {
  const failing = useFailingDestinations(report.since)
  if (!isSettled(failing)) return <LoadingRows />
  return (
    <>
      <FailingDestinations query={failing} since={report.since} />
      <Reasons report={report} />
      <Breakdown report={report} />
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
