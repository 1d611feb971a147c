/** Delivery queue by destination. */
import { Button, SimpleGrid, Text } from '@mantine/core'
import { IconMailCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { QueueControl } from '../queue/queue-control.tsx'
import { Empty, Loaded } from '../ui/feedback/content-states.tsx'
import { notifyError, notifySuccess } from '../ui/feedback/notifications.ts'
import { Note, StatusBadge } from '../ui/feedback/status-badge.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { useFormat } from '../ui/values/number-format.ts'
import { ServiceSentence } from '../ui/values/service-sentence.tsx'
import { Statistic } from '../ui/values/statistic.tsx'
import { Time } from '../ui/values/time.tsx'

type Queues = Output<'getQueues'>

/** Polls every 10 seconds. */
export function QueuePage() {
  const { t } = useTranslation()
  const query = useRead('getQueues', {}, { poll: 10_000 })
  return (
    <Page title={t('operator.queuesTitle')} lead={t('operator.queuesLead')}>
      {query.isSuccess ? <QueueControl admin /> : null}
      <Loaded query={query}>{queues => <Content queues={queues} />}</Loaded>
    </Page>
  )
}

function Content({ queues }: { queues: Queues }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const sites: Column<Queues['sites'][number]>[] = [
    { label: t('operator.site'), cell: site => site.site },
    { label: t('operator.waiting'), end: true, cell: site => number(site.waiting) },
    { label: t('operator.due'), end: true, cell: site => number(site.due) },
    { label: t('operator.oldest'), cell: site => <Time at={site.oldest_due_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: site => <RetryNow site={site} until={queues.suspended.find(one => one.site === site.site)?.until} />,
    },
  ]
  const suspended: Column<Queues['suspended'][number]>[] = [
    { label: t('operator.site'), cell: site => site.site },
    { label: t('operator.siteState'), cell: site => t(`operator.siteStates.${site.state}`) },
    { label: t('operator.since'), cell: site => <Time at={site.since} /> },
    { label: t('operator.until'), cell: site => <Time at={site.until} /> },
    {
      label: t('operator.siteReason'),
      cell: ({ reason, reason_code: code, reason_params: params }) =>
        reason ? <ServiceSentence text={reason} code={code} params={params} /> : null,
    },
  ]
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        <Statistic label={t('operator.depth')} value={number(queues.depth)} />
        <Statistic label={t('operator.oldest')} value={<Time at={queues.oldest_due_at} />} />
        <Statistic label={t('operator.suspendedSites')} value={number(queues.suspended.length)} />
      </SimpleGrid>
      {queues.sampled ? <Note tone="info">{t('operator.sampled')}</Note> : null}
      <Card title={t('operator.bySite')} flush>
        {queues.sites.length === 0 ? (
          <Empty icon={<IconMailCheck size={26} />} title={t('operator.queueEmpty')} />
        ) : (
          <DataTable name={t('operator.bySite')} columns={sites} rows={queues.sites} rowKey={site => site.site} />
        )}
      </Card>
      {queues.sites.length > 0 ? (
        <Text fz="sm" c="dimmed">
          {t('operator.retryHint')}
        </Text>
      ) : null}
      {queues.suspended.length > 0 ? (
        <Card title={t('operator.suspendedSites')} flush>
          <DataTable
            name={t('operator.suspendedSites')}
            columns={suspended}
            rows={queues.suspended}
            rowKey={site => site.site}
          />
        </Card>
      ) : null}
    </>
  )
}

/** Retries deferred deliveries now, where there are any and the destination is not suspended. */
function RetryNow({ site, until }: { site: Queues['sites'][number]; until: string | undefined }) {
  const { t } = useTranslation()
  const retry = useWrite('retryQueueOperation', ['getQueues'])
  const run = () =>
    retry.mutate(
      { body: { site: site.site } },
      {
        onSuccess: ({ retried }) =>
          notifySuccess(
            t(retried > 0 ? 'operator.retried' : 'operator.nothingToRetry', { count: retried, site: site.site }),
          ),
        onError: error => notifyError(error, t),
      },
    )
  if (until)
    return (
      <StatusBadge tone="warn">
        {t('operator.pausedUntil')} <Time at={until} />
      </StatusBadge>
    )
  if (site.deferred === 0) return null
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      onClick={run}
      loading={retry.isPending}
      aria-label={`${t('operator.retryNow')}: ${site.site}`}
    >
      {t('operator.retryNow')}
    </Button>
  )
}
