/** Editor of a feature switch, a new or a stored one, with its effect on a user beside it. */
import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconHistory } from '@tabler/icons-react'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { type SubOutput, useSubRead } from '../shared/subscriptions-api.ts'
import type { SwitchRecord } from './switch-fields.ts'
import { SwitchForm } from './switch-form.tsx'
import { SwitchHistory } from './switch-history.tsx'

export function NewSwitchPage() {
  const { t } = useTranslation()
  const { key = '' } = useParams({ strict: false })
  return (
    <AppScopedPage title={t('subs.newSwitch')} lead={<BackToList appKey={key} />}>
      {scope => <Editor scope={scope} />}
    </AppScopedPage>
  )
}

export function SwitchPage() {
  const { key = '', name = '' } = useParams({ strict: false })
  return (
    <AppScopedPage title={name} lead={<BackToList appKey={key} />}>
      {scope => <StoredSwitch key={name} scope={scope} name={name} />}
    </AppScopedPage>
  )
}

function StoredSwitch({ scope, name }: { scope: AppScope; name: string }) {
  const key = scope.app.app_key
  const query = useSubRead('readSwitches', { query: { app_key: key, name } }, { noCache: true })
  // What the form shows changes when a revision is restored, not when another administrator saves: the user's input stays.
  const [restored, setRestored] = useState(0)
  const done = () => setRestored(count => count + 1)
  return (
    <Loaded query={query}>
      {data => {
        const record = recordOf(data)
        if (!record) return null
        return (
          <>
            <Group gap="xs" justify="space-between">
              <ManagedBadge resource={record.managed_by} />
              {scope.edit && !record.managed_by ? <HistoryButton record={record} appKey={key} restored={done} /> : null}
            </Group>
            <Editor key={restored} scope={scope} record={record} />
          </>
        )
      }}
    </Loaded>
  )
}

/** The operation returns one switch when it is asked for one by name. */
function recordOf(data: SubOutput<'readSwitches'>): SwitchRecord | undefined {
  return 'raw_value' in data ? data : undefined
}

function BackToList({ appKey }: { appKey: string }) {
  const { t } = useTranslation()
  return (
    <Link to="/apps/$key/switches" params={{ key: appKey }} className="pw-link">
      <IconArrowLeft size={14} className="pw-inline-icon" /> {t('subs.switchesTitle')}
    </Link>
  )
}

function Editor({ scope, record }: { scope: AppScope; record?: SwitchRecord }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const key = scope.app.app_key
  const locked = !scope.edit || record?.managed_by !== undefined
  return (
    <>
      {locked ? <Note tone="info">{t(scope.edit ? 'ui.managedHint' : 'subs.viewOnly')}</Note> : null}
      <SwitchForm
        appKey={key}
        {...(record ? { record } : {})}
        locked={locked}
        close={() => void navigate({ to: '/apps/$key/switches', params: { key } })}
      />
    </>
  )
}

function HistoryButton(props: { record: SwitchRecord; appKey: string; restored: () => void }) {
  const { t } = useTranslation()
  const { record, appKey, restored } = props
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  const done = () => {
    close()
    restored()
  }
  return (
    <>
      <Button variant="default" leftSection={<IconHistory size={16} />} onClick={() => setOpen(true)}>
        {t('subs.history')}
      </Button>
      <Dialog opened={open} close={close} title={t('subs.historyOf', { name: record.name })} size="lg">
        {() => <SwitchHistory appKey={appKey} name={record.name} record={record} done={done} />}
      </Dialog>
    </>
  )
}
