/** Sending IP addresses: reverse DNS, blocklist entries, and advice. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { IconNetwork, IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { readOptions, useRead } from '../api/hooks.ts'
import { Empty, Loaded } from '../ui/feedback/content-states.tsx'
import { notifyError } from '../ui/feedback/notifications.ts'
import { Note, StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { CopyButton } from '../ui/values/copy-button.tsx'
import { ServiceSentence } from '../ui/values/service-sentence.tsx'
import { Time } from '../ui/values/time.tsx'

type Answer = Output<'getSendingAddresses'>
type Address = Answer['data'][number]

const ADDRESS_TONES: Record<Address['status'], Tone> = { ok: 'ok', warning: 'warn', failing: 'bad' }
const PTR_TONES: Record<Address['ptr']['status'], Tone> = {
  ok: 'ok',
  missing: 'bad',
  other_name: 'warn',
  not_confirmed: 'warn',
  unknown: 'quiet',
}
const BLOCKLIST_TONES: Record<Address['blocklists'][number]['status'], Tone> = {
  clear: 'ok',
  listed: 'bad',
  refused: 'quiet',
  unknown: 'quiet',
}

/** Uses the last DNS check of the service; a new one runs on request. */
export function SendingAddressesPage() {
  const { t } = useTranslation()
  const query = useRead('getSendingAddresses', {})
  return (
    <Page title={t('operator.addressesTitle')} lead={t('operator.addressesLead')} actions={<CheckAgainButton />}>
      <Loaded query={query}>
        {answer => (
          <Stack gap="md">
            <Text fz="sm" c="dimmed" component="div">
              {t('operator.looked')} <Time at={answer.checked_at} />
            </Text>
            {answer.data.length === 0 ? (
              <Card flush>
                <Empty icon={<IconNetwork size={26} />} title={t('operator.noAddresses')}>
                  {t('operator.noAddressesHint')}
                </Empty>
              </Card>
            ) : (
              answer.data.map(address => (
                <AddressCard key={address.address} address={address} hostname={answer.hostname} />
              ))
            )}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function CheckAgainButton() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const check = async () => {
    setBusy(true)
    try {
      queries.setQueryData(
        readOptions('getSendingAddresses', {}).queryKey,
        await call('getSendingAddresses', { query: { fresh: 'true' } }),
      )
    } catch (error) {
      notifyError(error, t)
    }
    setBusy(false)
  }
  return (
    <Button variant="default" leftSection={<IconRefresh size={16} />} loading={busy} onClick={() => void check()}>
      {t('operator.lookAgain')}
    </Button>
  )
}

function AddressCard({
  address: { address, status, ptr, blocklists },
  hostname,
}: {
  address: Address
  hostname: string
}) {
  const { t } = useTranslation()
  return (
    <Card
      title={address}
      aside={<StatusBadge tone={ADDRESS_TONES[status]}>{t(`operator.checkStatus.${status}`)}</StatusBadge>}
      flush
    >
      <section className="pw-record" aria-label={`${t('operator.reverseName')} ${address}`}>
        <Group justify="space-between" gap="xs">
          <Text fw={600} fz="sm">
            {t('operator.reverseName')}
          </Text>
          <StatusBadge tone={PTR_TONES[ptr.status]}>{t(`operator.ptr.${ptr.status}`)}</StatusBadge>
        </Group>
        <div className="pw-mono">{ptr.names.join(', ') || '–'}</div>
        {ptr.status === 'ok' ? null : (
          <div className="pw-advice" data-tone="info">
            {t(`operator.ptrAdvice.${ptr.status}`, { address, hostname })}
          </div>
        )}
      </section>
      {blocklists.map(list => (
        <Blocklist key={list.zone} list={list} address={address} />
      ))}
    </Card>
  )
}

function Blocklist({ list, address }: { list: Address['blocklists'][number]; address: string }) {
  const { t } = useTranslation()
  return (
    <section className="pw-record" aria-label={`${list.zone} ${address}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600} fz="sm">
          {list.zone}
        </Text>
        <StatusBadge tone={BLOCKLIST_TONES[list.status]}>{t(`operator.list.${list.status}`)}</StatusBadge>
      </Group>
      {list.status === 'clear' ? null : (
        <Stack gap={4}>
          <BlocklistAnswer list={list} />
          {list.status === 'listed' ? (
            <Note tone="bad">{t('operator.listAdvice.listed', { zone: list.zone })}</Note>
          ) : (
            <div className="pw-advice" data-tone="info">
              {t(`operator.listAdvice.${list.status}`)}
            </div>
          )}
        </Stack>
      )}
    </section>
  )
}

/** The codes of the list, and its text or why it did not answer. */
function BlocklistAnswer({ list }: { list: Address['blocklists'][number] }) {
  const { reason, codes } = list
  if (!reason && codes.length === 0) return null
  return (
    <Group gap={4}>
      <span className="pw-mono">
        {codes.join(', ')}
        {reason && codes.length > 0 ? ' · ' : null}
        {reason ? <ServiceSentence text={reason} code={list.reason_code} params={list.reason_params} /> : null}
      </span>
      {reason ? <CopyButton value={reason} what={list.zone} /> : null}
    </Group>
  )
}
