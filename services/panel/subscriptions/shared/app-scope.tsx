/** The app that the pages of this area are about, and what the reader may do in it. */
import { Button, Select } from '@mantine/core'
import { IconAppWindow } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Failure, LoadingRows } from '../../ui/feedback/content-states.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { type SubOutput, useAllApps, useSubRead } from './subscriptions-api.ts'

/** An app as lists show it. */
export type SubApp = SubOutput<'listAppsOperation'>['apps'][number]

/** The chosen app and the reader's rights. */
export interface AppScope {
  app: SubApp
  /** May change what belongs to the app. */
  edit: boolean
}

/** The apps, the chosen one and the role; undefined while they are read. */
export function useAppScope() {
  const search: { app?: string } = useSearch({ strict: false })
  const apps = useAllApps()
  const status = useSubRead('loginStatus', {})
  const list = apps.data ?? []
  // An address that names an app is about that one or about none.
  const app = search.app === undefined ? list[0] : list.find(one => one.app_key === search.app)
  const role = status.data?.admin.role
  const error = apps.error ?? status.error
  return { apps: list, app, asked: search.app, role, error, loading: !apps.data || !status.data }
}

/** A page about the chosen app; its content is shown once that is known, else why there is none. */
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

/** Chooses the app; the choice stands in the address. */
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
  const { apps, app, asked, role, error, loading } = useAppScope()
  if (app && role) return children({ app, edit: role !== 'viewer' })
  return (
    <Card flush>
      {loading && error ? (
        <Failure error={error} />
      ) : loading ? (
        <LoadingRows />
      ) : apps.length > 0 ? (
        <Empty icon={<IconAppWindow size={26} />} title={t('subs.noSuchApp')}>
          {t('subs.noSuchAppHint', { key: asked })}
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
