/** Table of subscriptions. */
import { Checkbox } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import type { AppScope } from '../shared/app-scope.tsx'
import { BusinessDate } from '../shared/business-time.tsx'
import { type Subscription, SubscriptionMenu } from './subscription-menu.tsx'

const TONES: Record<string, Tone> = { '0': 'info', '1': 'ok', '2': 'quiet', '3': 'quiet', '4': 'bad' }

/** Subscriptions that are selected for an action on several. */
export interface Selection {
  chosen: ReadonlyMap<string, Subscription>
  set: (subscriptions: readonly Subscription[], selected: boolean) => void
}

/** `ofUser` leaves out the column with the user; with `selection`, rows can be selected. */
export function SubscriptionTable(props: {
  subscriptions: readonly Subscription[]
  scope: AppScope
  ofUser?: boolean
  selection?: Selection | undefined
}) {
  const { t } = useTranslation()
  const { subscriptions, scope, ofUser, selection } = props
  const { app_key } = scope.app
  const user: Column<Subscription> = {
    label: t('subs.user'),
    text: true,
    cell: one => (
      <Link to="/apps/$key/users/$id" params={{ key: app_key, id: one.user_id }} className="pw-link">
        {one.user_nickname || t('subs.unnamed', { id: one.user_id })}
      </Link>
    ),
  }
  const columns: Column<Subscription>[] = [
    ...(selection ? [selectionColumn(selection, subscriptions, t)] : []),
    ...(ofUser ? [] : [user]),
    { label: t('subs.plan'), text: true, cell: one => one.plan_name },
    { label: t('subs.price'), end: true, under: t('subs.plan'), cell: one => `¥${one.plan_price}` },
    { label: t('messages.state'), cell: one => <SubscriptionState subscription={one} /> },
    { label: t('subs.start'), cell: one => <BusinessDate at={one.start_date_formatted} /> },
    { label: t('subs.end'), cell: one => <BusinessDate at={one.end_date_formatted} /> },
    { label: t('subs.method'), under: t('subs.plan'), cell: one => <PaymentMethod method={one.payment_method} /> },
    { label: t('subs.renews'), under: t('subs.end'), cell: one => t(one.auto_renew === '1' ? 'ui.yes' : 'ui.no') },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: one => <SubscriptionMenu subscription={one} appKey={app_key} edit={scope.edit} />,
    },
  ]
  return <DataTable name={t('subs.listTitle')} columns={columns} rows={subscriptions} rowKey={one => one.id} />
}

function selectionColumn(
  { chosen, set }: Selection,
  rows: readonly Subscription[],
  t: TFunction,
): Column<Subscription> {
  const count = rows.filter(({ id }) => chosen.has(id)).length
  return {
    label: t('subs.select'),
    head: (
      <Checkbox
        size="xs"
        aria-label={t('subs.selectPage')}
        checked={count > 0 && count === rows.length}
        indeterminate={count > 0 && count < rows.length}
        onChange={event => set(rows, event.currentTarget.checked)}
      />
    ),
    cell: one => (
      <Checkbox
        size="xs"
        aria-label={t('subs.selectOne', {
          name: `${one.user_nickname || t('subs.unnamed', { id: one.user_id })} · ${one.plan_name}`,
        })}
        checked={chosen.has(one.id)}
        onChange={event => set([one], event.currentTarget.checked)}
      />
    ),
  }
}

/** Name of a payment method; apps may have methods of their own. */
export function PaymentMethod({ method }: { method: string }) {
  const { t } = useTranslation()
  return t(`subs.methods.${method as 'alipay'}`, { defaultValue: method })
}

function SubscriptionState({ subscription }: { subscription: Subscription }) {
  const { t } = useTranslation()
  if (subscription.in_grace) return <StatusBadge tone="warn">{t('subs.inGrace')}</StatusBadge>
  if (subscription.status === '1' && subscription.is_expiring_soon)
    return <StatusBadge tone="warn">{t('subs.expiringSoon')}</StatusBadge>
  return (
    <StatusBadge tone={TONES[subscription.status] ?? 'quiet'}>
      {t(`subs.status.${subscription.status as '0'}`, { defaultValue: subscription.status })}
    </StatusBadge>
  )
}
