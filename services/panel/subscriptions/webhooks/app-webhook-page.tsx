/** One webhook of an app: its state, a test, and the log of its deliveries with replay. */
import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconSend } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { DeliveryView } from '../../mail/webhooks/delivery-view.tsx'
import { ReplayFailed } from '../../mail/webhooks/replay-failed.tsx'
import { WebhookState } from '../../mail/webhooks/webhooks-page.tsx'
import { useSession } from '../../session/session.ts'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { notifyError, notifySuccess } from '../../ui/feedback/notifications.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import { AppScopedPage, type SubApp } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { AppDeliveries } from './app-deliveries.tsx'
import { type AppDeliveryDetail, type AppWebhook, logOf, stateOf } from './app-webhook-types.ts'

const route = getRouteApi('/shell/apps/$key/webhooks/$id')

export function AppWebhookPage() {
  const { t } = useTranslation()
  const { key, id } = route.useParams()
  const lead = (
    <Link to="/apps/$key/webhooks" params={{ key }} className="pw-link">
      <IconArrowLeft size={14} className="pw-inline-icon" /> {t('webhooks.title')}
    </Link>
  )
  return (
    <AppScopedPage title={t('subs.webhook')} lead={lead}>
      {({ app }) => <Webhook app={app} id={id} />}
    </AppScopedPage>
  )
}

/** The API lists the webhooks of an app, of which there are five at most, and has no operation for one. */
function Webhook({ app, id }: { app: SubApp; id: string }) {
  const { t } = useTranslation()
  const query = useSubRead('listWebhooksOperation', { params: { id: app.id } })
  return (
    <Loaded query={query}>
      {({ webhooks }) => {
        const webhook = webhooks.find(one => one.id === id)
        return webhook ? <WebhookDetail app={app} webhook={webhook} /> : <Empty title={t('ui.goneTitle')} />
      }}
    </Loaded>
  )
}

function WebhookDetail({ app, webhook }: { app: SubApp; webhook: AppWebhook }) {
  const { t } = useTranslation()
  const { business_time_zone } = useSession()
  const [seen, setSeen] = useState<AppDeliveryDetail>()
  const canReplay = webhook.enabled === '1' && seen && seen.state !== 'waiting' && seen.type !== 'webhook.test'
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <span className="pw-mono">{webhook.url}</span>
          <WebhookState webhook={stateOf(webhook)} />
          <ManagedBadge resource={webhook.managed_by} />
        </Group>
        <Actions app={app} webhook={webhook} show={setSeen} />
      </Group>
      <WebhookNote webhook={webhook} />
      <AppDeliveries app={app} webhook={webhook} show={setSeen} />
      <Dialog
        opened={seen !== undefined}
        close={() => setSeen(undefined)}
        title={t('webhooks.detailsOf', { type: seen?.type ?? '' })}
        size="xl"
      >
        {() =>
          seen ? (
            <DeliveryView
              delivery={logOf(seen, business_time_zone)}
              action={canReplay ? <ReplayButton app={app} delivery={seen} replaced={setSeen} /> : null}
            />
          ) : null
        }
      </Dialog>
    </>
  )
}

function ReplayButton(props: {
  app: SubApp
  delivery: AppDeliveryDetail
  replaced: (delivery: AppDeliveryDetail) => void
}) {
  const { t } = useTranslation()
  const { app, delivery, replaced } = props
  const replay = useSubWrite('replayDeliveryOperation')
  const params = { id: app.id, webhook: delivery.webhook_id, delivery: delivery.id }
  return (
    <Button
      variant="default"
      loading={replay.isPending}
      onClick={() => replay.mutate({ params }, { onSuccess: replaced, onError: error => notifyError(error, t) })}
    >
      {t('webhooks.replay')}
    </Button>
  )
}

/** Says why the webhook gets nothing. */
function WebhookNote({ webhook }: { webhook: AppWebhook }) {
  const { t } = useTranslation()
  const { disabled_at, disabled_reason = '', disabled_reason_code, failing_since, previous_secret_until } = webhook
  return (
    <>
      {disabled_at ? (
        <Note tone="bad">
          {t('webhooks.disabledNote')} <ServiceSentence text={disabled_reason} code={disabled_reason_code} /> (
          <BusinessTime at={disabled_at} />)
        </Note>
      ) : failing_since ? (
        <Note tone="warn">
          {t('webhooks.failingNote')} <BusinessTime at={failing_since} />
        </Note>
      ) : null}
      {previous_secret_until ? (
        <Note tone="info">
          {t('subs.previousSecret')} <BusinessTime short at={previous_secret_until} />
        </Note>
      ) : null}
    </>
  )
}

function Actions(props: { app: SubApp; webhook: AppWebhook; show: (delivery: AppDeliveryDetail) => void }) {
  const { t } = useTranslation()
  const { app, webhook, show } = props
  const test = useSubWrite('testWebhookOperation')
  const replay = useSubWrite('replayWebhookOperation')
  const params = { id: app.id, webhook: webhook.id }
  const replaySince = async (since: Date) => {
    const { replayed } = await replay.mutateAsync({ params, body: { since: Math.floor(since.getTime() / 1000) } })
    return Number(replayed)
  }
  const sendTest = () =>
    test.mutate(
      { params },
      {
        onSuccess(delivery) {
          if (delivery.state === 'done') notifySuccess(t('webhooks.tested'))
          else show(delivery)
        },
        onError: error => notifyError(error, t),
      },
    )
  return (
    <Group gap="xs">
      {webhook.enabled === '1' ? <ReplayFailed replay={replaySince} /> : null}
      <Button leftSection={<IconSend size={16} />} loading={test.isPending} onClick={sendTest}>
        {t('webhooks.test')}
      </Button>
    </Group>
  )
}
