/** Health checks of the service. */
import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { Note, StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { ServiceSentence } from '../ui/values/service-sentence.tsx'

const TONES: Record<'ok' | 'warning' | 'failing', Tone> = { ok: 'ok', warning: 'warn', failing: 'bad' }

/** Polls every 15 seconds. */
export function HealthPage() {
  const { t } = useTranslation()
  const query = useRead('getHealth', {}, { poll: 15_000 })
  return (
    <Page title={t('operator.healthTitle')} lead={t('operator.healthLead')}>
      <Loaded query={query}>
        {health => (
          <Stack gap="md">
            <Note tone={TONES[health.status]}>{t(`operator.overall.${health.status}`)}</Note>
            {health.checks.map(check => (
              <Card
                key={check.name}
                title={t(`operator.check.${check.name}`)}
                aside={
                  <StatusBadge tone={TONES[check.status]}>{t(`operator.checkStatus.${check.status}`)}</StatusBadge>
                }
              >
                <Text fz="sm" c="dimmed">
                  <ServiceSentence text={check.detail} code={check.detail_code} params={check.detail_params} />
                </Text>
              </Card>
            ))}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
