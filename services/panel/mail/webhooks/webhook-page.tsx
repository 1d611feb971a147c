/** One webhook: its state, a test, and the log of its deliveries. */

import { Button, Select } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { notifyError, notifySuccess } from '../../ui/feedback/notifications.ts'
import { Note, StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { CursorPager, nextCursor } from '../../ui/layout/cursor-pager.tsx'
import { NEWEST_FIRST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { Card, Page } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import { Time } from '../../ui/values/time.tsx'
import { DeliveryView, ReplayButton } from './delivery-view.tsx'
import { ReplayFailed } from './replay-failed.tsx'
import { DELIVERY_STATES, deliveryStateOf } from './webhook-search.ts'
import type { Delivery, DeliveryDetail, Webhook } from './webhook-types.ts'
import { WebhookState } from './webhooks-page.tsx'

const route = getRouteApi('/shell/webhooks/$id')

export function WebhookPage() {
  const { id } = route.useParams()
  const query = useRead('getMailWebhookOperation', { params: { id } })
  return <Loaded query={query}>{webhook => <WebhookDetail webhook={webhook} />}</Loaded>
}

function WebhookDetail({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation()
  const [seen, setSeen] = useState<DeliveryDetail>()
  return (
    <Page
      title={webhook.name || webhook.url}
      lead={<span className="pw-mono">{webhook.url}</span>}
      actions={<Actions webhook={webhook} show={setSeen} />}
    >
      <WebhookNote webhook={webhook} />
      <Deliveries webhook={webhook} show={setSeen} />
      <Dialog
        opened={seen !== undefined}
        close={() => setSeen(undefined)}
        title={t('webhooks.detailsOf', { type: seen?.type ?? '' })}
        size="xl"
      >
        {() =>
          seen ? (
            <DeliveryView
              delivery={seen}
              action={webhook.enabled ? <ReplayButton delivery={seen} replaced={setSeen} /> : null}
            />
          ) : null
        }
      </Dialog>
    </Page>
  )
}

/** Says why the webhook gets nothing. */
function WebhookNote({ webhook: { disabled, failing_since } }: { webhook: Webhook }) {
  const { t } = useTranslation()
  if (disabled)
    return (
      <Note tone="bad">
        {t('webhooks.disabledNote')}{' '}
        <ServiceSentence text={disabled.reason} code={disabled.reason_code} params={disabled.reason_params} /> (
        <Time at={disabled.at} />)
      </Note>
    )
  if (!failing_since) return null
  return (
    <Note tone="warn">
      {t('webhooks.failingNote')} <Time at={failing_since} />
    </Note>
  )
}

const LISTS = ['listWebhookDeliveriesOperation', 'getMailWebhookOperation'] as const

function Actions({ webhook, show }: { webhook: Webhook; show: (delivery: DeliveryDetail) => void }) {
  const { t } = useTranslation()
  const test = useWrite('testMailWebhookOperation', LISTS)
  const replay = useWrite('replayWebhookOperation', LISTS)
  const params = { id: webhook.id }
  const replaySince = async (since: Date) => {
    const { replayed } = await replay.mutateAsync({ params, body: { since: since.toISOString() } })
    return replayed
  }
  const sendTest = () =>
    test.mutate(
      { params },
      {
        onSuccess(delivery) {
          if (delivery.state === 'delivered') notifySuccess(t('webhooks.tested'))
          else show(delivery)
        },
        onError: error => notifyError(error, t),
      },
    )
  return (
    <>
      <WebhookState webhook={webhook} />
      <ManagedBy resource={webhook.managed_by} />
      <NeedsRole needs="developer">
        {webhook.enabled ? <ReplayFailed replay={replaySince} /> : null}
        <Button leftSection={<IconSend size={16} />} loading={test.isPending} onClick={sendTest}>
          {t('webhooks.test')}
        </Button>
      </NeedsRole>
    </>
  )
}

const TONES: Record<Delivery['state'], Tone> = { waiting: 'info', delivered: 'ok', failed: 'bad' }

function Deliveries({ webhook, show }: { webhook: Webhook; show: (delivery: DeliveryDetail) => void }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const { state, ...page } = search
  const navigate = route.useNavigate()
  const wanted = deliveryStateOf(state)
  const query = useRead(
    'listWebhookDeliveriesOperation',
    { params: { id: webhook.id }, query: omitUndefined({ ...page, state: wanted }) },
    { poll: 10_000 },
  )
  const choose = (value: string | null) =>
    void navigate({ search: omitUndefined({ ...page, after: undefined, state: value ?? undefined }) })
  const filter = (
    <Select
      aria-label={t('messages.state')}
      placeholder={t('webhooks.any')}
      data={DELIVERY_STATES.map(value => ({ value, label: t(`webhooks.deliveryState.${value}`) }))}
      value={wanted ?? null}
      onChange={choose}
      clearable
    />
  )
  return (
    <>
      <Card flush title={t('webhooks.log')} aside={filter}>
        <Loaded query={query}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={<IconSend size={26} />} title={t('webhooks.noDeliveries')}>
                {t('webhooks.noDeliveriesHint')}
              </Empty>
            ) : (
              <DeliveryTable
                deliveries={data}
                show={show}
                order={tableOrder(NEWEST_FIRST, search, next => void navigate({ search: next }))}
              />
            )
          }
        </Loaded>
      </Card>
      <CursorPager
        after={page.after}
        next={query.data ? nextCursor(query.data) : undefined}
        go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      />
    </>
  )
}

function DeliveryTable(props: {
  deliveries: readonly Delivery[]
  show: (delivery: DeliveryDetail) => void
  order: TableOrder
}) {
  const { t } = useTranslation()
  const columns: Column<Delivery>[] = [
    { label: t('webhooks.time'), by: 'created_at', cell: ({ created_at }) => <Time at={created_at} /> },
    { label: t('webhooks.type'), cell: ({ type }) => <span className="pw-mono">{type}</span> },
    {
      label: t('messages.state'),
      cell: ({ state }) => <StatusBadge tone={TONES[state]}>{t(`webhooks.deliveryState.${state}`)}</StatusBadge>,
    },
    {
      label: t('webhooks.result'),
      text: true,
      cell: ({ result, result_code, result_params }) =>
        result === null ? '–' : <ServiceSentence text={result} code={result_code} params={result_params} />,
    },
    { label: t('webhooks.attempts'), cell: ({ attempts }) => attempts },
    { label: t('ui.actions'), hidden: true, end: true, cell: one => <OpenButton delivery={one} show={props.show} /> },
  ]
  return (
    <DataTable
      order={props.order}
      name={t('webhooks.log')}
      columns={columns}
      rows={props.deliveries}
      rowKey={({ id }) => id}
    />
  )
}

/** Loads the attempts of a delivery when they are wanted. */
function OpenButton({ delivery, show }: { delivery: Delivery; show: (delivery: DeliveryDetail) => void }) {
  const { t } = useTranslation()
  const params = { id: delivery.webhook_id, delivery: delivery.id }
  const read = useWrite('getWebhookDeliveryOperation')
  const open = () => read.mutate({ params }, { onSuccess: show, onError: error => notifyError(error, t) })
  return (
    <Button variant="subtle" size="compact-sm" loading={read.isPending} onClick={open}>
      {t('webhooks.details')}
    </Button>
  )
}
