/** Holds and actions on waiting mail: of the own account, or of all for admins. */

import { Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { TFunction } from 'i18next'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { isAbsent, Loaded } from '../ui/feedback/content-states.tsx'
import { useNotifyCallbacks, useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'
import { ConfirmForm } from '../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { Card } from '../ui/layout/page.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { useFormat } from '../ui/values/number-format.ts'
import { Time } from '../ui/values/time.tsx'

type Hold = Output<'listHoldsOperation'>['data'][number]
type Action = Output<'listActionsOperation'>['data'][number]
type Scope = Hold['scope']
type Asking = 'hold' | 'retry' | 'cancel'

const POLL_MS = 5_000
const OWNER = {
  holds: 'listHoldsOperation',
  actions: 'listActionsOperation',
  hold: 'createHoldOperation',
  release: 'releaseHoldOperation',
  act: 'createActionOperation',
  count: 'countQueueOperation',
} as const
const ADMIN = {
  holds: 'listAllHoldsOperation',
  actions: 'listAllActionsOperation',
  hold: 'createAnyHoldOperation',
  release: 'releaseAnyHoldOperation',
  act: 'createAnyActionOperation',
  count: 'countAnyQueueOperation',
} as const

/** Both tables and the buttons above them. `admin`: for the mail of all accounts. */
export function QueueControl({ admin = false }: { admin?: boolean }) {
  const { t } = useTranslation()
  const operations = admin ? ADMIN : OWNER
  const holds = useRead(operations.holds, {}, { poll: POLL_MS })
  const actions = useRead(operations.actions, {}, { poll: POLL_MS })
  const [asking, setAsking] = useState<Asking>()
  const close = () => setAsking(undefined)
  return (
    <>
      <Group gap="xs">
        {(['hold', 'retry', 'cancel'] as const).map(name => (
          <Needs key={name} admin={admin}>
            {' '}
            <Button variant="default" onClick={() => setAsking(name)}>
              {t(`queue.ask.${name}`)}
            </Button>
          </Needs>
        ))}
      </Group>
      {isAbsent(holds, ({ data }) => data.length === 0) ? null : (
        <Card title={t('queue.holds')} flush>
          <Loaded query={holds}>{({ data }) => <Holds holds={data} admin={admin} />}</Loaded>
        </Card>
      )}
      {isAbsent(actions, ({ data }) => data.length === 0) ? null : (
        <Card title={t('queue.actions')} flush>
          <Loaded query={actions}>{({ data }) => <Actions actions={data} />}</Loaded>
        </Card>
      )}
      <Dialog opened={asking !== undefined} close={close} title={asking ? t(`queue.ask.${asking}`) : ''}>
        {() => (asking ? <AskForm asking={asking} admin={admin} close={close} /> : null)}
      </Dialog>
    </>
  )
}

/** The queue of an account needs a role in it, that of the installation an admin, who alone sees the page. */
function Needs({ admin, children }: { admin: boolean; children: ReactNode }) {
  return admin ? children : <NeedsRole needs="developer">{children}</NeedsRole>
}

function Holds({ holds, admin }: { holds: readonly Hold[]; admin: boolean }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Hold>[] = [
    { label: t('queue.mailOf'), text: true, cell: ({ scope, name }) => scopeText(scope, name, t) },
    { label: t('queue.reason'), under: t('queue.mailOf'), text: true, cell: ({ reason }) => reason },
    { label: t('queue.by'), under: t('queue.mailOf'), cell: ({ by }) => by.name },
    { label: t('queue.since'), cell: ({ created_at: at }) => <Time at={at} /> },
    { label: t('queue.until'), cell: ({ until }) => (until ? <Time at={until} /> : t('queue.untilReleased')) },
    {
      label: t('messages.state'),
      cell: ({ state }) => (
        <StatusBadge tone={state === 'active' ? 'warn' : 'quiet'}>{t(`queue.states.${state}`)}</StatusBadge>
      ),
    },
    { label: t('queue.held'), end: true, cell: ({ held }) => number(held) },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: hold =>
        hold.state === 'active' && (admin || !hold.by.admin) ? <Release hold={hold} admin={admin} /> : null,
    },
  ]
  return <DataTable name={t('queue.holds')} columns={columns} rows={holds} rowKey={hold => hold.id} />
}

/** Whose or which mail, as in `Domain: example.com`. */
function scopeText(scope: Scope, name: string, t: TFunction): string {
  return `${t(`queue.scopes.${scope}`)}${t('label.separator')}${name}`
}

function Release({ hold, admin }: { hold: Hold; admin: boolean }) {
  const { t } = useTranslation()
  const operations = admin ? ADMIN : OWNER
  const release = useWrite(operations.release, [operations.holds])
  const notify = useNotifyCallbacks(t('queue.released'))
  return (
    <Needs admin={admin}>
      {' '}
      <Button
        variant="subtle"
        size="compact-sm"
        loading={release.isPending}
        onClick={() => release.mutate({ params: { id: hold.id } }, notify)}
        aria-label={`${t('queue.release')}: ${hold.name}`}
      >
        {t('queue.release')}
      </Button>
    </Needs>
  )
}

function Actions({ actions }: { actions: readonly Action[] }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Action>[] = [
    { label: t('queue.action'), cell: ({ action }) => t(`queue.ask.${action}`) },
    { label: t('queue.mailOf'), text: true, cell: ({ scope, name }) => scopeText(scope, name, t) },
    { label: t('queue.by'), under: t('queue.mailOf'), cell: ({ by }) => by.name },
    { label: t('queue.since'), cell: ({ created_at: at }) => <Time at={at} /> },
    { label: t('queue.scanned'), end: true, cell: ({ scanned }) => number(scanned) },
    { label: t('queue.done'), end: true, cell: ({ done }) => number(done) },
    {
      label: t('messages.state'),
      cell: ({ finished_at: at }) => (
        <StatusBadge tone={at ? 'ok' : 'info'}>{t(at ? 'queue.finished' : 'queue.running')}</StatusBadge>
      ),
    },
  ]
  return <DataTable name={t('queue.actions')} columns={columns} rows={actions} rowKey={action => action.id} />
}

const SCOPES: readonly Scope[] = ['account', 'domain', 'destination', 'message']

function AskForm({ asking, admin, close }: { asking: Asking; admin: boolean; close: () => void }) {
  const { t } = useTranslation()
  const operations = admin ? ADMIN : OWNER
  const hold = useWrite(operations.hold, [operations.holds])
  const act = useWrite(operations.act, [operations.actions])
  const count = useWrite(operations.count)
  const state = { hold, retry: act, cancel: count }[asking]
  const saved = useSaveCallbacks(close)
  const fields = useFields({ scope: 'destination' as Scope, value: '', reason: '' }, state.error)
  const { scope, value, reason } = fields.values
  // An owner has one account.
  const selected = { scope, value: scope === 'account' && !admin ? '-' : value.trim() }
  const submit = () => {
    if (asking === 'hold') hold.mutate({ body: { ...selected, reason: reason.trim() } }, saved)
    else if (asking === 'retry') act.mutate({ body: { ...selected, action: 'retry' } }, saved)
    else count.mutate({ query: selected })
  }
  if (count.data)
    return (
      <ConfirmCancel
        scope={scope}
        counted={count.data}
        close={close}
        run={() => act.mutateAsync({ body: { ...selected, action: 'cancel' } })}
      />
    )
  const action = t(asking === 'cancel' ? 'queue.continue' : `queue.ask.${asking}`)
  return (
    <SubmitForm state={state} fields={fields} submit={submit} action={action} cancel={close}>
      <Select
        label={t('queue.mailOf')}
        description={t(`queue.hint.${asking}`)}
        data={SCOPES.map(one => ({ value: one, label: t(`queue.scopes.${one}`) }))}
        allowDeselect={false}
        {...fields.value('scope')}
        onChange={one => fields.change({ scope: SCOPES.find(known => known === one) ?? scope })}
      />
      {scope === 'account' && !admin ? null : (
        <TextInput
          label={t(`queue.scopes.${scope}`)}
          description={t(`queue.valueHint.${scope}`)}
          autoComplete="off"
          {...fields.text('value')}
        />
      )}
      {asking === 'hold' ? <Textarea label={t('queue.reason')} autosize {...fields.text('reason')} /> : null}
    </SubmitForm>
  )
}

/** Names how much mail is canceled, and which. */
function ConfirmCancel(props: {
  scope: Scope
  counted: Output<'countQueueOperation'>
  close: () => void
  run: () => Promise<unknown>
}) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const { name, count, more } = props.counted
  if (count === 0 && !more)
    return (
      <Stack gap="md">
        <Text fz="sm">{t(`queue.nothingWaits.${props.scope}`, { name })}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={props.close}>
            {t('ui.close')}
          </Button>
        </Group>
      </Stack>
    )
  const amount = count === 0 ? 'all' : more ? 'atLeast' : 'exact'
  const messages = t(`queue.messages.${amount}`, { count, number: number(count) })
  return (
    <ConfirmForm close={props.close} run={props.run} action={t('queue.ask.cancel')} dismiss={t('queue.keep')}>
      {t(`queue.confirm.${props.scope}`, { messages, name })} {t('queue.confirmNote')}
    </ConfirmForm>
  )
}
