/** The app of the subscription pages, and the admin's permissions in it. */
import { Button } from '@mantine/core'
import { IconAppWindow } from '@tabler/icons-react'
import { Link, useParams } from '@tanstack/react-router'
import { Fragment, type ReactNode, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { setPreferences, usePreferences } from '../../state/preferences.ts'
import { Empty, Failure, LoadingRows } from '../../ui/feedback/content-states.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { type SubOutput, useAllApps, useSubRead } from './subscriptions-api.ts'

export type SubApp = SubOutput<'listAppsOperation'>['apps'][number]

export interface AppScope {
  app: SubApp
  /** True if the admin may change data of the app. */
  edit: boolean
}

/**
 * The app of the address, or without one the app that was opened last, or the first one. `app` and `role` are undefined while they
 * are loading.
 */
export function useAppScope() {
  const { key } = useParams({ strict: false })
  const preferred = usePreferences().app
  const apps = useAllApps()
  const status = useSubRead('loginStatus', {})
  const list = apps.data ?? []
  const named = list.find(one => one.app_key === (key ?? preferred))
  // An unknown app in the address must not silently become another one.
  const app = named ?? (key === undefined ? list[0] : undefined)
  const role = status.data?.admin.role
  const error = apps.error ?? status.error
  return { apps: list, app, requestedKey: key, role, error, loading: !apps.data || !status.data }
}

/** Page of the app in the address; names the app, and explains why there is no content if the app is unknown. */
export function AppScopedPage(props: {
  title: string
  /** In the title of the document, before the name of the app; by default `title`. */
  name?: string
  lead: ReactNode
  /** A function is called with the scope once it is known. */
  actions?: ReactNode | ((scope: AppScope) => ReactNode)
  children: (scope: AppScope) => ReactNode
}) {
  const { app, requestedKey, role } = useAppScope()
  const { actions } = props
  const scope = app && role ? { app, edit: role !== 'viewer' } : undefined
  const opened = requestedKey === undefined ? undefined : app?.app_key
  useEffect(() => {
    if (opened !== undefined) setPreferences({ app: opened })
  }, [opened])
  const lead = app ? (
    <>
      <span className="pw-app-name">
        <IconAppWindow size={15} aria-hidden /> {app.app_name || app.app_key}
      </span>
      <div>{props.lead}</div>
    </>
  ) : (
    props.lead
  )
  const name = [props.name ?? props.title, app?.app_name || app?.app_key].filter(Boolean).join(' · ')
  const shownActions = typeof actions === 'function' ? scope && actions(scope) : actions
  return (
    <Page title={props.title} name={name} lead={lead} actions={shownActions}>
      <AppScopeContent>{props.children}</AppScopeContent>
    </Page>
  )
}

function AppScopeContent({ children }: { children: (scope: AppScope) => ReactNode }) {
  const { t } = useTranslation()
  const { apps, app, requestedKey, role, error, loading } = useAppScope()
  if (app && role) return <Fragment key={app.app_key}>{children({ app, edit: role !== 'viewer' })}</Fragment>
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
          title={t('nav.noApps')}
          action={<Button renderRoot={props => <Link {...props} to="/apps" />}>{t('subs.toApps')}</Button>}
        >
          {t('subs.noAppsHint')}
        </Empty>
      )}
    </Card>
  )
}
