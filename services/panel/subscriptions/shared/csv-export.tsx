/** CSV export of a list with its filters. */
import { Button } from '@mantine/core'
import { IconFileExport } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { queryString } from '../../api/fetch.ts'
import type { SubscriptionListSearch, UsersSearch } from './subscriptions-search.ts'

export function ExportUsers({ search, appKey }: { search: UsersSearch; appKey: string }) {
  return (
    <Export
      path="/subscription-api/user/export"
      query={{ ...search, page: undefined, order: undefined, app_key: appKey }}
    />
  )
}

export function ExportSubscriptions({ search, appKey }: { search: SubscriptionListSearch; appKey: string }) {
  return <Export path="/subscription-api/subscription/export" query={{ ...search, page: undefined, app_key: appKey }} />
}

function Export({ path, query }: { path: string; query: Record<string, unknown> }) {
  const { t } = useTranslation()
  return (
    <Button
      component="a"
      variant="default"
      href={path + queryString(query)}
      download
      leftSection={<IconFileExport size={16} />}
      aria-label={t('subs.exportHint')}
    >
      {t('subs.export')}
    </Button>
  )
}
