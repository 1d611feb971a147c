/** CSV export of a list with its filters. */
import { Button } from '@mantine/core'
import { IconFileExport } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { queryString } from '../../api/fetch.ts'
import type { SubscriptionsSearch } from './subscriptions-search.ts'

interface Listed {
  search: SubscriptionsSearch
  appKey: string
}

export function ExportUsers(props: Listed) {
  return <Export path="/subscription-api/user/export" {...props} />
}

export function ExportSubscriptions(props: Listed) {
  return <Export path="/subscription-api/subscription/export" {...props} />
}

function Export({ path, search, appKey }: Listed & { path: string }) {
  const { t } = useTranslation()
  const query = queryString({ app_key: appKey, search: search.search, status: search.status })
  return (
    <Button
      component="a"
      variant="default"
      href={path + query}
      download
      leftSection={<IconFileExport size={16} />}
      aria-label={t('subs.exportHint')}
    >
      {t('subs.export')}
    </Button>
  )
}
