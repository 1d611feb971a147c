import { Button, Group, Menu } from '@mantine/core'
import { IconPlus, IconRestore, IconToggleRight } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded, NoMatch } from '../../ui/feedback/content-states.tsx'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { NumberedPages } from '../../ui/layout/numbered-pages.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { type SubOutput, useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import type { SwitchRecord } from './switch-fields.ts'
import { SwitchForm } from './switch-form.tsx'
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
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [editing, edit] = useState<SwitchRecord | 'new'>()
  const [restoring, setRestoring] = useState(false)
  const app_key = scope.app.app_key
  const query = useSubRead('readSwitches', {
    query: omitUndefined({ app_key, search: search.search, page: search.page }),
  })
  const add = scope.edit ? (
    <Button leftSection={<IconPlus size={16} />} onClick={() => edit('new')}>
      {t('subs.newSwitch')}
    </Button>
  ) : null
  return (
    <>
      <SwitchFilters add={add} restore={scope.edit ? () => setRestoring(true) : undefined} />
      <Card flush>
        <Loaded query={query}>
          {data =>
            listOf(data).switches.length === 0 && search.search !== undefined ? (
              <NoMatch reset={() => void navigate({ search: {} })} />
            ) : listOf(data).switches.length === 0 ? (
              <Empty icon={<IconToggleRight size={26} />} title={t('subs.noSwitches')} action={add}>
                {t('subs.noSwitchesHint')}
              </Empty>
            ) : (
              <SwitchTable switches={listOf(data).switches} scope={scope} edit={edit} />
            )
          }
        </Loaded>
      </Card>
      <NumberedPages
        page={search.page ?? 1}
        total={query.data ? listOf(query.data).pages : 1}
        go={page => void navigate({ search: { ...search, page } })}
      />
      <Dialog opened={restoring} close={() => setRestoring(false)} title={t('subs.restoreDeleted')} size="lg">
        {() => <RestoreDeleted appKey={app_key} close={() => setRestoring(false)} />}
      </Dialog>
      <Dialog
        opened={editing !== undefined}
        close={() => edit(undefined)}
        title={typeof editing === 'object' ? editing.name : t('subs.newSwitch')}
        size="lg"
      >
        {() => (
          <SwitchForm
            appKey={app_key}
            close={() => edit(undefined)}
            {...(typeof editing === 'object' ? { record: editing } : {})}
          />
        )}
      </Dialog>
    </>
  )
}

/** Search field and actions; `restore` is undefined for viewers. */
function SwitchFilters({ add, restore }: { add: ReactNode; restore: (() => void) | undefined }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Group gap="xs" align="flex-end" justify="space-between" role="search">
      <TextFilter
        wide
        label={t('messages.search')}
        placeholder={t('subs.switchSearch')}
        value={search.search ?? ''}
        set={text =>
          void navigate({ search: omitUndefined({ ...search, page: undefined, search: text || undefined }) })
        }
      />
      <Group gap="xs">
        {restore ? (
          <Button variant="default" leftSection={<IconRestore size={16} />} onClick={restore}>
            {t('subs.restoreDeleted')}
          </Button>
        ) : null}
        {add}
      </Group>
    </Group>
  )
}

function SwitchTable(props: {
  switches: readonly SwitchRecord[]
  scope: AppScope
  edit: (record: SwitchRecord) => void
}) {
  const { t } = useTranslation()
  const columns: Column<SwitchRecord>[] = [
    {
      label: t('subs.name'),
      cell: one => (
        <>
          <span className="pw-mono">{one.name}</span> <ManagedBadge resource={one.managed_by} />
          {one.description ? <div className="pw-sub">{one.description}</div> : null}
        </>
      ),
    },
    {
      label: t('subs.type'),
      cell: one => t(`subs.types.${one.type as 'boolean'}`, { defaultValue: one.type }),
    },
    { label: t('subs.value'), cell: one => one.display_value },
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
      cell: one =>
        props.scope.edit && !one.managed_by ? (
          <SwitchMenu record={one} appKey={props.scope.app.app_key} edit={props.edit} />
        ) : null,
    },
  ]
  return <DataTable name={t('subs.switchesTitle')} columns={columns} rows={props.switches} rowKey={one => one.id} />
}

function SwitchMenu(props: { record: SwitchRecord; appKey: string; edit: (record: SwitchRecord) => void }) {
  const { t } = useTranslation()
  const { record, appKey, edit } = props
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
        <Menu.Item onClick={() => edit(record)}>{t('ui.edit')}</Menu.Item>
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
