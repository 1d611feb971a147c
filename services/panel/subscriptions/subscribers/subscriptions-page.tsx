import { Button } from '@mantine/core'
import { IconFileImport, IconGift, IconReceipt2 } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppList } from '../shared/app-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { ExportSubscriptions } from '../shared/csv-export.tsx'
import { type SubOutput, useSubRead } from '../shared/subscriptions-api.ts'
import { GrantForm } from './grant-form.tsx'
import { ImportForm } from './import-form.tsx'
import { SubscriptionMenu } from './subscription-menu.tsx'

type Subscription = SubOutput<'listSubscriptionsOperation'>['subscriptions'][number]

const route = getRouteApi('/shell/apps/$key/subscriptions')

const STATUSES = ['0', '1', '2', '3', '4'] as const
const TONES: Record<string, Tone> = { '0': 'info', '1': 'ok', '2': 'quiet', '3': 'quiet', '4': 'bad' }

export function SubscriptionsPage() {
  const { t } = useTranslation()
  return (
    <AppScopedPage title={t('subs.listTitle')} lead={t('subs.listLead')}>
      {scope => <Subscriptions scope={scope} />}
    </AppScopedPage>
  )
}

function Subscriptions({ scope }: { scope: AppScope }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [open, setOpen] = useState<'grant' | 'import'>()
  const close = () => setOpen(undefined)
  const app_key = scope.app.app_key
  const query = useSubRead('listSubscriptionsOperation', {
    query: omitUndefined({ app_key, search: search.search, status: search.status, page: search.page }),
  })
  return (
    <AppList
      search={search}
      navigate={next => void navigate({ search: next })}
      query={query}
      hint={t('subs.userSearch')}
      states={STATUSES.map(value => ({ value, label: t(`subs.status.${value}`) }))}
      empty={{
        icon: <IconReceipt2 size={26} />,
        title: t('subs.noSubscriptions'),
        hint: t('subs.noSubscriptionsHint'),
      }}
      actions={
        <>
          <ExportSubscriptions search={search} appKey={app_key} />
          {scope.edit ? (
            <>
              <Button variant="default" leftSection={<IconFileImport size={16} />} onClick={() => setOpen('import')}>
                {t('subs.import')}
              </Button>
              <Button leftSection={<IconGift size={16} />} onClick={() => setOpen('grant')}>
                {t('subs.grant')}
              </Button>
            </>
          ) : null}
          <Dialog opened={open === 'grant'} close={close} title={t('subs.grant')}>
            {() => <GrantForm appKey={app_key} close={close} />}
          </Dialog>
          <Dialog opened={open === 'import'} close={close} title={t('subs.importTitle')} size="lg">
            {() => <ImportForm appKey={app_key} close={close} />}
          </Dialog>
        </>
      }
      rows={answer => answer.subscriptions}
    >
      {subscriptions => <SubscriptionTable subscriptions={subscriptions} scope={scope} />}
    </AppList>
  )
}

function SubscriptionTable(props: { subscriptions: readonly Subscription[]; scope: AppScope }) {
  const { t } = useTranslation()
  const { subscriptions, scope } = props
  const columns: Column<Subscription>[] = [
    { label: t('subs.user'), cell: one => one.user_nickname || t('subs.unnamed', { id: one.user_id }) },
    { label: t('subs.plan'), cell: one => one.plan_name },
    { label: t('subs.price'), end: true, cell: one => `¥${one.plan_price}` },
    { label: t('messages.state'), cell: one => <SubscriptionState subscription={one} /> },
    { label: t('subs.start'), cell: one => <BusinessTime at={one.start_date_formatted} /> },
    { label: t('subs.end'), cell: one => <BusinessTime at={one.end_date_formatted} /> },
    {
      label: t('subs.method'),
      cell: one => t(`subs.methods.${one.payment_method as 'alipay'}`, { defaultValue: one.payment_method }),
    },
    { label: t('subs.renews'), cell: one => t(one.auto_renew === '1' ? 'ui.yes' : 'ui.no') },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: one => <SubscriptionMenu subscription={one} appKey={scope.app.app_key} edit={scope.edit} />,
    },
  ]
  return <DataTable name={t('subs.listTitle')} columns={columns} rows={subscriptions} rowKey={one => one.id} />
}

function SubscriptionState({ subscription }: { subscription: Subscription }) {
  const { t } = useTranslation()
  if (subscription.status === '1' && subscription.is_expiring_soon)
    return <StatusBadge tone="warn">{t('subs.expiringSoon')}</StatusBadge>
  return (
    <StatusBadge tone={TONES[subscription.status] ?? 'quiet'}>
      {t(`subs.status.${subscription.status as '0'}`, { defaultValue: subscription.status })}
    </StatusBadge>
  )
}
