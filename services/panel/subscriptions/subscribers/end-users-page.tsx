import { Menu } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppList } from '../shared/app-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { ExportUsers } from '../shared/csv-export.tsx'
import { type SubOutput, useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { GrantForm } from './grant-form.tsx'

type User = SubOutput<'listUsersOperation'>['users'][number]

const route = getRouteApi('/shell/apps/$key/users')

const STATUSES = ['1', '0', '2'] as const
const TONES: Record<string, Tone> = { '0': 'bad', '1': 'ok', '2': 'warn' }

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
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = useSubRead('listUsersOperation', {
    query: omitUndefined({
      app_key: scope.app.app_key,
      search: search.search,
      status: search.status,
      page: search.page,
    }),
  })
  return (
    <AppList
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
    </AppList>
  )
}

function UserTable({ users, scope }: { users: readonly User[]; scope: AppScope }) {
  const { t } = useTranslation()
  const columns: Column<User>[] = [
    {
      label: t('subs.nickname'),
      cell: user => (
        <>
          {user.nickname || t('subs.unnamed', { id: user.id })}
          <span className="pw-sub pw-mono">{user.id}</span>
        </>
      ),
    },
    { label: t('subs.contact'), cell: user => user.email ?? user.phone ?? '–' },
    { label: t('subs.platform'), cell: user => user.platform || '–' },
    {
      label: t('messages.state'),
      cell: user => (
        <StatusBadge tone={TONES[user.status] ?? 'quiet'}>
          {t(`subs.userStatus.${user.status as '0' | '1' | '2'}`, { defaultValue: user.status })}
        </StatusBadge>
      ),
    },
    { label: t('subs.logins'), end: true, cell: user => user.login_count },
    { label: t('subs.lastLogin'), cell: user => <BusinessTime at={user.last_login_time} /> },
    { label: t('ui.created'), cell: user => <BusinessTime at={user.created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: user => (scope.edit ? <UserMenu user={user} appKey={scope.app.app_key} /> : null),
    },
  ]
  return <DataTable name={t('subs.usersTitle')} columns={columns} rows={users} rowKey={user => user.id} />
}

/** Disabling is reversible and needs no confirmation; erasing asks for the user id. */
function UserMenu({ user, appKey }: { user: User; appKey: string }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<'grant' | 'erase'>()
  const update = useSubWrite('updateUserOperation')
  const erase = useSubWrite('eraseUserOperation')
  const where = { params: { id: user.id }, query: { app_key: appKey } }
  const name = user.nickname || t('subs.unnamed', { id: user.id })
  const on = user.status === '1'
  const close = () => setOpen(undefined)
  const notify = useNotifyCallbacks()
  const toggle = () => update.mutate({ ...where, body: { status: on ? '0' : '1' } }, notify)
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => setOpen('grant')}>{t('subs.grant')}</Menu.Item>
        <Menu.Item onClick={toggle}>{t(on ? 'access.disable' : 'access.enable')}</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="stamp" onClick={() => setOpen('erase')}>
          {t('subs.erase')}
        </Menu.Item>
      </RowMenu>
      <Dialog opened={open === 'grant'} close={close} title={t('subs.grantTo', { name })}>
        {() => <GrantForm appKey={appKey} userId={user.id} close={close} />}
      </Dialog>
      <ConfirmDialog
        opened={open === 'erase'}
        close={close}
        title={t('subs.eraseTitle', { name })}
        phrase={user.id}
        action={t('subs.erase')}
        run={() => erase.mutateAsync(where)}
      >
        {t('subs.eraseText')}
      </ConfirmDialog>
    </>
  )
}
