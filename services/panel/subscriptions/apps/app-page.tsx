/** Page of an app: settings, keys, payment channels. */
import { Group } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { AppKeys } from './app-keys.tsx'
import { AppSettings } from './app-settings.tsx'
import { PaymentChannels } from './payment-channels.tsx'

const route = getRouteApi('/shell/subscriptions/apps/$id')

export function AppPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const query = useSubRead('getApp', { params: { id } })
  return (
    <Page
      title={query.data?.app_name ?? t('subs.app')}
      lead={
        <Group gap="xs">
          <Link to="/subscriptions/apps" className="pw-link">
            <IconArrowLeft size={14} className="pw-inline-icon" /> {t('subs.appsTitle')}
          </Link>
          <span className="pw-mono">{query.data?.app_key}</span>
          <ManagedBadge resource={query.data?.managed_by} />
        </Group>
      }
    >
      <Loaded query={query}>
        {app => (
          <>
            <AppSettings app={app} />
            <AppKeys app={app} />
            <PaymentChannels appId={app.id} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
