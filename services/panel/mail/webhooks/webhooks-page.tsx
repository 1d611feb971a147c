/** Webhooks of the account: create, test, change, give a new secret, delete. */
import { Anchor, Menu } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { type ShowSecrets, useSecretOnce } from '../../ui/forms/secret-once.tsx'
import { ListPage } from '../../ui/layout/list-page.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import { EditWebhook, NewWebhook } from './webhook-form.tsx'
import { type Webhook, webhookState } from './webhook-types.ts'

const route = getRouteApi('/shell/webhooks')

export function WebhooksPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [secret, show] = useSecretOnce(t('webhooks.made'))
  return (
    <ListPage
      title={t('webhooks.title')}
      lead={t('webhooks.lead')}
      query={useRead('listMailWebhooksOperation', { query: search })}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ after }) })}
      empty={{ icon: <IconWebhook size={26} />, title: t('webhooks.none'), hint: t('webhooks.noneHint') }}
      add={{ label: t('webhooks.new'), needs: 'developer', form: close => <NewWebhook close={close} show={show} /> }}
      below={secret}
    >
      {webhooks => <Webhooks webhooks={webhooks} show={show} />}
    </ListPage>
  )
}

const TONES: Record<ReturnType<typeof webhookState>, Tone> = {
  on: 'ok',
  off: 'quiet',
  disabled: 'bad',
  failing: 'warn',
}

/** Badge with the state of a webhook. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation()
  const state = webhookState(webhook)
  return <StatusBadge tone={TONES[state]}>{t(`webhooks.state.${state}`)}</StatusBadge>
}

function Webhooks({ webhooks, show }: { webhooks: readonly Webhook[]; show: ShowSecrets }) {
  const { t } = useTranslation()
  const columns: Column<Webhook>[] = [
    {
      label: t('webhooks.url'),
      cell: ({ id, name, url }) => (
        <Anchor component={Link} to={`/webhooks/${id}`} fz="sm">
          {name || url}
        </Anchor>
      ),
    },
    { label: t('messages.state'), cell: webhook => <WebhookState webhook={webhook} /> },
    {
      label: t('webhooks.events'),
      cell: ({ events }) => (events.length === 0 ? t('webhooks.allEvents') : events.join(' ')),
    },
    { label: t('webhooks.time'), cell: ({ created_at }) => <Time at={created_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: one => <WebhookMenu webhook={one} show={show} /> },
  ]
  return <DataTable name={t('webhooks.title')} columns={columns} rows={webhooks} rowKey={({ id }) => id} />
}

function WebhookMenu({ webhook, show }: { webhook: Webhook; show: ShowSecrets }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<'edit' | 'rotate' | 'delete'>()
  const patch = useWrite('patchMailWebhookOperation', ['listMailWebhooksOperation'])
  const rotate = useWrite('rotateMailWebhookOperation', ['listMailWebhooksOperation'])
  const remove = useWrite('deleteMailWebhookOperation', ['listMailWebhooksOperation'])
  const notify = useNotifyCallbacks()
  const params = { id: webhook.id }
  const name = webhook.name || webhook.url
  const done = () => setAsking(undefined)
  const toggle = () => patch.mutate({ params, body: { enabled: !webhook.enabled } }, notify)
  return (
    <>
      <RowMenu name={name} needs="developer">
        <Menu.Item onClick={() => setAsking('edit')}>{t('webhooks.edit')}</Menu.Item>
        <Menu.Item onClick={toggle}>{t(webhook.enabled ? 'webhooks.disable' : 'webhooks.enable')}</Menu.Item>
        <Menu.Item onClick={() => setAsking('rotate')}>{t('webhooks.rotate')}</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="stamp" onClick={() => setAsking('delete')}>
          {t('ui.delete')}
        </Menu.Item>
      </RowMenu>
      <Dialog opened={asking === 'edit'} close={done} title={name}>
        {() => <EditWebhook webhook={webhook} close={done} />}
      </Dialog>
      <ConfirmDialog
        opened={asking === 'rotate'}
        close={done}
        title={t('webhooks.rotateTitle', { name })}
        action={t('webhooks.rotate')}
        run={async () => {
          const answer = await rotate.mutateAsync({ params })
          show([[t('webhooks.secret'), answer.secret]])
        }}
      >
        {t('webhooks.rotateText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'delete'}
        close={done}
        title={t('webhooks.deleteTitle', { name })}
        action={t('ui.delete')}
        run={() => remove.mutateAsync({ params })}
      >
        {t('webhooks.deleteText')}
      </ConfirmDialog>
    </>
  )
}
