/** Filters of the list of subscriptions: all that the API has. */
import { Select } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SearchChange } from '../shared/app-list.tsx'
import { CreatedFilters, SelectFilter } from '../shared/list-filters.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { SUBSCRIPTION_STATUSES, type SubscriptionListSearch } from '../shared/subscriptions-search.ts'
import { UserPicker } from '../shared/user-picker.tsx'

/** Maximum length of the API. */
const MAX_METHOD = 32

/** Methods that every app may have; the name of another one is typed. */
const METHODS = ['alipay', 'wechat', 'huawei', 'local_sync', 'manual', 'trial'] as const

export function SubscriptionFilters(props: {
  appKey: string
  search: SubscriptionListSearch
  go: (change: SearchChange<SubscriptionListSearch>) => void
}) {
  const { t } = useTranslation()
  const { appKey, search, go } = props
  const plans = useSubRead('listPlansOperation', { query: { app_key: appKey, pageSize: 100 } })
  // "Expiring soon" is a filter of its own in the API, but a state for people.
  const state = search.expiring === '1' ? 'expiring' : search.status
  const choose = (value: typeof state) =>
    go(value === 'expiring' ? { status: undefined, expiring: '1' } : { status: value, expiring: undefined })
  return (
    <>
      <SelectFilter
        label={t('messages.state')}
        data={[
          ...SUBSCRIPTION_STATUSES.map(value => ({ value, label: t(`subs.status.${value}`) })),
          { value: 'expiring', label: t('subs.expiringSoon') },
        ]}
        value={state}
        set={choose}
        width={160}
      />
      <SelectFilter
        label={t('subs.plan')}
        data={plans.data?.plans.map(one => ({ value: one.id, label: one.name })) ?? []}
        value={search.plan_id}
        set={plan_id => go({ plan_id })}
      />
      <UserPicker
        appKey={appKey}
        label={t('subs.user')}
        value={search.user_id ?? ''}
        onChange={id => go({ user_id: id || undefined })}
        clearable
        w={200}
      />
      <MethodFilter value={search.payment_method} set={payment_method => go({ payment_method })} />
      <SelectFilter
        label={t('subs.renews')}
        data={[
          { value: '1', label: t('ui.yes') },
          { value: '0', label: t('ui.no') },
        ]}
        value={search.auto_renew}
        set={auto_renew => go({ auto_renew })}
        width={110}
      />
      <CreatedFilters search={search} go={go} />
    </>
  )
}

/** The known methods, and the text that is typed. */
function MethodFilter({ value, set }: { value: string | undefined; set: (method: string | undefined) => void }) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  const known = METHODS.map(method => ({ value: method as string, label: t(`subs.methods.${method}`) }))
  const isKnown = (text: string) => known.some(method => method.value === text || method.label === text)
  const others = [...new Set([value ?? '', typed.trim().slice(0, MAX_METHOD)])].filter(
    text => text !== '' && !isKnown(text),
  )
  return (
    <Select
      label={t('subs.method')}
      placeholder={t('messages.any')}
      data={[...known, ...others.map(text => ({ value: text, label: text }))]}
      value={value ?? null}
      onChange={method => set(method ?? undefined)}
      onSearchChange={setTyped}
      clearable
      searchable
      w={150}
    />
  )
}
