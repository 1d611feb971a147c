/** One app: its keys, and the payment channels that tell it of payments. */
import { IconArrowLeft } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Page } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'
import { useSubRead } from './api.ts'
import { AppKeys } from './app-keys.tsx'
import { ManagedText } from './managed-text.tsx'
import { PaymentChannels } from './payment-channels.tsx'

const route = getRouteApi('/shell/subscriptions/apps/$id')

/** The page. */
export function AppPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const query = useSubRead('getApp', { params: { id } })
  return (
    <Page
      title={query.data?.app_name ?? t('subs.app')}
      lead={
        <>
          <Link to="/subscriptions/apps" className="pw-link">
            <IconArrowLeft size={14} className="pw-inline-icon" /> {t('subs.appsTitle')}
          </Link>{' '}
          <span className="pw-mono">{query.data?.app_key}</span> <ManagedText resource={query.data?.managed_by} />
        </>
      }
    >
      <Loaded query={query}>
        {app => (
          <>
            <AppKeys app={app} />
            <PaymentChannels appId={app.id} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
