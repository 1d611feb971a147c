/** Addresses that lead nowhere, and pages that break. */
import { Button } from '@mantine/core'
import { IconMap2 } from '@tabler/icons-react'
import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ContentState, Failure } from '../ui/feedback/content-states.tsx'

/** There is nothing at this address. */
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

/** A page could not be loaded or shown. */
export function RouteFailure({ error }: { error: unknown }) {
  const router = useRouter()
  return <Failure level={1} error={error} retry={() => void router.invalidate()} />
}
