/** The busiest recipient domains, sending domains, tokens and tags; each row leads to its messages. */
import { SegmentedControl } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import type { MessageSearch } from '../messages/message-search.ts'
import { useSubmitters } from '../messages/submitter-filter.tsx'
import { ratesOf } from './delivery-rates.ts'
import { logOfSpan } from './overview-search.ts'
import type { Report } from './use-report.ts'

type Row = Omit<Report['domains'][number], 'domain'> & { key: string; name: string; search: MessageSearch }

/** Entries of a dimension that the service names: those with the most recipients. */
const NAMED = 20

const DIMENSIONS = ['destination', 'sender', 'submitter', 'tag'] as const

export function Breakdown({ report }: { report: Report }) {
  const { t } = useTranslation()
  const { number, percent } = useFormat()
  const [dimension, setDimension] = useState<(typeof DIMENSIONS)[number]>('destination')
  const rows = useRows(report)[dimension]
  const refused = (row: Row) => ratesOf(row)?.bounced
  // Sorted by another column, a part would look like the first of all.
  const isPart = rows.length >= NAMED
  const columns: Column<Row>[] = [
    {
      label: t(`overview.by.${dimension}`),
      text: true,
      cell: ({ name, search }) => (
        <Link to="/messages" search={{ ...logOfSpan(report.since), ...search }} className="pw-link pw-row-link">
          {name}
        </Link>
      ),
      sort: row => row.name,
    },
    {
      label: t('overview.recipientsShort'),
      end: true,
      cell: row => number(row.recipients),
      sort: row => row.recipients,
    },
    {
      label: t('messages.status.delivered'),
      end: true,
      cell: row => number(row.delivered),
      sort: row => row.delivered,
    },
    { label: t('overview.waiting'), end: true, cell: row => number(row.waiting), sort: row => row.waiting },
    {
      label: t('overview.bounceRate'),
      end: true,
      cell: row => {
        const rate = refused(row)
        return rate === undefined ? '–' : percent(rate)
      },
      sort: row => refused(row) ?? -1,
    },
  ]
  return (
    <Card
      title={t('overview.busiest')}
      flush
      aside={
        <SegmentedControl
          size="xs"
          className="pw-segments"
          aria-label={t('overview.busiest')}
          value={dimension}
          onChange={value => setDimension(DIMENSIONS.find(known => known === value) ?? 'destination')}
          data={DIMENSIONS.map(value => ({ value, label: t(`overview.by.${value}`) }))}
        />
      }
    >
      {rows.length === 0 ? (
        <p className="pw-pad pw-sub">{t('overview.byNothing')}</p>
      ) : (
        <>
          {isPart ? <p className="pw-pad pw-sub">{t('overview.busiestOnly', { count: NAMED })}</p> : null}
          <DataTable
            key={dimension}
            name={t('overview.busiest')}
            columns={isPart ? columns.map(({ sort: _, ...column }) => column) : columns}
            rows={rows}
            rowKey={({ key }) => key}
          />
        </>
      )}
    </Card>
  )
}

function useRows(report: Report): Record<(typeof DIMENSIONS)[number], Row[]> {
  const { tokens, logins } = useSubmitters({ enabled: report.submitters.length > 0 })
  const names = new Map([...tokens, ...logins].map(({ value, label }) => [value, label]))
  return {
    destination: report.domains.map(({ domain, ...counts }) => ({
      ...{ ...counts, key: domain, name: domain, search: { recipient_domain: domain } },
    })),
    sender: report.senders.map(({ domain, ...counts }) => ({
      ...{ ...counts, key: domain, name: domain, search: { domain } },
    })),
    submitter: report.submitters.map(({ id, ...counts }) => ({
      ...{ ...counts, key: id, name: names.get(id) ?? id, search: { submitted_with: id } },
    })),
    tag: report.tags.map(({ tag, ...counts }) => ({ ...{ ...counts, key: tag, name: tag, search: { tag } } })),
  }
}
