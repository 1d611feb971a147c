/** What a step shows while no domain of the user may send. */
import { Button, Group, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Note } from '../ui/feedback/status-badge.tsx'

/** `own`: a domain that waits for its verification; without one the way leads to the step that adds one. */
export function DomainFirst({ own, addDomain }: { own: string | undefined; addDomain: () => void }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md">
      <Note tone="info">{own === undefined ? t('start.domainFirst') : t('start.verifyFirst', { domain: own })}</Note>
      <Group>
        {own === undefined ? (
          <Button onClick={addDomain}>{t('start.step.domain')}</Button>
        ) : (
          <Button renderRoot={rest => <Link {...rest} to="/domains/$id" params={{ id: own }} />}>
            {t('start.openDomain')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
