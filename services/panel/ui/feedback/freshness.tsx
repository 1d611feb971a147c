/** Shows that the content below is not current: it is being fetched, fetching it failed, or the browser is offline. */
import { Button } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import { IconCloudOff, IconRefreshAlert } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { usePreferences } from '../../state/preferences.ts'
import { exactTime } from '../values/time.tsx'
import { Note } from './status-badge.tsx'

type State = Pick<UseQueryResult, 'data' | 'isError' | 'isFetching' | 'isPlaceholderData' | 'dataUpdatedAt' | 'refetch'>

/** Renders nothing for current data. A quick refresh is not announced: the bar appears after half a second. */
export function Freshness({ query }: { query: State }) {
  const { t } = useTranslation()
  const { online } = useNetwork()
  const chosen = usePreferences()
  // Rows of the search before are shown while those of this one are fetched.
  const isOther = query.isPlaceholderData
  const at = query.dataUpdatedAt > 0 ? exactTime(query.dataUpdatedAt, chosen) : '–'
  if (!online) return <Stale icon={<IconCloudOff size={18} />} text={t('ui.staleOffline', { at })} />
  if (query.isError && !query.isFetching)
    return (
      <Stale
        icon={<IconRefreshAlert size={18} />}
        text={t('ui.staleFailed', { at })}
        retry={() => void query.refetch()}
      />
    )
  return query.isFetching ? (
    <div className="pw-updating" data-now={isOther || undefined} role="progressbar" aria-label={t('ui.updating')} />
  ) : null
}

function Stale({ icon, text, retry }: { icon: React.ReactNode; text: string; retry?: () => void }) {
  const { t } = useTranslation()
  return (
    <div className="pw-stale" role="status">
      <Note tone="warn" icon={icon}>
        {text}{' '}
        {retry ? (
          <Button variant="subtle" size="compact-sm" onClick={retry}>
            {t('ui.tryAgain')}
          </Button>
        ) : null}
      </Note>
    </div>
  )
}
