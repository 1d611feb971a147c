/** History of DNS checks: requested ones, and those with a changed result. */
import { Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead } from '../api/hooks.ts'
import { Loaded, LoadingRows } from '../ui/feedback/content-states.tsx'
import { StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { useFormat } from '../ui/values/number-format.ts'
import { ServiceSentence, sentencesOf } from '../ui/values/service-sentence.tsx'
import { Moment } from '../ui/values/time.tsx'
import { recordStatusText } from './dns-records.tsx'

type Check = Output<'listChecksOperation'>['data'][number]

const TONES: Record<Check['outcome'], Tone> = { verified: 'ok', pending: 'warn', failed: 'bad', temporary: 'warn' }

/** Collapsed; loaded when it is opened. */
export function DnsCheckHistory({ domainId }: { domainId: string }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const query = useRead('listChecksOperation', { params: { id: domainId } }, { enabled: open })
  return (
    <details className="pw-details" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('dns.history')}</summary>
      {open ? (
        <Loaded query={query} loading={<LoadingRows rows={3} />}>
          {({ data }) => <Checks checks={data} />}
        </Loaded>
      ) : null}
    </details>
  )
}

function Checks({ checks }: { checks: readonly Check[] }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Check>[] = [
    { label: t('account.when'), cell: check => <Moment at={check.at} /> },
    {
      label: t('messages.state'),
      cell: check => <StatusBadge tone={TONES[check.outcome]}>{t(`dns.checkOutcome.${check.outcome}`)}</StatusBadge>,
    },
    { label: t('dns.askedBy'), cell: check => t(`dns.by.${check.by}`) },
    { label: t('dns.changed'), cell: check => <Changes check={check} /> },
    { label: t('dns.found'), cell: check => <Found check={check} /> },
    {
      label: t('dns.effort'),
      end: true,
      cell: check => t('dns.effortOf', { ms: number(check.ms), count: check.queries }),
    },
  ]
  return <DataTable name={t('dns.history')} columns={columns} rows={checks} rowKey={check => check.id} />
}

/** Purposes of records by the beginning of their ids, as in `dkim:pw2026a`. */
const PURPOSES = [
  ...(['ownership', 'dkim', 'spf', 'dmarc', 'return_path_mx', 'return_path_spf', 'return_path'] as const),
  ...(['tracking', 'mta_sts', 'tls_rpt', 'ptr', 'a'] as const),
]

/** The records whose status is another one than at the check before. */
function Changes({ check: { changes, records } }: { check: Check }) {
  const { t } = useTranslation()
  if (changes.length === 0) return <span className="pw-sub">{t('dns.nothingChanged')}</span>
  const statusText = (status: Check['changes'][number]['to']) =>
    status === 'removed' ? t('dns.noLongerWanted') : t(`dns.status.${status}`)
  return (
    <Stack gap={2}>
      {changes.map(({ record, from, to }) => {
        const [kind = '', detail] = record.split(':', 2)
        const purpose = kind === 'address' ? 'a' : PURPOSES.find(known => known === kind)
        const now = records.find(({ id }) => id === record)
        const name = [purpose ? t(`dns.purpose.${purpose}`) : kind, detail].filter(Boolean).join(' ')
        return (
          <span key={record}>
            {name}: {from === null ? null : `${statusText(from)} → `}
            {now ? recordStatusText(now, t) : statusText(to)}
          </span>
        )
      })}
    </Stack>
  )
}

/** Errors, and the number of verified records. */
function Found({ check }: { check: Check }) {
  const { t } = useTranslation()
  const errors = [check, ...check.records].flatMap(({ errors: texts, errors_codes }) =>
    sentencesOf(texts, errors_codes),
  )
  const unique = [...new Map(errors.map(error => [error.text, error])).values()]
  const fit = check.records.filter(({ status }) => status === 'verified').length
  return (
    <Stack gap={2}>
      <span>{t('dns.fit', { fit, of: check.records.length })}</span>
      {unique.slice(0, 4).map(error => (
        <span key={error.text} className="pw-sub">
          <ServiceSentence {...error} />
        </span>
      ))}
    </Stack>
  )
}
