/** Settings of an app: signatures and mail, keys, payment channels. */
import { Group } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { AppScopedPage, useAppScope } from '../shared/app-scope.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { AppKeys } from './app-keys.tsx'
import { AppSettings } from './app-settings.tsx'
import { AppWebhooksLink } from './app-webhooks-link.tsx'
import { PaymentChannels } from './payment-channels.tsx'

export function AppPage() {
  const { t } = useTranslation()
  const { app } = useAppScope()
  const lead = (
    <Group gap="xs">
      <Link to="/apps" className="pw-link">
        <IconArrowLeft size={14} className="pw-inline-icon" /> {t('subs.appsTitle')}
      </Link>
      <span className="pw-mono">{app?.app_key}</span>
      <ManagedBadge resource={app?.managed_by} />
    </Group>
  )
  return (
    <AppScopedPage title={t('subs.keysAndChannels')} lead={lead}>
      {scope => (
        <div className="pw-cards">
          <AppSettings app={scope.app} />
          <AppKeys app={scope.app} />
          <PaymentChannels app={scope.app} />
          <AppWebhooksLink appKey={scope.app.app_key} />
        </div>
      )}
    </AppScopedPage>
  )
}
