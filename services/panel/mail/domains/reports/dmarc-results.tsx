/** What receivers reported about a domain's mail. */
import { SimpleGrid, Stack } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../../api/client.ts'
import { useRead } from '../../../api/hooks.ts'
import { Empty, Loaded, LoadingRows } from '../../../ui/feedback/content-states.tsx'
import { StatusBadge, type Tone } from '../../../ui/feedback/status-badge.tsx'
import { Card } from '../../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../../ui/layout/table.tsx'
import { useFormat } from '../../../ui/values/number-format.ts'
import { ServiceSentence } from '../../../ui/values/service-sentence.tsx'
import { Statistic } from '../../../ui/values/statistic.tsx'
import { Reporters } from './reporters.tsx'
import { ReportsChart } from './reports-chart.tsx'

type Summary = Output<'getDmarcOperation'>
type Source = Summary['sources'][number]

const TONES: Record<Source['verdict'], Tone> = {
  ours: 'ok',
  ours_failing: 'bad',
  authorised: 'ok',
  forwarder: 'info',
  forwarder_failing: 'info',
  misconfigured: 'warn',
  forged: 'bad',
  other_sources: 'quiet',
}

export function DmarcResults({ id, days }: { id: string; days: number }) {
  const query = useRead('getDmarcOperation', { params: { id }, query: { days } })
  return (
    <Loaded query={query} loading={<LoadingRows rows={4} />}>
      {summary => <Content summary={summary} />}
    </Loaded>
  )
}

function Content({ summary }: { summary: Summary }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const { totals, by_day, reporters } = summary
  if (reporters.length === 0)
    return (
      <Card>
        <Empty title={t('reports.none')}>{t('reports.noneDmarc')}</Empty>
      </Card>
    )
  const share = (count: number) => (totals.messages === 0 ? '–' : percent(count / totals.messages))
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Statistic label={t('reports.messages')} value={number(totals.messages)} />
        <Statistic label={t('reports.passed')} value={share(totals.pass)} hint={number(totals.pass)} />
        <Statistic label={t('reports.failed')} value={share(totals.fail)} hint={number(totals.fail)} />
        <Statistic label={t('reports.refused')} value={number(totals.quarantined + totals.rejected)} />
      </SimpleGrid>
      <Card title={t('reports.byDay')}>
        <ReportsChart kind="dmarc" days={by_day.map(({ day, pass, fail }) => ({ date: day, good: pass, bad: fail }))} />
      </Card>
      <Sources summary={summary} />
      <Reporters reporters={reporters} total={t('reports.messages')} failed={t('reports.failed')} />
    </>
  )
}

function Sources({ summary: { sources, more_sources } }: { summary: Summary }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Source>[] = [
    { label: t('reports.source'), cell: source => <SourceName source={source} /> },
    { label: t('reports.messages'), end: true, cell: source => number(source.messages) },
    { label: t('reports.passed'), end: true, cell: source => number(source.pass) },
    { label: t('reports.failed'), end: true, cell: source => number(source.fail) },
    {
      label: t('reports.result'),
      cell: source => (
        <Stack gap={2}>
          <span>
            <StatusBadge tone={TONES[source.verdict]}>{t(`reports.verdict.${source.verdict}`)}</StatusBadge>
          </span>
          <span className="pw-sub">
            <ServiceSentence
              text={source.explanation}
              code={source.explanation_code}
              params={source.explanation_params}
            />
          </span>
        </Stack>
      ),
    },
  ]
  return (
    <Card title={t('reports.sources')} flush aside={<span className="pw-sub">{t('reports.sourcesHint')}</span>}>
      <DataTable
        name={t('reports.sources')}
        columns={columns}
        rows={sources}
        rowKey={({ ip, spf_domain, dkim_domain }) => `${ip} ${spf_domain} ${dkim_domain}`}
      />
      {more_sources ? <p className="pw-sub">{t('reports.moreSources')}</p> : null}
    </Card>
  )
}

function SourceName({ source: { ip, spf_domain, dkim_domain } }: { source: Source }) {
  const { t } = useTranslation()
  return (
    <Stack gap={2}>
      {ip === null ? <span>{t('reports.otherSources')}</span> : <span className="pw-mono">{ip}</span>}
      {spf_domain ? <span className="pw-sub">{t('reports.spfOf', { domain: spf_domain })}</span> : null}
      {dkim_domain ? <span className="pw-sub">{t('reports.dkimOf', { domain: dkim_domain })}</span> : null}
    </Stack>
  )
}
