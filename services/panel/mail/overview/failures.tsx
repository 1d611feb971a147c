/** What failed: classes of failures, and the destinations with their last reply. */
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { isAbsent, Loaded } from '../../ui/feedback/content-states.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import { Time } from '../../ui/values/time.tsx'
import { COUNTED, logOfSpan } from './overview-search.ts'
import type { Report } from './use-report.ts'

type Reason = Report['reasons'][number]

/** Renders nothing while there is no failure. */
export function Reasons({ report: { reasons, since } }: { report: Report }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  if (reasons.length === 0) return null
  const columns: Column<Reason>[] = [
    {
      label: t('messages.reason'),
      cell: ({ reason }) => (
        <Link to="/messages" search={{ ...logOfSpan(since, COUNTED.failing), reason }} className="pw-link pw-row-link">
          {t(`messages.reasons.${reason}`)}
        </Link>
      ),
      sort: ({ reason }) => t(`messages.reasons.${reason}`),
    },
    ...(['bounced', 'deferred', 'failed'] as const).map(
      (status): Column<Reason> => ({
        label: t(`messages.status.${status}`),
        end: true,
        cell: row => number(row[status]),
        sort: row => row[status],
      }),
    ),
  ]
  return (
    <Card title={t('overview.reasons')} flush>
      <DataTable name={t('overview.reasons')} columns={columns} rows={reasons} rowKey={({ reason }) => reason} />
    </Card>
  )
}

/** What {@link FailingDestinations} shows. */
export const useFailingDestinations = (since: string) =>
  useRead('listFailingDestinations', { query: { since: new Date(since).toISOString() } })

/** Renders nothing while no destination fails. */
export function FailingDestinations(props: { query: ReturnType<typeof useFailingDestinations>; since: string }) {
  const { t } = useTranslation()
  const { query, since } = props
  if (isAbsent(query, ({ data }) => data.length === 0)) return null
  return (
    <Card title={t('overview.failing')} flush>
      <Loaded query={query}>
        {({ data }) => data.map(failing => <Destination key={failing.domain} failing={failing} since={since} />)}
      </Loaded>
    </Card>
  )
}

type Failing = Output<'listFailingDestinations'>['data'][number]

function Destination({ failing, since }: { failing: Failing; since: string }) {
  const { t } = useTranslation()
  const { domain, bounced, deferred, failed, at, ...reply } = failing
  return (
    <section className="pw-record" aria-label={domain}>
      <Link
        to="/messages"
        search={{ ...logOfSpan(since, COUNTED.failing), recipient_domain: domain }}
        className="pw-link pw-bad"
      >
        {domain}
      </Link>
      <div className="pw-sub">
        {[
          ...(bounced > 0 ? [t('overview.failingBounced', { count: bounced })] : []),
          ...(deferred > 0 ? [t('overview.failingDeferred', { count: deferred })] : []),
          ...(failed > 0 ? [t('overview.failingFailed', { count: failed })] : []),
        ].join(' · ')}{' '}
        · {t('overview.lastFailure')} <Time at={at} />
      </div>
      {reply.last_reply ? (
        <div className="pw-advice" data-tone="bad">
          <ServiceSentence
            text={reply.last_reply}
            code={reply.last_reply_code}
            params={reply.last_reply_params ?? {}}
          />
        </div>
      ) : null}
    </section>
  )
}
