/** DNS records of a domain: expected and observed values, with copy buttons. */
import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { Card } from '../ui/layout/page.tsx'
import { CopyButton } from '../ui/values/copy-button.tsx'
import { type ApiSentence, ServiceSentence, sentencesOf } from '../ui/values/service-sentence.tsx'
import { Time } from '../ui/values/time.tsx'

type Domain = Output<'getDomainOperation'>
type DnsRecord = Domain['records'][number]

const TONES: Record<DnsRecord['status'], Tone> = {
  not_started: 'quiet',
  pending: 'warn',
  verified: 'ok',
  failed: 'bad',
  temporary_failure: 'warn',
  conflict: 'bad',
}

/**
 * In the order of the service, required records first; optional ones are folded. `unfold`: something on the page refers to
 * one of them.
 */
export function DnsRecords({ domain, unfold = false }: { domain: Domain; unfold?: boolean }) {
  const { t } = useTranslation()
  const optional = domain.records.filter(({ need }) => need === 'optional')
  const [chosen, choose] = useState<boolean>()
  const isNew = domain.status === 'pending' && domain.check === null
  return (
    <Card
      title={t('dns.records')}
      flush
      aside={
        <Button
          variant="default"
          size="xs"
          component="a"
          href={`/api/v1/domains/${encodeURIComponent(domain.id)}/zonefile`}
          download={`${domain.name}.zone`}
          leftSection={<IconDownload size={15} />}
        >
          {t('dns.zoneFile')}
        </Button>
      }
    >
      {domain.verified_by === 'sandbox' ? (
        <Text fz="sm" className="pw-record">
          {t('dns.sandboxNeedsNone')}
        </Text>
      ) : (
        <RequiredRecords records={domain.records} />
      )}
      {domain.records.map(record =>
        record.need === 'optional' ? null : <RecordRow key={record.id} record={record} isNew={isNew} />,
      )}
      {optional.length > 0 ? (
        <details
          className="pw-details pw-record"
          open={chosen ?? unfold}
          onToggle={event => {
            const { open } = event.currentTarget
            if (open !== (chosen ?? unfold)) choose(open)
          }}
        >
          <summary>{t('dns.optionalRecords', { count: optional.length })}</summary>
          {optional.map(record => (
            <RecordRow key={record.id} record={record} isNew={isNew} />
          ))}
        </details>
      ) : null}
    </Card>
  )
}

/** How many of the required records the last check found. */
function RequiredRecords({ records }: { records: readonly DnsRecord[] }) {
  const { t } = useTranslation()
  const required = records.filter(({ need }) => need === 'required')
  const found = required.filter(({ status }) => status === 'verified').length
  const text = t('domains.requiredFound', { found, count: required.length })
  return (
    <div className="pw-record">
      <Text fz="sm" mb={6}>
        {text}
      </Text>
      <Progress.Root size="sm" maw={360}>
        <Progress.Section value={(100 * found) / Math.max(1, required.length)} color="ink" aria-label={text} />
      </Progress.Root>
    </div>
  )
}

/** `isNew`: the domain waits for its first check. */
function RecordRow({ record, isNew }: { record: DnsRecord; isNew: boolean }) {
  const { t } = useTranslation()
  const text = textInPlaceOfValue(record, isNew, t)
  return (
    <section
      id={`record-${record.id}`}
      className="pw-record"
      aria-label={`${t(`dns.purpose.${record.purpose}`)} ${record.name}`}
    >
      <Group justify="space-between" gap="xs" mb={8}>
        <Group gap="xs">
          <Text fw={600} fz="sm">
            {t(`dns.purpose.${record.purpose}`)}
          </Text>
          <span className="pw-more">{record.type}</span>
          <Text fz="xs" c="dimmed">
            {t(`dns.need.${record.need}`)}
          </Text>
        </Group>
        <StatusBadge tone={TONES[record.status]}>{statusText(record, t)}</StatusBadge>
      </Group>
      <div className="pw-record-cells">
        <Cell label={t('dns.host')} value={record.zone_host} hint={record.name} />
        {text === undefined ? (
          <Cell label={t('dns.expected')} value={record.publish} />
        ) : (
          <TextCell label={t('dns.expected')} text={text} />
        )}
        <Observed record={record} />
      </div>
      <Advice record={record} />
    </section>
  )
}

function statusText(record: DnsRecord, t: TFunction): string {
  if (isInherited(record)) return t('dns.inherited')
  return record.status === 'not_started' && record.checked_at ? t('dns.notPublished') : recordStatusText(record, t)
}

