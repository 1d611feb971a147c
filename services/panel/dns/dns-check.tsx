/** Last DNS check, and a button that runs a new one. */

import { Button, Group, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { notifyError, notifySuccess } from '../ui/feedback/notifications.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { Card } from '../ui/layout/page.tsx'
import { ServiceSentence, sentencesOf } from '../ui/values/service-sentence.tsx'
import { Time } from '../ui/values/time.tsx'
import { DnsCheckHistory } from './dns-check-history.tsx'

export function DnsCheck({ domain }: { domain: Output<'getDomainOperation'> }) {
  const { t } = useTranslation()
  const verify = useWrite('verifyDomainOperation', [
    'getDomainOperation',
    'listDomainsOperation',
    'listChecksOperation',
  ])
  const { check } = domain
  const checkNow = () =>
    verify.mutate(
      { params: { id: domain.id } },
      {
        onSuccess: result => notifySuccess(t(`dns.outcome.${result.outcome}`)),
        onError: error => notifyError(error, t),
      },
    )
  return (
    <Card
      title={t('dns.check')}
      aside={
        <NeedsRole needs="admin">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconRefresh size={15} />}
            onClick={checkNow}
            loading={verify.isPending}
          >
            {t('dns.checkNow')}
          </Button>
        </NeedsRole>
      }
    >
      {check ? (
        <Group gap="lg">
          <Text fz="sm">
            {t('dns.lastCheck')} <Time at={check.at} />
          </Text>
          {check.next_at ? (
            <Text fz="sm" c="dimmed">
              {t('dns.nextCheck')} <Time at={check.next_at} />
            </Text>
          ) : null}
        </Group>
      ) : (
        <Text fz="sm" c="dimmed">
          {t('dns.neverChecked')}
        </Text>
      )}
      {check?.failing_since ? (
        <Note tone="warn">
          {t('dns.failingSince')} <Time at={check.failing_since} />
        </Note>
      ) : null}
      {sentencesOf(check?.errors ?? [], check?.errors_codes ?? []).map(error => (
        <div key={error.text} className="pw-advice" data-tone="bad">
          <ServiceSentence {...error} />
        </div>
      ))}
      {check ? <DnsCheckHistory domainId={domain.id} /> : null}
    </Card>
  )
}
