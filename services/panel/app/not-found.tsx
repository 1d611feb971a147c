/** Fallback pages for unknown addresses and for pages that fail to load or render. */
import { Button } from '@mantine/core'
import { IconMap2 } from '@tabler/icons-react'
import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ContentState, Failure } from '../ui/feedback/content-states.tsx'

export function NotFound() {
  const { t } = useTranslation()
  return (
    <ContentState
      level={1}
      icon={<IconMap2 size={26} />}
      title={t('ui.goneTitle')}
      action={
        <Button variant="default" renderRoot={props => <Link {...props} to="/" />}>
          {t('ui.home')}
        </Button>
      }
    >
      {t('ui.noSuchPage')}
    </ContentState>
  )
}

export function RouteFailure({ error }: { error: unknown }) {
  const router = useRouter()
  return <Failure level={1} error={error} retry={() => void router.invalidate()} />
}
