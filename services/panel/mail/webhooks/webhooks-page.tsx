/** Webhooks of the account: create, test, change, give a new secret, delete. */
import { Anchor } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { type ShowSecrets, useSecretOnce } from '../../ui/forms/secret-once.tsx'
import { OLDEST_FIRST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { ListPage } from '../../ui/layout/list-page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import { EditWebhook, NewWebhook } from './webhook-form.tsx'
import { WebhookMenu } from './webhook-menu.tsx'
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
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconWebhook size={26} />, title: t('webhooks.none'), hint: t('webhooks.noneHint') }}
      add={{ label: t('webhooks.new'), needs: 'developer', form: close => <NewWebhook close={close} show={show} /> }}
      below={secret}
    >
      {webhooks => (
        <Webhooks
          webhooks={webhooks}
          order={tableOrder(OLDEST_FIRST, search, next => void navigate({ search: next }))}
          show={show}
        />
      )}
    </ListPage>
  )
}

const TONES: Record<ReturnType<typeof webhookState>, Tone> = {
  on: 'ok',
  off: 'quiet',
  disabled: 'bad',
  failing: 'warn',
}

/** Badge with the state of a webhook of either module. */
export function WebhookState({ webhook }: { webhook: Parameters<typeof webhookState>[0] }) {
  const { t } = useTranslation()
  const state = webhookState(webhook)
  return <StatusBadge tone={TONES[state]}>{t(`webhooks.state.${state}`)}</StatusBadge>
}

function Webhooks({ webhooks, show, order }: { webhooks: readonly Webhook[]; show: ShowSecrets; order: TableOrder }) {
  const { t } = useTranslation()
  const columns: Column<Webhook>[] = [
    {
      label: t('webhooks.url'),
      text: true,
      cell: ({ id, name, url, managed_by }) => (
        <>
          <Anchor component={Link} to={`/webhooks/${id}`} fz="sm">
            {name || url}
          </Anchor>{' '}
          <ManagedBy resource={managed_by} />
        </>
      ),
    },
    { label: t('messages.state'), cell: webhook => <WebhookState webhook={webhook} /> },
    {
      label: t('webhooks.events'),
      text: true,
      cell: ({ events }) => (events.length === 0 ? t('webhooks.allEvents') : events.join(' ')),
    },
    { label: t('ui.created'), by: 'created_at', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: one => (one.managed_by ? null : <OwnWebhookMenu webhook={one} show={show} />),
    },
  ]
  return (
    <DataTable order={order} name={t('webhooks.title')} columns={columns} rows={webhooks} rowKey={({ id }) => id} />
  )
}

function OwnWebhookMenu({ webhook, show }: { webhook: Webhook; show: ShowSecrets }) {
  const patch = useWrite('patchMailWebhookOperation', ['listMailWebhooksOperation'])
  const rotate = useWrite('rotateMailWebhookOperation', ['listMailWebhooksOperation'])
  const remove = useWrite('deleteMailWebhookOperation', ['listMailWebhooksOperation'])
  const notify = useNotifyCallbacks()
  const params = { id: webhook.id }
  return (
    <WebhookMenu
      name={webhook.name || webhook.url}
      enabled={webhook.enabled}
      needs="developer"
      edit={close => <EditWebhook webhook={webhook} close={close} />}
      toggle={() => patch.mutate({ params, body: { enabled: !webhook.enabled } }, notify)}
      rotate={async () => (await rotate.mutateAsync({ params })).secret}
      remove={() => remove.mutateAsync({ params })}
      show={show}
    />
  )
}
