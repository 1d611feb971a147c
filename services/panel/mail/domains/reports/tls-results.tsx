/** What senders reported about TLS with a domain's mail servers. */
import { SimpleGrid } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../../api/client.ts'
import { useRead } from '../../../api/hooks.ts'
import { Empty, Loaded, LoadingRows } from '../../../ui/feedback/content-states.tsx'
import { Card } from '../../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../../ui/layout/table.tsx'
import { useFormat } from '../../../ui/values/number-format.ts'
import { Statistic } from '../../../ui/values/statistic.tsx'
import { Reporters } from './reporters.tsx'
import { ReportsChart } from './reports-chart.tsx'

type Summary = Output<'getTlsReportsOperation'>
type Failure = Summary['failures'][number]

export function TlsResults({ id, days }: { id: string; days: number }) {
  const query = useRead('getTlsReportsOperation', { params: { id }, query: { days } })
  return (
    <Loaded query={query} loading={<LoadingRows rows={4} />}>
      {summary => <Content summary={summary} />}
    </Loaded>
  )
}

function Content({ summary: { totals, by_day, failures, reporters } }: { summary: Summary }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  if (reporters.length === 0)
    return (
      <Card>
        <Empty title={t('reports.none')}>{t('reports.noneTls')}</Empty>
      </Card>
    )
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Statistic label={t('reports.sessions')} value={number(totals.successful + totals.failed)} />
        <Statistic label={t('reports.successful')} value={number(totals.successful)} />
        <Statistic label={t('reports.failedSessions')} value={number(totals.failed)} />
      </SimpleGrid>
      <Card title={t('reports.sessionsByDay')}>
        <ReportsChart
          kind="tls"
          days={by_day.map(({ day, successful, failed }) => ({ date: day, good: successful, bad: failed }))}
        />
      </Card>
      {failures.length > 0 ? <Failures failures={failures} /> : null}
      <Reporters reporters={reporters} total={t('reports.sessions')} failed={t('reports.failedSessions')} />
    </>
  )
}

/** Result types are shown as RFC 8460 names them: they are what one searches for. */
function Failures({ failures }: { failures: readonly Failure[] }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Failure>[] = [
    { label: t('reports.failure'), cell: failure => <span className="pw-mono">{failure.result}</span> },
    { label: t('reports.mx'), cell: failure => <span className="pw-mono">{failure.mx ?? '–'}</span> },
    { label: t('reports.policy'), cell: failure => t(`reports.policyKind.${failure.policy}`) },
    { label: t('reports.sessions'), end: true, cell: failure => number(failure.sessions) },
  ]
  return (
    <Card title={t('reports.failures')} flush>
      <DataTable
        name={t('reports.failures')}
        columns={columns}
        rows={failures}
        rowKey={({ result, mx, policy }) => `${result} ${mx} ${policy}`}
      />
    </Card>
  )
}
