/** Page of the DMARC and TLS reports about a domain. Kind and period are kept in the address. */
import { Group, SegmentedControl } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../api/hooks.ts'
import { DaysRangeControl } from '../../../ui/layout/days-range.tsx'
import { DEFAULT_DAYS_RANGE } from '../../../ui/layout/days-range-search.ts'
import { Page } from '../../../ui/layout/page.tsx'
import { AddReport } from './add-report.tsx'
import { DmarcResults } from './dmarc-results.tsx'
import { reportsSearch } from './reports-search.ts'
import { TlsResults } from './tls-results.tsx'

const route = getRouteApi('/shell/domains/$id/reports')

export function DomainReportsPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const { days = DEFAULT_DAYS_RANGE, kind = 'dmarc' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data } = useRead('getDomainOperation', { params: { id } })
  const name = data?.name ?? id
  const show = (change: object) =>
    void navigate({ search: reportsSearch({ days, kind, ...change }), replace: true, resetScroll: false })
  return (
    <Page
      title={t('reports.title', { name })}
      lead={
        <Link to="/domains/$id" params={{ id }} className="pw-link">
          <IconArrowLeft size={14} className="pw-inline-icon" /> {name}
        </Link>
      }
      actions={<AddReport domainId={id} onAdded={added => show({ kind: added })} />}
    >
      <Group justify="space-between">
        <SegmentedControl
          aria-label={t('reports.kind')}
          value={kind}
          onChange={chosen => show({ kind: chosen })}
          data={[
            { value: 'dmarc', label: t('reports.dmarc') },
            { value: 'tls', label: t('reports.tls') },
          ]}
        />
        <DaysRangeControl days={days} set={chosen => show({ days: chosen })} />
      </Group>
      {kind === 'dmarc' ? <DmarcResults id={id} days={days} /> : <TlsResults id={id} days={days} />}
    </Page>
  )
}
