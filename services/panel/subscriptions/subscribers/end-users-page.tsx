import { IconUsers } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { TableOrder } from '../../ui/layout/list-order.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppList } from '../shared/app-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { ExportUsers } from '../shared/csv-export.tsx'
import { CreatedFilters, SelectFilter } from '../shared/list-filters.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { USER_STATUSES, usersSearch } from '../shared/subscriptions-search.ts'
import { type EndUser, userContact, userName } from '../shared/user-picker.tsx'
import { UserActions, UserStatus } from './user-menu.tsx'

const route = getRouteApi('/shell/apps/$key/users')

export function EndUsersPage() {
  const { t } = useTranslation()
  return (
    <AppScopedPage title={t('subs.usersTitle')} lead={t('subs.usersLead')}>
      {scope => <Users scope={scope} />}
    </AppScopedPage>
  )
}

function Users({ scope }: { scope: AppScope }) {
  const { t } = useTranslation()
  const search = usersSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const { app_key } = scope.app
  const query = useSubRead('listUsersOperation', { query: { app_key, ...search } })
  const platforms = useSubRead('userStatisticsOperation', { query: { app_key, type: 'platform' } })
  return (
    <AppList
      search={search}
      navigate={next => void navigate({ search: next })}
      query={query}
      hint={t('subs.userSearch')}
      filters={go => (
        <>
          <SelectFilter
            label={t('messages.state')}
            data={USER_STATUSES.map(value => ({ value, label: t(`subs.userStatus.${value}`) }))}
            value={search.status}
            set={status => go({ status })}
          />
          <SelectFilter
            label={t('subs.platform')}
            data={(platforms.data?.platforms ?? [])
              .filter(({ platform }) => platform !== '')
              .map(({ platform }) => ({ value: platform, label: platform }))}
            value={search.platform}
            set={platform => go({ platform })}
          />
          <CreatedFilters search={search} go={go} />
        </>
      )}
      empty={{ icon: <IconUsers size={26} />, title: t('subs.noUsers'), hint: t('subs.noUsersHint') }}
      actions={<ExportUsers search={search} appKey={app_key} />}
      pages={answer => answer.pagination.total_pages}
      rows={answer => answer.users}
    >
      {users => (
        <UserTable
          users={users}
          scope={scope}
          order={{
            column: 'created_at',
            direction: search.order ?? 'desc',
            set: (_column, direction) => {
              const { page: _, order: __, ...rest } = search
              void navigate({ search: direction === 'asc' ? { ...rest, order: direction } : rest })
            },
          }}
        />
      )}
    </AppList>
  )
}

function UserTable(props: { users: readonly EndUser[]; scope: AppScope; order: TableOrder }) {
  const { t } = useTranslation()
  const { users, scope, order } = props
  const { app_key } = scope.app
  const columns: Column<EndUser>[] = [
    {
      label: t('subs.nickname'),
      text: true,
      cell: user => (
        <>
          <Link to="/apps/$key/users/$id" params={{ key: app_key, id: user.id }} className="pw-link">
            {userName(user, t)}
          </Link>
          <span className="pw-sub pw-mono">{user.id}</span>
        </>
      ),
    },
    { label: t('subs.contact'), under: t('subs.nickname'), text: true, cell: user => userContact(user) || '–' },
    { label: t('subs.platform'), under: t('subs.nickname'), cell: user => user.platform || '–' },
    { label: t('messages.state'), cell: user => <UserStatus user={user} /> },
    { label: t('subs.logins'), end: true, cell: user => user.login_count },
    { label: t('subs.lastLogin'), cell: user => <BusinessTime at={user.last_login_time} /> },
    {
      label: t('ui.created'),
      by: 'created_at',
      cell: user => <BusinessTime at={user.created_at} />,
    },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: user => (scope.edit ? <UserActions user={user} appKey={app_key} /> : null),
    },
  ]
  return <DataTable order={order} name={t('subs.usersTitle')} columns={columns} rows={users} rowKey={user => user.id} />
}