/** Tells a record that DNS does not have from one with another value; both are `failed`, and `pending` in new domains. */
export function recordStatusText(
  { status, observed, errors }: Pick<DnsRecord, 'status' | 'observed' | 'errors'>,
  t: TFunction,
): string {
  const isMissing = (status === 'failed' || status === 'pending') && observed.length === 0 && errors.length > 0
  return t(isMissing ? 'dns.missing' : `dns.status.${status}`)
}

/** True where the DMARC record of a domain above applies, so that the domain needs none of its own. */
function isInherited({ purpose, status, observed, warnings_codes: codes }: DnsRecord): boolean {
  const applies = codes.some(({ code }) => code === 'dns.dmarc_inherited')
  return purpose === 'dmarc' && status === 'verified' && observed.length === 0 && applies
}

/** What DNS has decides about the values of SPF and DMARC; undefined where the value can be published. */
function textInPlaceOfValue(record: DnsRecord, isNew: boolean, t: TFunction): string | undefined {
  if (isInherited(record)) return t('dns.inheritedNoneNeeded')
  return isNew && (record.purpose === 'spf' || record.purpose === 'dmarc') ? t('dns.checking') : undefined
}

/** In place of a value that is not to be copied. */
function TextCell({ label, text }: { label: string; text: string }) {
  return (
    <div className="pw-record-cell">
      <div className="pw-sub">{label}</div>
      <Text fz="sm" c="dimmed">
        {text}
      </Text>
    </div>
  )
}

/** `hint`: the complete name, where the value is relative to the zone. */
function Cell({ label, value, hint }: { label: string; value: string; hint?: string }) {
  return (
    <div className="pw-record-cell">
      <div className="pw-sub">{label}</div>
      <Group gap={2} wrap="nowrap" align="flex-start">
        <span className="pw-mono">{value}</span>
        <CopyButton value={value} what={label} />
      </Group>
      {hint && hint !== value ? (
        <Group gap={2} wrap="nowrap" align="center">
          <span className="pw-mono pw-sub">{hint}</span>
          <CopyButton value={hint} what={hint} />
        </Group>
      ) : null}
    </div>
  )
}

function Observed({ record }: { record: DnsRecord }) {
  const { t } = useTranslation()
  return (
    <div className="pw-record-cell">
      <div className="pw-sub">
        {t('dns.observed')}
        {record.checked_at ? (
          <>
            {' · '}
            <Time at={record.checked_at} />
          </>
        ) : null}
      </div>
      {record.observed.length === 0 ? (
        <Text fz="sm" c="dimmed">
          {t(isInherited(record) ? 'dns.inheritedFound' : record.checked_at ? 'dns.nothingFound' : 'dns.notLooked')}
        </Text>
      ) : (
        record.observed.map(value => (
          <div key={value} className="pw-mono">
            {value}
          </div>
        ))
      )}
    </div>
  )
}

/** Instructions that repeat name and value, which are shown above them with their copy buttons. */
const SHORTENED: Readonly<Record<string, 'addThis' | 'replaceBy'>> = {
  'dns.add_record': 'addThis',
  'dns.spf_change_to': 'replaceBy',
}

function instructionsOf(record: DnsRecord, t: TFunction): ApiSentence[] {
  return sentencesOf(record.instructions, record.instructions_codes).map(line => {
    const short = SHORTENED[line.code ?? '']
    return short ? { text: t(`dns.${short}`), translated: true } : line
  })
}

/** Errors, warnings and instructions of the service. */
function Advice({ record }: { record: DnsRecord }) {
  const { t } = useTranslation()
  const { note, note_code: code, note_params: params, purpose } = record
  const merged = record.publish !== record.value && (purpose === 'spf' || purpose === 'dmarc')
  const lines: (ApiSentence & { tone: string })[] = [
    ...sentencesOf(record.errors, record.errors_codes).map(line => ({ ...line, tone: 'bad' })),
    ...sentencesOf(record.warnings, record.warnings_codes).map(line => ({ ...line, tone: 'warn' })),
    ...instructionsOf(record, t).map(line => ({ ...line, tone: 'info' })),
    ...(merged && record.status !== 'verified'
      ? [{ text: t(`dns.merged.${purpose}`), translated: true, tone: 'info' }]
      : []),
    ...(note ? [{ text: note, code, params, tone: 'info' }] : []),
  ]
  if (lines.length === 0) return null
  return (
    <Stack gap={4} mt={8}>
      {lines.map(({ tone, ...line }) => (
        <div key={line.text} className="pw-advice" data-tone={tone}>
          <ServiceSentence {...line} />
        </div>
      ))}
    </Stack>
  )
}
