/** What became of a recipient, why, on whose side the reason is, and what to do next. */
import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { DescriptionList } from '../../ui/values/description-list.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'

type Explanation = Output<'explainEmail'>['recipients'][number]
type DnsRecord = Extract<Explanation['evidence'][number], { type: 'dns_record' }>

/** Nothing where nothing went wrong: the status says it all. */
export function RecipientExplanation({ explanation }: { explanation: Explanation | undefined }) {
  const { t } = useTranslation()
  if (!explanation || explanation.responsible === 'none') return null
  const { what, what_code, what_params, why, why_code, why_params, next, next_code, next_params } = explanation
  const records = explanation.evidence.filter(item => item.type === 'dns_record')
  const reason = why === null ? null : <ServiceSentence text={why} code={why_code} params={why_params ?? {}} />
  const remedy = <ServiceSentence text={next} code={next_code} params={next_params} />
  const checked = records.length === 0 ? null : <DnsRecords records={records} />
  return (
    <section className="pw-explanation" aria-label={t('messages.explain.next')}>
      <Stack gap="xs">
        <Text fz="sm" fw={600} component="div">
          <ServiceSentence text={what} code={what_code} params={what_params} />{' '}
          <StatusBadge tone="quiet">{t(`messages.explain.responsible.${explanation.responsible}`)}</StatusBadge>
        </Text>
        <DescriptionList
          entries={[
            [t('messages.explain.why'), reason],
            [t('messages.explain.next'), remedy],
            [t('messages.explain.records'), checked],
          ]}
        />
      </Stack>
    </section>
  )
}

function DnsRecords({ records }: { records: readonly DnsRecord[] }) {
  const { t } = useTranslation()
  return (
    <>
      {records.map(({ record, status }) => (
        <Text key={record} fz="sm" component="div">
          <span className="pw-mono">{record}</span>{' '}
          <StatusBadge tone={status === 'verified' ? 'ok' : 'warn'}>{t(`dns.status.${status}`)}</StatusBadge>
        </Text>
      ))}
    </>
  )
}
