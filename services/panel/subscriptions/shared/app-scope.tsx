/** The app of the subscription pages, and the admin's permissions in it. */
import { Button, Select } from '@mantine/core'
import { IconAppWindow } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Failure, LoadingRows } from '../../ui/feedback/content-states.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { type SubOutput, useAllApps, useSubRead } from './subscriptions-api.ts'

export type SubApp = SubOutput<'listAppsOperation'>['apps'][number]

export interface AppScope {
  app: SubApp
  /** True if the admin may change data of the app. */
  edit: boolean
}

/** `app` and `role` are undefined while they are loading. */
export function useAppScope() {
  const search: { app?: string } = useSearch({ strict: false })
  const apps = useAllApps()
  const status = useSubRead('loginStatus', {})
  const list = apps.data ?? []
  // An unknown app in the address must not silently become another one.
  const app = search.app === undefined ? list[0] : list.find(one => one.app_key === search.app)
  const role = status.data?.admin.role
  const error = apps.error ?? status.error
  return { apps: list, app, requestedKey: search.app, role, error, loading: !apps.data || !status.data }
}

/** Page of the selected app; explains why there is no content if the app is unknown. */
export function AppScopedPage(props: {
  title: string
  lead: string
  actions?: ReactNode
  children: (scope: AppScope) => ReactNode
}) {
  return (
    <Page
      title={props.title}
      lead={props.lead}
      actions={
        <>
          {props.actions}
          <AppSelect />
        </>
      }
    >
      <AppScopeContent>{props.children}</AppScopeContent>
    </Page>
  )
}

/** The selected app is kept in the address. */
function AppSelect() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { apps, app } = useAppScope()
  if (apps.length === 0) return null
  return (
    <Select
      aria-label={t('subs.app')}
      data={apps.map(one => ({ value: one.app_key, label: one.app_name || one.app_key }))}
      value={app?.app_key ?? null}
      allowDeselect={false}
      searchable
      leftSection={<IconAppWindow size={16} />}
      onChange={value => void navigate({ to: '.', search: value ? { app: value } : {} })}
      w={220}
    />
  )
}

function AppScopeContent({ children }: { children: (scope: AppScope) => ReactNode }) {
  const { t } = useTranslation()
  const { apps, app, requestedKey, role, error, loading } = useAppScope()
  if (app && role) return children({ app, edit: role !== 'viewer' })
  return (
    <Card flush>
      {loading && error ? (
        <Failure error={error} />
      ) : loading ? (
        <LoadingRows />
      ) : apps.length > 0 ? (
        <Empty icon={<IconAppWindow size={26} />} title={t('subs.noSuchApp')}>
          {t('subs.noSuchAppHint', { key: requestedKey })}
        </Empty>
      ) : (
        <Empty
          icon={<IconAppWindow size={26} />}
          title={t('subs.noApps')}
          action={
            <Button renderRoot={props => <Link {...props} to="/subscriptions/apps" />}>{t('subs.toApps')}</Button>
          }
        >
          {t('subs.noAppsHint')}
        </Empty>
      )}
    </Card>
  )
}
