import { Button } from '@mantine/core'
import { IconFileImport, IconGift, IconReceipt2 } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { AppList, OneOfList } from '../shared/app-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { ExportSubscriptions } from '../shared/csv-export.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { subscriptionListSearch } from '../shared/subscriptions-search.ts'
import { BatchBar } from './batch-bar.tsx'
import { GrantForm } from './grant-form.tsx'
import { ImportForm } from './import-form.tsx'
import { SubscriptionFilters } from './subscription-filters.tsx'
import { SubscriptionTable } from './subscription-table.tsx'
import { useSelection } from './use-selection.ts'

const route = getRouteApi('/shell/apps/$key/subscriptions')

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
  const { subscription, ...search } = subscriptionListSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const selection = useSelection()
  const app_key = scope.app.app_key
  const query = useSubRead('listSubscriptionsOperation', { query: { app_key, ...search } }, { enabled: !subscription })
  if (subscription)
    return <OneSubscription id={subscription} scope={scope} showAll={() => void navigate({ search: {} })} />
  return (
    <>
      <AppList
        search={search}
        navigate={next => void navigate({ search: next })}
        query={query}
        hint={t('subs.subscriptionSearch')}
        filters={go => <SubscriptionFilters appKey={app_key} search={search} go={go} />}
        empty={{
          icon: <IconReceipt2 size={26} />,
          title: t('subs.noSubscriptions'),
          hint: t('subs.noSubscriptionsHint'),
        }}
        actions={
          <>
            <ExportSubscriptions search={search} appKey={app_key} />
            {scope.edit ? <AddButtons appKey={app_key} /> : null}
          </>
        }
        pages={answer => answer.pagination.total_pages}
        rows={answer => answer.subscriptions}
      >
        {subscriptions => (
          <SubscriptionTable
            subscriptions={subscriptions}
            scope={scope}
            selection={scope.edit ? selection : undefined}
          />
        )}
      </AppList>
      {scope.edit ? <BatchBar appKey={app_key} selection={selection} /> : null}
    </>
  )
}

function OneSubscription({ id, scope, showAll }: { id: string; scope: AppScope; showAll: () => void }) {
  const query = useSubRead('getSubscription', { params: { id }, query: { app_key: scope.app.app_key } })
  return (
    <OneOfList query={query} showAll={showAll}>
      {subscriptions => <SubscriptionTable subscriptions={subscriptions} scope={scope} />}
    </OneOfList>
  )
}

function AddButtons({ appKey }: { appKey: string }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<'grant' | 'import'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button variant="default" leftSection={<IconFileImport size={16} />} onClick={() => setOpen('import')}>
        {t('subs.import')}
      </Button>
      <Button leftSection={<IconGift size={16} />} onClick={() => setOpen('grant')}>
        {t('subs.grant')}
      </Button>
      <Dialog opened={open === 'grant'} close={close} title={t('subs.grant')}>
        {() => <GrantForm appKey={appKey} close={close} />}
      </Dialog>
      <Dialog opened={open === 'import'} close={close} title={t('subs.importTitle')} size="lg">
        {() => <ImportForm appKey={appKey} close={close} />}
      </Dialog>
    </>
  )
}
