/** Receivers that refuse mail of a domain because they cannot authenticate the sender; nothing while there is none. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { Card } from '../../ui/layout/page.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import { Time } from '../../ui/values/time.tsx'

type Refusal = Output<'getDomainOperation'>['authentication_refusals'][number]

export function AuthenticationRefusals({ domain }: { domain: { authentication_refusals: readonly Refusal[] } }) {
  const { t } = useTranslation()
  if (domain.authentication_refusals.length === 0) return null
  return (
    <Card title={t('authentication.title')}>
      <Text fz="sm" c="dimmed" mb="sm">
        {t('authentication.lead')}
      </Text>
      {domain.authentication_refusals.map(refusal => (
        <RefusalRow key={refusal.site} refusal={refusal} />
      ))}
    </Card>
  )
}

function RefusalRow({ refusal }: { refusal: Refusal }) {
  const { t } = useTranslation()
  const { site, reply, advice, advice_code, advice_params, last_24_hours: day, last_7_days: week, last_at } = refusal
  return (
    <section className="pw-record" aria-label={site}>
      <Text fw={600} fz="sm">
        {site}
      </Text>
      <Text fz="sm" c="dimmed" component="div">
        {t('authentication.counts', { day, week })} · {t('authentication.last')} <Time at={last_at} />
      </Text>
      <Text fz="sm" className="pw-mono" lang="en">
        {reply}
      </Text>
      <div className="pw-advice" data-tone="bad">
        <ServiceSentence text={advice} code={advice_code} params={advice_params} />
      </div>
    </section>
  )
}
