/** Who sent reports. */
import { useTranslation } from 'react-i18next'
import type { Output } from '../../../api/client.ts'
import { Card } from '../../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../../ui/layout/table.tsx'
import { useFormat } from '../../../ui/values/number-format.ts'
import { Time } from '../../../ui/values/time.tsx'

type Reporter = Output<'getDmarcOperation'>['reporters'][number]

/** `total` and `failed` are the headings of the two counts. */
export function Reporters(props: { reporters: readonly Reporter[]; total: string; failed: string }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Reporter>[] = [
    { label: t('reports.reporter'), cell: row => row.organisation },
    { label: t('reports.reports'), end: true, cell: row => number(row.reports) },
    { label: props.total, end: true, cell: row => number(row.total) },
    { label: props.failed, end: true, cell: row => number(row.failed) },
    { label: t('reports.last'), cell: row => <Time at={row.last_received_at} /> },
  ]
  return (
    <Card title={t('reports.reporters')} flush>
      <DataTable
        name={t('reports.reporters')}
        columns={columns}
        rows={props.reporters}
        rowKey={({ organisation }) => organisation}
      />
    </Card>
  )
}
