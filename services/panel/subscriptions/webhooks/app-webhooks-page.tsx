/** Webhooks of an app: create, change, give a new secret, delete. */
import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconPlus, IconWebhook } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { WebhookMenu } from '../../mail/webhooks/webhook-menu.tsx'
import { WebhookState } from '../../mail/webhooks/webhooks-page.tsx'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { type ShowSecrets, useSecretOnce } from '../../ui/forms/secret-once.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppScopedPage, type SubApp, useAppScope } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { EditAppWebhook, NewAppWebhook } from './app-webhook-form.tsx'
import { type AppWebhook, stateOf } from './app-webhook-types.ts'

export function AppWebhooksPage() {
  const { t } = useTranslation()
  const { requestedKey = '' } = useAppScope()
  const [adding, setAdding] = useState(false)
  const [secret, show] = useSecretOnce(t('webhooks.made'))
  const lead = (
    <Group gap="xs">
      <Link to="/apps/$key/settings" params={{ key: requestedKey }} className="pw-link">
        <IconArrowLeft size={14} className="pw-inline-icon" /> {t('subs.keysAndChannels')}
      </Link>
      <span>{t('subs.webhooksLead')}</span>
    </Group>
  )
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t('webhooks.new')}
    </Button>
  )
  return (
    <AppScopedPage title={t('webhooks.title')} lead={lead} actions={add}>
      {({ app }) => (
        <>
          <Webhooks app={app} show={show} />
          <Dialog opened={adding} close={() => setAdding(false)} title={t('webhooks.new')}>
            {() => <NewAppWebhook appId={app.id} close={() => setAdding(false)} show={show} />}
          </Dialog>
          {secret}
        </>
      )}
    </AppScopedPage>
  )
}

function Webhooks({ app, show }: { app: SubApp; show: ShowSecrets }) {
  const { t } = useTranslation()
  const query = useSubRead('listWebhooksOperation', { params: { id: app.id } })
  const columns: Column<AppWebhook>[] = [
    {
      label: t('webhooks.url'),
      text: true,
      cell: ({ id, url, managed_by }) => (
        <>
          <Link to="/apps/$key/webhooks/$id" params={{ key: app.app_key, id }} className="pw-link">
            {url}
          </Link>{' '}
          <ManagedBadge resource={managed_by} />
        </>
      ),
    },
    { label: t('messages.state'), cell: webhook => <WebhookState webhook={stateOf(webhook)} /> },
    {
      label: t('webhooks.events'),
      text: true,
      cell: ({ events }) => (events.length === 0 ? t('webhooks.allEvents') : events.join(' ')),
    },
    { label: t('ui.created'), cell: ({ created_at }) => <BusinessTime at={created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: webhook => (webhook.managed_by ? null : <AppWebhookMenu appId={app.id} webhook={webhook} show={show} />),
    },
  ]
  return (
    <Card flush>
      <Loaded query={query}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Empty icon={<IconWebhook size={26} />} title={t('webhooks.none')}>
              {t('subs.noWebhooksHint')}
            </Empty>
          ) : (
            <DataTable name={t('webhooks.title')} columns={columns} rows={webhooks} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}

function AppWebhookMenu({ appId, webhook, show }: { appId: string; webhook: AppWebhook; show: ShowSecrets }) {
  const update = useSubWrite('updateWebhookOperation')
  const rotate = useSubWrite('rotateWebhookOperation')
  const remove = useSubWrite('deleteWebhookOperation')
  const notify = useNotifyCallbacks()
  const params = { id: appId, webhook: webhook.id }
  const enabled = webhook.enabled === '1'
  return (
    <WebhookMenu
      name={webhook.url}
      enabled={enabled}
      edit={close => <EditAppWebhook appId={appId} webhook={webhook} close={close} />}
      toggle={() => update.mutate({ params, body: { enabled: enabled ? '0' : '1' } }, notify)}
      rotate={async () => (await rotate.mutateAsync({ params })).secret ?? ''}
      remove={() => remove.mutateAsync({ params })}
      show={show}
    />
  )
}
