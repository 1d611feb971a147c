/** Admins of subscriptions with their roles and apps. */
import { Button, Select, Switch, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { PasswordInput } from '../../ui/forms/password-input.tsx'
import { SearchableMultiSelect } from '../../ui/forms/searchable-select.tsx'
import { type Fields, useFields } from '../../ui/forms/use-fields.ts'
import { NumberedPages } from '../../ui/layout/numbered-pages.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useAppScope } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { type SubOutput, useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'

type Admin = SubOutput<'listAdminsOperation'>['admins'][number]

const route = getRouteApi('/shell/subscriptions/admins')

const ROLES = ['super', 'operator', 'viewer'] as const
/** Wildcard for all apps. */
const ALL_APPS = '*'

export function AdminsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [editing, edit] = useState<Admin | 'new'>()
  const query = useSubRead('listAdminsOperation', { query: omitUndefined({ page: search.page }) })
  const close = () => edit(undefined)
  return (
    <Page
      title={t('subs.adminsTitle')}
      lead={t('subs.adminsLead')}
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={() => edit('new')}>
          {t('subs.newAdmin')}
        </Button>
      }
    >
      <Card flush>
        <Loaded query={query}>{({ admins }) => <Admins admins={admins} edit={edit} />}</Loaded>
      </Card>
      <NumberedPages
        page={search.page ?? 1}
        total={query.data?.pagination.total_pages ?? 1}
        go={page => void navigate({ search: { ...search, page } })}
      />
      <Dialog
        opened={editing !== undefined}
        close={close}
        title={typeof editing === 'object' ? editing.username : t('subs.newAdmin')}
      >
        {() =>
          typeof editing === 'object' ? <ChangeAdmin admin={editing} close={close} /> : <NewAdmin close={close} />
        }
      </Dialog>
    </Page>
  )
}

function Admins({ admins, edit }: { admins: readonly Admin[]; edit: (admin: Admin) => void }) {
  const { t } = useTranslation()
  const columns: Column<Admin>[] = [
    {
      label: t('account.username'),
      text: true,
      cell: admin => (
        <>
          {admin.username}
          {admin.name ? <span className="pw-sub">{admin.name}</span> : null}
        </>
      ),
    },
    { label: t('operator.role'), cell: admin => t(`subs.roles.${admin.role}`) },
    { label: t('subs.appsTitle'), text: true, cell: admin => <ScopeOf admin={admin} /> },
    {
      label: t('messages.state'),
      cell: admin => (
        <StatusBadge tone={admin.status === '1' ? 'ok' : 'bad'}>
          {t(admin.status === '1' ? 'operator.userStatus.active' : 'access.disabled')}
        </StatusBadge>
      ),
    },
    { label: t('subs.lastLogin'), cell: admin => <BusinessTime at={admin.last_login_time} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: admin => (
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => edit(admin)}
          aria-label={`${t('ui.edit')}: ${admin.username}`}
        >
          {t('ui.edit')}
        </Button>
      ),
    },
  ]
  return <DataTable name={t('subs.adminsTitle')} columns={columns} rows={admins} rowKey={admin => admin.id} />
}

function ScopeOf({ admin }: { admin: Admin }) {
  const { t } = useTranslation()
  if (admin.role === 'super' || admin.app_keys.includes(ALL_APPS)) return t('subs.everyApp')
  return <span className="pw-mono">{admin.app_keys.join(', ') || '–'}</span>
}

interface Rights {
  role: Admin['role']
  app_keys: string[]
}

function RightsFields({ fields }: { fields: Pick<Fields<Rights>, 'values' | 'value' | 'change'> }) {
  const { t } = useTranslation()
  const { apps } = useAppScope()
  const { role } = fields.values
  return (
    <>
      <Select
        label={t('operator.role')}
        description={t(`subs.roleHint.${role}`)}
        data={ROLES.map(value => ({ value, label: t(`subs.roles.${value}`) }))}
        allowDeselect={false}
        {...fields.value('role')}
        onChange={value => fields.change({ role: ROLES.find(known => known === value) ?? 'viewer' })}
      />
      {role === 'super' ? null : (
        <SearchableMultiSelect
          label={t('subs.appsTitle')}
          data={[
            { value: ALL_APPS, label: t('subs.everyApp') },
            ...apps.map(app => ({ value: app.app_key, label: app.app_name || app.app_key })),
          ]}
          clearable
          clearButtonProps={{ 'aria-label': t('messages.clearFilters') }}
          {...fields.value('app_keys')}
        />
      )}
    </>
  )
}

function NewAdmin({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const create = useSubWrite('createAdminOperation')
  const saved = useSaveCallbacks(close)
  const start = { username: '', password: '', role: 'viewer' as Admin['role'], app_keys: [] as string[] }
  const fields = useFields(start, create.error)
  const submit = () => create.mutate({ body: { ...fields.values, username: fields.values.username.trim() } }, saved)
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('subs.newAdmin')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('account.username')}
        description={t('subs.adminNameHint')}
        autoComplete="off"
        {...fields.text('username')}
      />
      <PasswordInput
        label={t('account.password')}
        description={t('subs.adminPasswordHint')}
        autoComplete="new-password"
        {...fields.text('password')}
      />
      <RightsFields fields={fields} />
    </SubmitForm>
  )
}

function ChangeAdmin({ admin, close }: { admin: Admin; close: () => void }) {
  const { t } = useTranslation()
  const update = useSubWrite('updateAdminOperation')
  const saved = useSaveCallbacks(close)
  const { role, app_keys, name } = admin
  const fields = useFields({ role, app_keys, name, status: admin.status === '1' }, update.error)
  const submit = () => {
    const body = { ...fields.values, status: fields.values.status ? ('1' as const) : ('0' as const) }
    update.mutate({ params: { id: admin.id }, body }, saved)
  }
  return (
    <SubmitForm state={update} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <TextInput data-autofocus label={t('subs.name')} {...fields.text('name')} />
      <RightsFields fields={fields} />
      <Switch label={t('subs.adminOn')} description={t('subs.adminOnHint')} {...fields.flag('status')} />
    </SubmitForm>
  )
}
