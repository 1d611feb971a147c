/** The end users of an app. */
import { Button } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { tellDone, tellFailed } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { setOnly } from '../ui/search.ts'
import { Status, type Tone } from '../ui/status.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { type SubOutput, useSubRead, useSubWrite } from './api.ts'
import { BusinessTime } from './business-time.tsx'
import { ExportUsers } from './csv-export.tsx'
import { AppSelect, InScope, type Scope } from './scope.tsx'
import { ScopedList } from './scoped-list.tsx'

type User = SubOutput<'listUsersOperation'>['users'][number]

const route = getRouteApi('/shell/subscriptions/users')

const STATUSES = ['1', '0', '2'] as const
const TONES: Record<string, Tone> = { '0': 'bad', '1': 'ok', '2': 'warn' }

/** The page. */
export function EndUsersPage() {
  const { t } = useTranslation()
  return (
    <Page title={t('subs.usersTitle')} lead={t('subs.usersLead')} actions={<AppSelect />}>
      <InScope>{scope => <Users scope={scope} />}</InScope>
    </Page>
  )
}

function Users({ scope }: { scope: Scope }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = useSubRead('listUsersOperation', {
    query: setOnly({ app_key: scope.app.app_key, search: search.search, status: search.status, page: search.page }),
  })
  return (
    <ScopedList
      search={search}
      navigate={next => void navigate({ search: next })}
      query={query}
      hint={t('subs.userSearch')}
      states={STATUSES.map(value => ({ value, label: t(`subs.userStatus.${value}`) }))}
      empty={{ icon: <IconUsers size={26} />, title: t('subs.noUsers'), hint: t('subs.noUsersHint') }}
      actions={<ExportUsers search={search} appKey={scope.app.app_key} />}
      rows={answer => answer.users}
    >
      {users => <UserTable users={users} scope={scope} />}
    </ScopedList>
  )
}

function UserTable({ users, scope }: { users: readonly User[]; scope: Scope }) {
  const { t } = useTranslation()
  const columns: Column<User>[] = [
    { label: t('subs.nickname'), cell: user => user.nickname || t('subs.unnamed', { id: user.id }) },
    { label: t('subs.contact'), cell: user => user.email ?? user.phone ?? '–' },
    { label: t('subs.platform'), cell: user => user.platform || '–' },
    {
      label: t('messages.state'),
      cell: user => (
        <Status tone={TONES[user.status] ?? 'quiet'}>
          {t(`subs.userStatus.${user.status as '0' | '1' | '2'}`, { defaultValue: user.status })}
        </Status>
      ),
    },
    { label: t('subs.logins'), end: true, cell: user => user.login_count },
    { label: t('subs.lastLogin'), cell: user => <BusinessTime at={user.last_login_time} /> },
    { label: t('ui.created'), cell: user => <BusinessTime at={user.created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: user => (scope.edit ? <UserToggle user={user} appKey={scope.app.app_key} /> : null),
    },
  ]
  return <DataTable name={t('subs.usersTitle')} columns={columns} rows={users} rowKey={user => user.id} />
}

/** Disabling is undone with the same button, so it asks nothing. */
function UserToggle({ user, appKey }: { user: User; appKey: string }) {
  const { t } = useTranslation()
  const update = useSubWrite('updateUserOperation')
  const on = user.status === '1'
  const toggle = () =>
    update.mutate(
      { params: { id: user.id }, query: { app_key: appKey }, body: { status: on ? '0' : '1' } },
      { onSuccess: () => tellDone(t('ui.saved')), onError: error => tellFailed(error, t) },
    )
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      onClick={toggle}
      loading={update.isPending}
      aria-label={`${t(on ? 'access.disable' : 'access.enable')}: ${user.nickname || user.id}`}
    >
      {t(on ? 'access.disable' : 'access.enable')}
    </Button>
  )
}
