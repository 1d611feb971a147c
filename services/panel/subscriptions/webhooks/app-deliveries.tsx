/** Delivery log of a webhook of an app. */
import { Button, Group, Select } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { notifyError } from '../../ui/feedback/notifications.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { SearchableSelect } from '../../ui/forms/searchable-select.tsx'
import { CursorPager } from '../../ui/layout/cursor-pager.tsx'
import { NEWEST_FIRST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { Card } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import type { SubApp } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import {
  APP_DELIVERY_STATES,
  APP_DELIVERY_TYPES,
  type AppDelivery,
  type AppDeliveryDetail,
  type AppWebhook,
  stateName,
} from './app-webhook-types.ts'

const route = getRouteApi('/shell/apps/$key/webhooks/$id')

const TONES: Record<AppDelivery['state'], Tone> = { waiting: 'info', done: 'ok', failed: 'bad' }

interface Props {
  app: SubApp
  webhook: AppWebhook
  show: (delivery: AppDeliveryDetail) => void
}

export function AppDeliveries(props: Props) {
  const { t } = useTranslation()
  const { app, webhook } = props
  const search = route.useSearch()
  const { after, order, state, type } = search
  const navigate = route.useNavigate()
  const wanted = APP_DELIVERY_STATES.find(known => known === state)
  const wantedType = APP_DELIVERY_TYPES.find(known => known === type)
  const filters = { order, state: wanted, type: wantedType }
  const query = useSubRead('listDeliveriesOperation', {
    params: { id: app.id, webhook: webhook.id },
    query: omitUndefined({ after, ...filters }),
  })
  const last = query.data?.has_more === '1' ? query.data.deliveries.at(-1)?.id : undefined
  const filter = (
    <Group gap="xs">
      <Button variant="default" size="xs" onClick={() => void query.refetch()} loading={query.isFetching}>
        {t('subs.refresh')}
      </Button>
      <Select
        aria-label={t('messages.state')}
        placeholder={t('webhooks.any')}
        data={APP_DELIVERY_STATES.map(value => ({ value, label: t(`webhooks.deliveryState.${stateName(value)}`) }))}
        value={wanted ?? null}
        onChange={value => void navigate({ search: omitUndefined({ ...filters, state: value ?? undefined }) })}
        clearable
      />
      <SearchableSelect
        aria-label={t('webhooks.type')}
        placeholder={t('webhooks.anyType')}
        data={[...APP_DELIVERY_TYPES]}
        value={wantedType ?? null}
        onChange={value => void navigate({ search: omitUndefined({ ...filters, type: value ?? undefined }) })}
        clearable
      />
    </Group>
  )
  return (
    <>
      <Card flush title={t('webhooks.log')} aside={filter}>
        <Loaded query={query}>
          {({ deliveries }) =>
            deliveries.length === 0 ? (
              <Empty icon={<IconSend size={26} />} title={t('webhooks.noDeliveries')}>
                {t('webhooks.noDeliveriesHint')}
              </Empty>
            ) : (
              <DeliveryTable
                {...props}
                deliveries={deliveries}
                order={tableOrder(NEWEST_FIRST, search, next => void navigate({ search: next }))}
              />
            )
          }
        </Loaded>
      </Card>
      <CursorPager
        after={after}
        next={last}
        go={next => void navigate({ search: omitUndefined({ after: next, ...filters }) })}
      />
    </>
  )
}

function DeliveryTable(props: Props & { deliveries: readonly AppDelivery[]; order: TableOrder }) {
  const { app, webhook, show, deliveries, order } = props
  const { t } = useTranslation()
  const columns: Column<AppDelivery>[] = [
    { label: t('webhooks.time'), by: 'created_at', cell: ({ created_at }) => <BusinessTime at={created_at} /> },
    { label: t('webhooks.type'), cell: ({ type }) => <span className="pw-mono">{type}</span> },
    {
      label: t('messages.state'),
      cell: ({ state }) => (
        <StatusBadge tone={TONES[state]}>{t(`webhooks.deliveryState.${stateName(state)}`)}</StatusBadge>
      ),
    },
    {
      label: t('webhooks.result'),
      text: true,
      cell: ({ result, result_code, result_params }) =>
        result === null ? '–' : <ServiceSentence text={result} code={result_code} params={result_params} />,
    },
    { label: t('webhooks.attempts'), cell: ({ attempts }) => attempts },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: ({ id }) => <OpenButton app={app} webhook={webhook} id={id} show={show} />,
    },
  ]
  return (
    <DataTable order={order} name={t('webhooks.log')} columns={columns} rows={deliveries} rowKey={({ id }) => id} />
  )
}

/** Loads the attempts of a delivery when they are wanted. */
function OpenButton({ app, webhook, id, show }: Props & { id: string }) {
  const { t } = useTranslation()
  const params = { id: app.id, webhook: webhook.id, delivery: id }
  const read = useSubWrite('getDeliveryOperation')
  const open = () => read.mutate({ params }, { onSuccess: show, onError: error => notifyError(error, t) })
  return (
    <Button variant="subtle" size="compact-sm" loading={read.isPending} onClick={open}>
      {t('webhooks.details')}
    </Button>
  )
}
