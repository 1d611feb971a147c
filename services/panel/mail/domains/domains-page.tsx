import { Group } from '@mantine/core'
import { IconSearchOff, IconWorld } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { useSession } from '../../session/session.ts'
import { NameFilter } from '../../ui/forms/name-filter.tsx'
import { NAMED_LIST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { ListPage } from '../../ui/layout/list-page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
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
      above={
        <NameFilter
          value={search.search}
          set={part => void navigate({ search: omitUndefined({ ...search, after: undefined, search: part }) })}
        />
      }
      empty={
        search.search === undefined
          ? { icon: <IconWorld size={26} />, title: t('domains.none'), hint: <NoneHint /> }
          : { icon: <IconSearchOff size={26} />, title: t('domains.noMatch'), hint: '' }
      }
      add={{ label: t('domains.add'), needs: 'admin', form: close => <AddDomain cancel={close} /> }}
    >
      {domains => (
        <Domains domains={domains} order={tableOrder(NAMED_LIST, search, next => void navigate({ search: next }))} />
      )}
    </ListPage>
  )
}

/** What to add; for admins also how many domains other accounts have, and where they are. */
function NoneHint() {
  const { t } = useTranslation()
  const { number } = useFormat()
  const isAdmin = useSession().user.role === 'admin'
  const { data } = useRead('listAllDomainsOperation', { query: { limit: 100 } }, { enabled: isAdmin })
  const count = data?.data.length ?? 0
  const shown = data?.has_more ? t('messages.atLeast', { number: number(count) }) : number(count)
  return (
    <>
      {t('domains.noneHint')}
      {count > 0 ? (
        <div>
          <Link to="/admin/domains" className="pw-link">
            {t('domains.ofOthers', { count, shown })}
          </Link>
        </div>
      ) : null}
    </>
  )
}

function Domains({ domains, order }: { domains: readonly Domain[]; order: TableOrder }) {
  const { t } = useTranslation()
  const columns: Column<Domain>[] = [
    {
      label: t('domains.name'),
      text: true,
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
