/** Apps: create (the keys are shown once), edit, disable, delete. */
import { Button, Menu } from '@mantine/core'
import { IconAppWindow, IconPlus } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { useSecretOnce } from '../../ui/forms/secret-once.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppList } from '../shared/app-list.tsx'
import { type SubApp, useAppScope } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { SelectFilter } from '../shared/list-filters.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { subscriptionsSearch } from '../shared/subscriptions-search.ts'
import { AppForm } from './app-form.tsx'

const route = getRouteApi('/shell/apps')

export function AppsPage() {
  const { t } = useTranslation()
  const { role } = useAppScope()
  const search = subscriptionsSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const query = useSubRead('listAppsOperation', { query: { ...search, pageSize: 100 } })
  const [editing, edit] = useState<SubApp | 'new'>()
  const [secret, show] = useSecretOnce(t('subs.keysOfApp'))
  const may = role === 'super'
  const add = may ? (
    <Button leftSection={<IconPlus size={16} />} onClick={() => edit('new')}>
      {t('subs.newApp')}
    </Button>
  ) : null
  return (
    <Page title={t('subs.appsTitle')} lead={t('subs.appsLead')} actions={add}>
      <AppList
        search={search}
        navigate={next => void navigate({ search: next })}
        query={query}
        hint={t('subs.appSearch')}
        filters={go => (
          <SelectFilter
            label={t('messages.state')}
            data={[
              { value: '1', label: t('subs.on') },
              { value: '0', label: t('subs.off') },
            ]}
            value={search.status}
            set={status => go({ status })}
          />
        )}
        empty={{ icon: <IconAppWindow size={26} />, title: t('nav.noApps'), hint: t('subs.noAppsHint'), action: add }}
        pages={answer => answer.pagination.total_pages}
        rows={answer => answer.apps}
      >
        {apps => <AppTable apps={apps} edit={may ? edit : undefined} />}
      </AppList>
      <Dialog
        opened={editing !== undefined}
        close={() => edit(undefined)}
        title={editing === 'new' ? t('subs.newApp') : t('subs.editApp')}
      >
        {() => (
          <AppForm
            close={() => edit(undefined)}
            show={show}
            {...(typeof editing === 'object' ? { app: editing } : {})}
          />
        )}
      </Dialog>
      {secret}
    </Page>
  )
}

function AppTable({ apps, edit }: { apps: readonly SubApp[]; edit: ((app: SubApp) => void) | undefined }) {
  const { t } = useTranslation()
  const columns: Column<SubApp>[] = [
    {
      label: t('subs.name'),
      text: true,
      cell: app => (
        <>
          <Link to="/apps/$key" params={{ key: app.app_key }} className="pw-link">
            {app.app_name}
          </Link>{' '}
          <ManagedBadge resource={app.managed_by} />
        </>
      ),
    },
    {
      label: t('subs.appKey'),
      text: true,
      cell: app =>
        edit ? (
          <Link to="/apps/$key/settings" params={{ key: app.app_key }} className="pw-link pw-mono">
            {app.app_key}
          </Link>
        ) : (
          <span className="pw-mono">{app.app_key}</span>
        ),
    },
    { label: t('subs.description'), under: t('subs.name'), text: true, cell: app => app.app_description },
    {
      label: t('messages.state'),
      cell: app => (
        <StatusBadge tone={app.status === '1' ? 'ok' : 'quiet'}>
          {t(app.status === '1' ? 'subs.on' : 'subs.off')}
        </StatusBadge>
      ),
    },
    { label: t('ui.created'), cell: app => <BusinessTime at={app.created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: app => (edit && !app.managed_by ? <AppMenu app={app} edit={edit} /> : null),
    },
  ]
  return <DataTable name={t('subs.appsTitle')} columns={columns} rows={apps} rowKey={app => app.id} />
}

function AppMenu({ app, edit }: { app: SubApp; edit: (app: SubApp) => void }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const remove = useSubWrite('deleteAppOperation')
  return (
    <>
      <RowMenu name={app.app_name}>
        <Menu.Item renderRoot={props => <Link {...props} to="/apps/$key/settings" params={{ key: app.app_key }} />}>
          {t('subs.keysAndChannels')}
        </Menu.Item>
        <Menu.Item onClick={() => edit(app)}>{t('ui.edit')}</Menu.Item>
        <Menu.Item color="stamp" onClick={() => setAsking(true)}>
          {t('ui.delete')}
        </Menu.Item>
      </RowMenu>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('subs.deleteAppTitle', { name: app.app_name })}
        phrase={app.app_key}
        action={t('ui.delete')}
        run={() => remove.mutateAsync({ params: { id: app.id } })}
      >
        {t('subs.deleteAppText')}
      </ConfirmDialog>
    </>
  )
}
