/** Choice of the app whose pages the menu opens. */
import { IconAppWindow } from '@tabler/icons-react'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { SearchableSelect } from '../../ui/forms/searchable-select.tsx'
import { pathForApp } from './app-pages.ts'
import { useAppScope } from './app-scope.tsx'

/**
 * Stays on the present page of an app; elsewhere it opens the analytics of the chosen one. `onApp` is called with the key of the
 * app that is worked on, when it is known and when it changes.
 */
export function AppSwitcher({ onApp, close }: { onApp: (key: string | undefined) => void; close: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const { apps, app, requestedKey, loading } = useAppScope()
  const key = app?.app_key
  useEffect(() => onApp(key), [onApp, key])
  const page = requestedKey === undefined ? '' : pathname.split('/').slice(3).join('/')
  const choose = (chosen: string | null) => {
    if (chosen === null) return
    close()
    void navigate({ href: pathForApp(page ? `/apps/$key/${page}` : '/apps/$key', chosen) })
  }
  return (
    <SearchableSelect
      size="xs"
      aria-label={t('nav.app')}
      title={app?.app_name || key}
      data={apps.map(one => ({ value: one.app_key, label: one.app_name || one.app_key }))}
      value={key ?? null}
      disabled={apps.length === 0}
      placeholder={loading || apps.length > 0 ? undefined : t('nav.noApps')}
      leftSection={<IconAppWindow size={15} />}
      onChange={choose}
    />
  )
}
