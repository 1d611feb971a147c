/** Choice of the app whose pages the menu opens. */
import { Select } from '@mantine/core'
import { IconAppWindow } from '@tabler/icons-react'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { pathForApp } from './app-pages.ts'
import { useAppScope } from './app-scope.tsx'

/** Stays on the present page of an app; elsewhere it opens the analytics of the chosen one. */
export function AppSwitcher({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const { apps, app, requestedKey } = useAppScope()
  if (apps.length === 0) return null
  const page = requestedKey === undefined ? '' : pathname.split('/').slice(3).join('/')
  const choose = (key: string | null) => {
    if (key === null) return
    close()
    void navigate({ href: pathForApp(page ? `/apps/$key/${page}` : '/apps/$key', key) })
  }
  return (
    <Select
      className="pw-app-switcher"
      size="xs"
      aria-label={t('nav.app')}
      title={app?.app_name || app?.app_key}
      data={apps.map(one => ({ value: one.app_key, label: one.app_name || one.app_key }))}
      value={app?.app_key ?? null}
      allowDeselect={false}
      searchable
      leftSection={<IconAppWindow size={15} />}
      onChange={choose}
    />
  )
}
