/** What was sent to a webhook and answered, attempt by attempt. */

import { Button, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../api/hooks.ts'
import { notifyError } from '../../ui/feedback/notifications.ts'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { CodeBlock } from '../../ui/values/code-block.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import { Time } from '../../ui/values/time.tsx'
import type { DeliveryDetail } from './webhook-types.ts'

/** Sends a delivery of a mail webhook again. Test events and waiting ones have no such button. */
export function ReplayButton(props: { delivery: DeliveryDetail; replaced: (delivery: DeliveryDetail) => void }) {
  const { t } = useTranslation()
  const { delivery, replaced } = props
  const replay = useWrite('replayWebhookDeliveryOperation', ['listWebhookDeliveriesOperation'])
  const params = { id: delivery.webhook_id, delivery: delivery.id }
  const run = () => replay.mutate({ params }, { onSuccess: replaced, onError: error => notifyError(error, t) })
  if (delivery.state === 'waiting' || delivery.type === 'webhook.test') return null
  return (
    <NeedsRole needs="developer">
      <Button variant="default" loading={replay.isPending} onClick={run}>
        {t('webhooks.replay')}
      </Button>
    </NeedsRole>
  )
}

/** Request and attempts of a delivery of either module, with an action above them; times are ISO 8601. */
export function DeliveryView(props: { delivery: Pick<DeliveryDetail, 'request_body' | 'log'>; action?: ReactNode }) {
  const { t } = useTranslation()
  const { delivery, action } = props
  return (
    <Stack gap="md">
      {action ? <Group justify="flex-end">{action}</Group> : null}
      <Title order={3} fz="sm">
        {t('webhooks.request')}
      </Title>
      <CodeBlock text={pretty(delivery.request_body)} what={t('webhooks.request')} />
      {delivery.log.toReversed().map(attempt => (
        <Attempt key={attempt.at} attempt={attempt} />
      ))}
    </Stack>
  )
}

function Attempt({ attempt }: { attempt: DeliveryDetail['log'][number] }) {
  const { t } = useTranslation()
  const { at, duration_ms, request_headers, result, result_code, result_params, answer } = attempt
  return (
    <section>
      <Title order={3} fz="sm" mb={4}>
        {t('webhooks.attempt')} <Time at={at} /> · {t('webhooks.duration', { ms: duration_ms })}
      </Title>
      <Stack gap="xs">
        {result === null ? null : (
          <Text fz="sm">
            {t('webhooks.result') + t('label.separator')}
            {answer ? `${answer.status} ` : ''}
            {result_code ? <ServiceSentence text={result} code={result_code} params={result_params} /> : null}
          </Text>
        )}
        <CodeBlock text={lines(request_headers)} what={t('webhooks.request')} />
        {answer ? (
          <>
            <CodeBlock text={`${lines(answer.headers)}\n\n${answer.body}`} what={t('webhooks.answer')} />
            {answer.truncated ? (
              <Text fz="xs" c="dimmed">
                {t('webhooks.truncated')}
              </Text>
            ) : null}
          </>
        ) : (
          <Text fz="sm" c="dimmed">
            {t('webhooks.noAnswer')}
          </Text>
        )}
      </Stack>
    </section>
  )
}

function lines(headers: readonly { name: string; value: string }[]): string {
  return headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
}

function pretty(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2)
}
