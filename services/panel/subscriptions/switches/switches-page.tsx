import { Button, Menu } from '@mantine/core'
import { IconPlus, IconRestore, IconToggleRight } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppList } from '../shared/app-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { SelectFilter } from '../shared/list-filters.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { type SubOutput, useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { SWITCH_TYPES, switchesSearch } from '../shared/subscriptions-search.ts'
import type { SwitchRecord } from './switch-fields.ts'
import { RestoreDeleted, SwitchHistory } from './switch-history.tsx'

const route = getRouteApi('/shell/apps/$key/switches')

const TONES: Record<SwitchRecord['status_class'], Tone> = {
  success: 'ok',
  warning: 'warn',
  secondary: 'quiet',
  danger: 'bad',
}

export function SwitchesPage() {
  const { t } = useTranslation()
  return (
    <AppScopedPage title={t('subs.switchesTitle')} lead={t('subs.switchesLead')}>
      {scope => <Switches scope={scope} />}
    </AppScopedPage>
  )
}

/** The operation returns a list or, with other parameters, one switch or its history. */
function listOf(data: SubOutput<'readSwitches'>): { switches: SwitchRecord[]; pages: number } {
  return 'switches' in data
    ? { switches: data.switches, pages: data.pagination.totalPages }
    : { switches: [], pages: 1 }
}

function Switches({ scope }: { scope: AppScope }) {
  const { t } = useTranslation()
  const search = switchesSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const [restoring, setRestoring] = useState(false)
  const app_key = scope.app.app_key
  const query = useSubRead('readSwitches', { query: { app_key, ...search } })
  const add = scope.edit ? (
    <Button
      leftSection={<IconPlus size={16} />}
      renderRoot={props => <Link {...props} to="/apps/$key/new-switch" params={{ key: app_key }} />}
    >
      {t('subs.newSwitch')}
    </Button>
  ) : null
  const restore = scope.edit ? (
    <Button variant="default" leftSection={<IconRestore size={16} />} onClick={() => setRestoring(true)}>
      {t('subs.restoreDeleted')}
    </Button>
  ) : null
  return (
    <>
      <AppList
        search={search}
        navigate={next => void navigate({ search: next })}
        query={query}
        hint={t('subs.switchSearch')}
        filters={go => (
          <SelectFilter
            label={t('subs.type')}
            data={SWITCH_TYPES.map(value => ({ value, label: t(`subs.types.${value}`) }))}
            value={search.type}
            set={type => go({ type })}
          />
        )}
        empty={{
          icon: <IconToggleRight size={26} />,
          title: t('subs.noSwitches'),
          hint: t('subs.noSwitchesHint'),
          action: add,
        }}
        actions={
          <>
            {restore}
            {add}
          </>
        }
        pages={answer => listOf(answer).pages}
        rows={answer => listOf(answer).switches}
      >
        {switches => <SwitchTable switches={switches} scope={scope} />}
      </AppList>
      <Dialog opened={restoring} close={() => setRestoring(false)} title={t('subs.restoreDeleted')} size="lg">
        {() => <RestoreDeleted appKey={app_key} close={() => setRestoring(false)} />}
      </Dialog>
    </>
  )
}

function SwitchTable({ switches, scope }: { switches: readonly SwitchRecord[]; scope: AppScope }) {
  const { t } = useTranslation()
  const { app_key } = scope.app
  const columns: Column<SwitchRecord>[] = [
    {
      label: t('subs.name'),
      text: true,
      cell: one => (
        <>
          <Link to="/apps/$key/switches/$name" params={{ key: app_key, name: one.name }} className="pw-link pw-mono">
            {one.name}
          </Link>{' '}
          <ManagedBadge resource={one.managed_by} />
          {one.description ? <div className="pw-sub">{one.description}</div> : null}
        </>
      ),
    },
    {
      label: t('subs.type'),
      under: t('subs.name'),
      cell: one => t(`subs.types.${one.type as 'boolean'}`, { defaultValue: one.type }),
    },
    { label: t('subs.value'), text: true, cell: one => one.display_value },
    {
      label: t('messages.state'),
      cell: one => <StatusBadge tone={TONES[one.status_class]}>{one.status_text}</StatusBadge>,
    },
    { label: t('subs.rollout'), end: true, cell: one => `${one.rollout} %` },
    {
      label: t('subs.changed'),
      cell: one => (
        <>
          <BusinessTime at={one.updated_at_formatted} /> · {one.updated_by}
        </>
      ),
    },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: one => (scope.edit && !one.managed_by ? <SwitchMenu record={one} appKey={app_key} /> : null),
    },
  ]
  return <DataTable name={t('subs.switchesTitle')} columns={columns} rows={switches} rowKey={one => one.id} />
}

function SwitchMenu({ record, appKey }: { record: SwitchRecord; appKey: string }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const [history, showHistory] = useState(false)
  const update = useSubWrite('updateSwitchOperation')
  const remove = useSubWrite('deleteSwitchOperation')
  const query = { app_key: appKey, name: record.name }
  const killed = record.enabled === '0'
  const notify = useNotifyCallbacks()
  const toggle = () => update.mutate({ query, body: { enabled: killed ? '1' : '0', version: record.version } }, notify)
  return (
    <>
      <RowMenu name={record.name}>
        <Menu.Item
          renderRoot={props => (
            <Link {...props} to="/apps/$key/switches/$name" params={{ key: appKey, name: record.name }} />
          )}
        >
          {t('ui.edit')}
        </Menu.Item>
        <Menu.Item onClick={toggle}>{t(killed ? 'subs.revive' : 'subs.kill')}</Menu.Item>
        <Menu.Item onClick={() => showHistory(true)}>{t('subs.history')}</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="stamp" onClick={() => setAsking(true)}>
          {t('ui.delete')}
        </Menu.Item>
      </RowMenu>
      <Dialog
        opened={history}
        close={() => showHistory(false)}
        title={t('subs.historyOf', { name: record.name })}
        size="lg"
      >
        {() => <SwitchHistory appKey={appKey} name={record.name} record={record} done={() => showHistory(false)} />}
      </Dialog>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('subs.deleteSwitchTitle', { name: record.name })}
        phrase={record.name}
        action={t('ui.delete')}
        run={() => remove.mutateAsync({ query })}
      >
        {t('subs.deleteSwitchText')}
      </ConfirmDialog>
    </>
  )
}
