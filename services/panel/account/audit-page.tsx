/** Audit log of the account. */
import { IconNotebook } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead } from '../api/hooks.ts'
import { Empty, Loaded } from '../ui/feedback/content-states.tsx'
import { CursorPager, nextCursor } from '../ui/layout/cursor-pager.tsx'
import { LATEST_FIRST, type TableOrder, tableOrder } from '../ui/layout/list-order.ts'
import { Card, Page } from '../ui/layout/page.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { Time } from '../ui/values/time.tsx'

type Entry = Output<'listAuditLogs'>['data'][number]

const route = getRouteApi('/shell/audit')

export function AuditPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = useRead('listAuditLogs', { query: search })
  return (
    <Page title={t('account.auditTitle')} lead={t('account.auditLead')}>
      <Card flush>
        <Loaded query={query}>
          {page => (
            <Entries
              entries={page.data}
              order={tableOrder(LATEST_FIRST, search, next => void navigate({ search: next }))}
            />
          )}
        </Loaded>
      </Card>
      <CursorPager
        after={search.after}
        next={query.data ? nextCursor(query.data) : undefined}
        go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      />
    </Page>
  )
}

function Entries({ entries, order }: { entries: readonly Entry[]; order: TableOrder }) {
  const { t } = useTranslation()
  if (entries.length === 0) return <Empty icon={<IconNotebook size={26} />} title={t('account.auditEmpty')} />
  const columns: Column<Entry>[] = [
    { label: t('account.when'), by: 'at', cell: entry => <Time at={entry.at} /> },
    { label: t('account.action'), cell: entry => <span className="pw-mono">{entry.action}</span> },
    { label: t('account.target'), text: true, cell: entry => entry.target.name ?? entry.target.id },
    {
      label: t('account.actor'),
      text: true,
      cell: entry => `${entry.actor.name} · ${t(`account.via.${entry.actor.via}`)}`,
    },
    { label: t('account.address'), under: t('account.actor'), cell: entry => entry.actor.ip ?? '–' },
  ]
  return (
    <DataTable
      order={order}
      name={t('account.auditTitle')}
      columns={columns}
      rows={entries}
      rowKey={entry => entry.id}
    />
  )
}
