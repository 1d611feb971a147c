/** Targets of addresses that do not name an app by its key. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { pathForApp, presentAddress } from './app-pages.ts'
import { AppScopedPage } from './app-scope.tsx'
import { useSubRead } from './subscriptions-api.ts'

/** Opens the page of the app that was chosen last, or of the first one; explains why there is none. */
export function ChosenAppPage() {
  const { t } = useTranslation()
  const { _splat = '' } = useParams({ strict: false })
  const search: Record<string, unknown> = useSearch({ strict: false })
  return (
    <AppScopedPage title={t('nav.subscriptions')} lead="">
      {({ app }) => <Replace href={presentAddress(_splat, app.app_key, search) ?? '/apps'} />}
    </AppScopedPage>
  )
}

/** Opens the settings of the app with the id of the address. */
export function AppByIdPage() {
  const { id = '' } = useParams({ strict: false })
  const query = useSubRead('getApp', { params: { id } })
  return <Loaded query={query}>{app => <Replace href={pathForApp('/apps/$key/settings', app.app_key)} />}</Loaded>
}

function Replace({ href }: { href: string }) {
  const navigate = useNavigate()
  useEffect(() => void navigate({ href, replace: true }), [navigate, href])
  return null
}
