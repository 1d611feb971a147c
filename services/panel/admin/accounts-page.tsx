/** Administration of accounts: create, daily limit, suspend, unsuspend, reset password. */
import { Group, Menu, NumberInput, Select, TextInput } from '@mantine/core'
import { IconArrowLeft, IconUsers } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { ManagedBy } from '../kubernetes/managed-by.tsx'
import { UserLimits } from '../limits/user-limits.tsx'
import { useAccount } from '../session/session.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { useNotifyCallbacks, useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { NameFilter } from '../ui/forms/name-filter.tsx'
import { type ShowSecrets, useSecretOnce } from '../ui/forms/secret-once.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { type TableOrder, tableOrder, USER_LIST } from '../ui/layout/list-order.ts'
import { ListPage } from '../ui/layout/list-page.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { useFormat } from '../ui/values/number-format.ts'
import { Time } from '../ui/values/time.tsx'
import { Invitations } from './invitations.tsx'

type User = Output<'listUsersOperation'>['data'][number]

const route = getRouteApi('/shell/admin/users')

/** All accounts, or the one whose id is in the address. The type is given, because the router infers its own from this page. */
export function AccountsPage(): ReactNode {
  const { id } = route.useSearch()
  return id === undefined ? <Accounts /> : <OneAccount id={id} />
}

function OneAccount({ id }: { id: string }) {
  const { t } = useTranslation()
  const [secret, show] = useSecretOnce(t('operator.password'))
  const query = useRead('getUserOperation', { params: { id } })
  const back = (
    <Link to="/admin/users" className="pw-link">
      <IconArrowLeft size={14} className="pw-inline-icon" /> {t('operator.allUsers')}
    </Link>
  )
  return (
    <Page title={t('operator.usersTitle')} lead={back}>
      <Card flush>
        <Loaded query={query}>{user => <Users users={[user]} show={show} />}</Loaded>
      </Card>
      {secret}
    </Page>
  )
}

