import { Group } from '@mantine/core'
import { IconWorld } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { NAMED_LIST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { ListPage } from '../../ui/layout/list-page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import { AddDomain } from './add-domain.tsx'
import { DeliveryBadge } from './delivery-badge.tsx'
import { DomainStatus } from './domain-status.tsx'

type Domain = Output<'listDomainsOperation'>['data'][number]

const route = getRouteApi('/shell/domains')

export function DomainsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <ListPage
      title={t('domains.title')}
      lead={t('domains.lead')}
      query={useRead('listDomainsOperation', { query: search })}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconWorld size={26} />, title: t('domains.none'), hint: t('domains.noneHint') }}
      add={{ label: t('domains.add'), needs: 'admin', form: close => <AddDomain cancel={close} /> }}
    >
      {domains => (
        <Domains domains={domains} order={tableOrder(NAMED_LIST, search, next => void navigate({ search: next }))} />
      )}
    </ListPage>
  )
}

function Domains({ domains, order }: { domains: readonly Domain[]; order: TableOrder }) {
  const { t } = useTranslation()
  const columns: Column<Domain>[] = [
    {
      label: t('domains.name'),
      by: 'name',
      cell: domain => (
        <Group gap="xs" display="inline-flex">
          <Link to="/domains/$id" params={{ id: domain.name }} className="pw-link">
            {domain.name}
          </Link>
          <DeliveryBadge domain={domain} />
          <ManagedBy resource={domain.managed_by} />
        </Group>
      ),
    },
    { label: t('messages.state'), cell: domain => <DomainStatus domain={domain} /> },
    { label: t('domains.maySend'), cell: domain => (domain.may_send ? t('ui.yes') : t('ui.no')) },
    { label: t('ui.created'), by: 'created_at', cell: domain => <Time at={domain.created_at} /> },
  ]
  return (
    <DataTable order={order} name={t('domains.title')} columns={columns} rows={domains} rowKey={domain => domain.id} />
  )
}
