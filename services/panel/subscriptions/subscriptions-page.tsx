/** The subscriptions of an app. */
import { Button, Group, Select } from '@mantine/core'
import { IconGift, IconReceipt2 } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '../ui/form.tsx'
import { Card, Page } from '../ui/page.tsx'
import { Pages } from '../ui/pages.tsx'
import { setOnly } from '../ui/search.ts'
import { Empty, Loaded } from '../ui/states.tsx'
import { Status, type Tone } from '../ui/status.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { TextFilter } from '../ui/text-filter.tsx'
import { type SubOutput, useSubRead } from './api.ts'
import { GrantForm } from './grant-form.tsx'
import { AppSelect, InScope, type Scope } from './scope.tsx'
import { SubscriptionMenu } from './subscription-menu.tsx'

type Subscription = SubOutput<'listSubscriptionsOperation'>['subscriptions'][number]

const route = getRouteApi('/shell/subscriptions/list')

const STATUSES = ['0', '1', '2', '3', '4'] as const
const TONES: Record<string, Tone> = { '0': 'info', '1': 'ok', '2': 'quiet', '3': 'quiet', '4': 'bad' }

/** The page. */
export function SubscriptionsPage() {
  const { t } = useTranslation()
  return (
    <Page title={t('subs.listTitle')} lead={t('subs.listLead')} actions={<AppSelect />}>
      <InScope>{scope => <Subscriptions scope={scope} />}</InScope>
    </Page>
  )
}

function Subscriptions({ scope }: { scope: Scope }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [granting, grant] = useState(false)
  const query = useSubRead('listSubscriptionsOperation', {
    query: setOnly({ app_key: scope.app.app_key, search: search.search, status: search.status, page: search.page }),
  })
  const change = (part: { search?: string | undefined; status?: string | undefined }) =>
    void navigate({ search: setOnly({ ...search, page: undefined, ...part }) })
  return (
    <>
      <Group gap="xs" align="flex-end" role="search">
        <TextFilter
          wide
          label={t('messages.search')}
          placeholder={t('subs.userSearch')}
          value={search.search ?? ''}
          set={text => change({ search: text || undefined })}
        />
        <Select
          label={t('messages.state')}
          placeholder={t('messages.any')}
          data={STATUSES.map(value => ({ value, label: t(`subs.status.${value}`) }))}
          value={search.status ?? null}
          clearable
          onChange={status => change({ status: status ?? undefined })}
          w={170}
        />
        {scope.edit ? (
          <Button leftSection={<IconGift size={16} />} onClick={() => grant(true)} ml="auto">
            {t('subs.grant')}
          </Button>
        ) : null}
      </Group>
      <Card flush>
        <Loaded query={query}>
          {({ subscriptions }) =>
            subscriptions.length === 0 ? (
              <Empty icon={<IconReceipt2 size={26} />} title={t('subs.noSubscriptions')}>
                {t('subs.noSubscriptionsHint')}
              </Empty>
            ) : (
              <SubscriptionTable subscriptions={subscriptions} scope={scope} />
            )
          }
        </Loaded>
      </Card>
      <Pages
        page={search.page ?? 1}
        total={query.data?.pagination.total_pages ?? 1}
        go={page => void navigate({ search: { ...search, page } })}
      />
      <Dialog opened={granting} close={() => grant(false)} title={t('subs.grant')}>
        {() => <GrantForm appKey={scope.app.app_key} close={() => grant(false)} />}
      </Dialog>
    </>
  )
}

function SubscriptionTable(props: { subscriptions: readonly Subscription[]; scope: Scope }) {
  const { t } = useTranslation()
  const { subscriptions, scope } = props
  const columns: Column<Subscription>[] = [
    { label: t('subs.user'), cell: one => one.user_nickname || t('subs.unnamed', { id: one.user_id }) },
    { label: t('subs.plan'), cell: one => one.plan_name },
    { label: t('subs.price'), end: true, cell: one => `¥${one.plan_price}` },
    { label: t('messages.state'), cell: one => <SubscriptionState subscription={one} /> },
    { label: t('subs.start'), cell: one => one.start_date_formatted },
    { label: t('subs.end'), cell: one => one.end_date_formatted },
    {
      label: t('subs.method'),
      cell: one => t(`subs.methods.${one.payment_method as 'alipay'}`, { defaultValue: one.payment_method }),
    },
    { label: t('subs.renews'), cell: one => t(one.auto_renew === '1' ? 'ui.yes' : 'ui.no') },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: one => (scope.edit ? <SubscriptionMenu subscription={one} appKey={scope.app.app_key} /> : null),
    },
  ]
  return <DataTable name={t('subs.listTitle')} columns={columns} rows={subscriptions} rowKey={one => one.id} />
}

function SubscriptionState({ subscription }: { subscription: Subscription }) {
  const { t } = useTranslation()
  if (subscription.status === '1' && subscription.is_expiring_soon)
    return <Status tone="warn">{t('subs.expiringSoon')}</Status>
  return (
    <Status tone={TONES[subscription.status] ?? 'quiet'}>
      {t(`subs.status.${subscription.status as '0'}`, { defaultValue: subscription.status })}
    </Status>
  )
}
