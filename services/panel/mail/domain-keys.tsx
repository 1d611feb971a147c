/** The DKIM keys of a domain and where each stands in its life. */
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Status, type Tone } from '../ui/status.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'

type Key = Output<'getDomainOperation'>['dkim'][number]

const TONES: Record<Key['state'], Tone> = { pending: 'info', active: 'ok', retiring: 'warn', revoked: 'quiet' }

/** The keys. */
export function DomainKeys({ keys }: { keys: readonly Key[] }) {
  const { t } = useTranslation()
  const columns: Column<Key>[] = [
    { label: t('domains.selector'), cell: key => <span className="pw-mono">{key.selector}</span> },
    { label: t('domains.algorithm'), cell: key => (key.algorithm === 'rsa-sha256' ? 'RSA' : 'Ed25519') },
    {
      label: t('messages.state'),
      cell: key => <Status tone={TONES[key.state]}>{t(`domains.keyState.${key.state}`)}</Status>,
    },
    { label: t('ui.created'), cell: key => <Time at={key.created_at} /> },
    {
      label: t('domains.publicKey'),
      end: true,
      cell: key => <CopyButton value={key.public_key} what={t('domains.publicKey')} />,
    },
  ]
  return <DataTable name={t('domains.keys')} columns={columns} rows={keys} rowKey={key => key.selector} />
}
