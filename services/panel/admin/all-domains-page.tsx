/** Sending domains of all accounts. An admin can verify a domain whose DNS is not reachable for the service. */
import { Button, Group } from '@mantine/core'
import { IconWorld } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { ManagedBy } from '../kubernetes/managed-by.tsx'
import { DomainStatus } from '../mail/domains/domain-status.tsx'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { NameFilter } from '../ui/forms/name-filter.tsx'
import { SearchableSelect } from '../ui/forms/searchable-select.tsx'
import { OLDEST_FIRST, type TableOrder, tableOrder } from '../ui/layout/list-order.ts'
import { ListPage } from '../ui/layout/list-page.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { Time } from '../ui/values/time.tsx'

type Domain = Output<'listAllDomainsOperation'>['data'][number]

const route = getRouteApi('/shell/admin/domains')

export function AllDomainsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const { user, ...page } = search
  const navigate = route.useNavigate()
  const users = useRead('listUsersOperation', { query: { limit: 100 } })
  const names = new Map(users.data?.data.map(one => [one.id, one.username]))
  return (
    <ListPage
      title={t('operator.domainsTitle')}
      lead={t('operator.domainsLead')}
      query={useRead('listAllDomainsOperation', { query: omitUndefined({ ...page, user_id: user }) })}
      after={page.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconWorld size={26} />, title: t('operator.noDomains'), hint: '' }}
      above={
        <Group gap="xs" align="flex-end">
          <NameFilter
            value={search.search}
            set={part => void navigate({ search: omitUndefined({ ...search, after: undefined, search: part }) })}
          />
          <SearchableSelect
            label={t('operator.owner')}
            placeholder={t('messages.any')}
            data={[...names].map(([value, label]) => ({ value, label }))}
            value={user ?? null}
            clearable
            onChange={chosen =>
              void navigate({ search: omitUndefined({ ...search, after: undefined, user: chosen ?? undefined }) })
            }
            maw={270}
          />
        </Group>
      }
    >
      {domains => (
        <Domains
          domains={domains}
          ownerOf={domain => names.get(domain.user_id) ?? domain.user_id}
          order={tableOrder(OLDEST_FIRST, search, next => void navigate({ search: next }))}
        />
      )}
    </ListPage>
  )
}

function Domains(props: { domains: readonly Domain[]; ownerOf: (domain: Domain) => string; order: TableOrder }) {
  const { domains, ownerOf, order } = props
  const { t } = useTranslation()
  const columns: Column<Domain>[] = [
    {
      label: t('domains.name'),
      text: true,
      cell: domain => (
        <>
          {domain.name} <ManagedBy resource={domain.managed_by} />
        </>
      ),
    },
    { label: t('operator.owner'), under: t('domains.name'), text: true, cell: ownerOf },
    { label: t('messages.state'), cell: domain => <DomainStatus domain={domain} /> },
    {
      label: t('domains.maySend'),
      under: t('messages.state'),
      cell: domain => (domain.may_send ? t('ui.yes') : t('ui.no')),
    },
    { label: t('ui.created'), by: 'created_at', cell: domain => <Time at={domain.created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: domain => (domain.status === 'pending' && !domain.managed_by ? <VerifyByAdmin domain={domain} /> : null),
    },
  ]
  return (
    <DataTable
      order={order}
      name={t('operator.domainsTitle')}
      columns={columns}
      rows={domains}
      rowKey={domain => domain.id}
    />
  )
}

function VerifyByAdmin({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const verify = useWrite('verifyByAdminOperation', [
    'listAllDomainsOperation',
    'listDomainsOperation',
    'getDomainOperation',
  ])
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-label={`${t('operator.markVerified')}: ${domain.name}`}
        onClick={() => setAsking(true)}
      >
        {t('operator.markVerified')}
      </Button>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('operator.markVerifiedTitle', { name: domain.name })}
        phrase={domain.name}
        action={t('operator.markVerified')}
        run={() => verify.mutateAsync({ params: { id: domain.id } })}
      >
        {t('operator.markVerifiedText')}
      </ConfirmDialog>
    </>
  )
}