function Accounts() {
  const { t } = useTranslation()
  const { id: _, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const [secret, show] = useSecretOnce(t('operator.password'))
  const query = useRead('listUsersOperation', { query: search })
  return (
    <ListPage
      title={t('operator.usersTitle')}
      lead={t('operator.usersLead')}
      query={query}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      above={
        <NameFilter
          value={search.search}
          set={part => void navigate({ search: omitUndefined({ ...search, after: undefined, search: part }) })}
        />
      }
      empty={{ icon: <IconUsers size={26} />, title: t('operator.noUsers'), hint: '' }}
      add={{ label: t('operator.newUser'), form: close => <NewUser close={close} show={show} /> }}
      below={
        <>
          {secret}
          {query.isSuccess ? <Invitations /> : null}
        </>
      }
    >
      {users => (
        <Users
          users={users}
          show={show}
          order={tableOrder(USER_LIST, search, next => void navigate({ search: next }))}
        />
      )}
    </ListPage>
  )
}

function Users({ users, show, order }: { users: readonly User[]; show: ShowSecrets; order?: TableOrder }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const ofLimit = ({ recipients_today: used, recipients_per_day: limit }: User) =>
    limit === 0 ? t('access.unlimited') : t('overview.ofLimit', { used: number(used), limit: number(limit) })
  const columns: Column<User>[] = [
    {
      label: t('account.username'),
      text: true,
      by: 'username',
      cell: user => (
        <Group gap="xs" display="inline-flex">
          {user.username}
          <ManagedBy resource={user.managed_by} />
        </Group>
      ),
    },
    { label: t('operator.role'), cell: user => t(`operator.roles.${user.role}`) },
    {
      label: t('messages.state'),
      cell: user => (
        <StatusBadge tone={user.status === 'active' ? 'ok' : 'bad'}>
          {t(`operator.userStatus.${user.status}`)}
        </StatusBadge>
      ),
    },
    { label: t('operator.today'), end: true, cell: ofLimit },
    { label: t('ui.created'), by: 'created_at', cell: user => <Time at={user.created_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: user => <UserMenu user={user} show={show} /> },
  ]
  return (
    <DataTable order={order} name={t('operator.usersTitle')} columns={columns} rows={users} rowKey={user => user.id} />
  )
}

function UserMenu({ user, show }: { user: User; show: ShowSecrets }) {
  const { t } = useTranslation()
  const me = useAccount()
  const [asking, setAsking] = useState<'limit' | 'limits' | 'suspend' | 'reset' | 'sessions' | 'factor'>()
  const suspend = useWrite('suspendUserOperation', ['listUsersOperation', 'getUserOperation'])
  const unsuspend = useWrite('unsuspendUserOperation', ['listUsersOperation', 'getUserOperation'])
  const reset = useWrite('resetPasswordOperation')
  const endSessions = useWrite('endUserSessions')
  const removeFactor = useWrite('removeUserSecondFactor')
  const params = { id: user.id }
  const notifyUnsuspended = useNotifyCallbacks(t('operator.unsuspended'))
  const resetPassword = async () => {
    const answer = await reset.mutateAsync({ params, body: {} })
    if (answer.password) show([[t('operator.passwordOf', { name: user.username }), answer.password]])
  }
  const done = () => setAsking(undefined)
  return (
    <>
      <RowMenu name={user.username}>
        <Menu.Item renderRoot={props => <Link {...props} to="/admin/domains" search={{ user: user.id }} />}>
          {t('operator.domainsOf')}
        </Menu.Item>
        <Menu.Item onClick={() => setAsking('limit')}>{t('operator.dailyLimit')}</Menu.Item>
        <Menu.Item onClick={() => setAsking('limits')}>{t('limits.ofUser')}</Menu.Item>
        {user.id === me.id ? null : (
          <>
            <Menu.Item onClick={() => setAsking('reset')}>{t('operator.resetPassword')}</Menu.Item>
            <Menu.Item onClick={() => setAsking('sessions')}>{t('security.endAll')}</Menu.Item>
            <Menu.Item onClick={() => setAsking('factor')}>{t('security.removeFactor')}</Menu.Item>
            {user.status === 'active' ? (
              <Menu.Item color="stamp" onClick={() => setAsking('suspend')}>
                {t('operator.suspend')}
              </Menu.Item>
            ) : (
              <Menu.Item onClick={() => unsuspend.mutate({ params }, notifyUnsuspended)}>
                {t('operator.unsuspend')}
              </Menu.Item>
            )}
          </>
        )}
      </RowMenu>
      <Dialog opened={asking === 'limit'} close={done} title={t('operator.dailyLimitOf', { name: user.username })}>
        {() => <DailyLimitForm user={user} close={done} />}
      </Dialog>
      <Dialog opened={asking === 'limits'} close={done} title={t('limits.ofUserTitle', { name: user.username })}>
        {() => <UserLimits user={user.id} />}
      </Dialog>
      <ConfirmDialog
        opened={asking === 'suspend'}
        close={done}
        title={t('operator.suspendTitle', { name: user.username })}
        phrase={user.username}
        action={t('operator.suspend')}
        run={() => suspend.mutateAsync({ params })}
      >
        {t('operator.suspendText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'reset'}
        close={done}
        title={t('operator.resetTitle', { name: user.username })}
        action={t('operator.resetPassword')}
        run={resetPassword}
      >
        {t('operator.resetText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'sessions'}
        close={done}
        title={t('security.endAllTitle', { name: user.username })}
        action={t('security.endAll')}
        run={() => endSessions.mutateAsync({ params })}
      >
        {t('security.endAllText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'factor'}
        close={done}
        title={t('security.removeFactorTitle', { name: user.username })}
        action={t('security.removeFactor')}
        run={() => removeFactor.mutateAsync({ params })}
      >
        {t('security.removeFactorText')}
      </ConfirmDialog>
    </>
  )
}

function DailyLimitForm({ user, close }: { user: User; close: () => void }) {
  const { t } = useTranslation()
  const change = useWrite('changeUserOperation', ['listUsersOperation', 'getUserOperation'])
  const saved = useSaveCallbacks(close)
  const fields = useFields({ recipients_per_day: user.recipients_per_day }, change.error)
  const submit = () => change.mutate({ params: { id: user.id }, body: fields.values }, saved)
  return (
    <SubmitForm state={change} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <NumberInput
        data-autofocus
        label={t('operator.perDay')}
        description={t('operator.perDayHint')}
        min={0}
        max={1_000_000_000}
        allowDecimal={false}
        {...fields.count('recipients_per_day')}
      />
    </SubmitForm>
  )
}

function NewUser({ close, show }: { close: () => void; show: ShowSecrets }) {
  const { t } = useTranslation()
  const create = useWrite('createUserOperation', ['listUsersOperation'])
  const fields = useFields({ username: '', role: 'user' as User['role'] }, create.error)
  const submit = () => {
    const { username, role } = fields.values
    create.mutate(
      { body: { username: username.trim(), role } },
      {
        onSuccess: user => {
          close()
          if (user.password) show([[t('operator.passwordOf', { name: user.username }), user.password]])
        },
      },
    )
  }
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('operator.create')} cancel={close}>
      <TextInput data-autofocus label={t('account.username')} autoComplete="off" {...fields.text('username')} />
      <Select
        label={t('operator.role')}
        description={t('operator.roleHint')}
        data={(['user', 'admin'] as const).map(value => ({ value, label: t(`operator.roles.${value}`) }))}
        allowDeselect={false}
        {...fields.value('role')}
        onChange={value => fields.change({ role: value === 'admin' ? 'admin' : 'user' })}
      />
    </SubmitForm>
  )
}
