/** DKIM keys of a domain with their lifecycle state, and manual activation and revocation. */

import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useWrite } from '../../api/hooks.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { CopyButton } from '../../ui/values/copy-button.tsx'
import { Time } from '../../ui/values/time.tsx'

type Domain = Output<'getDomainOperation'>
type Key = Domain['dkim'][number]

const TONES: Record<Key['state'], Tone> = { pending: 'info', active: 'ok', retiring: 'warn', revoked: 'quiet' }

export function DkimKeys({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const columns: Column<Key>[] = [
    { label: t('domains.selector'), cell: key => <span className="pw-mono">{key.selector}</span> },
    { label: t('domains.algorithm'), cell: key => (key.algorithm === 'rsa-sha256' ? 'RSA' : 'Ed25519') },
    { label: t('messages.state'), cell: key => <State of={key} /> },
    { label: t('ui.created'), cell: key => <Time at={key.created_at} /> },
    {
      label: t('domains.publicKey'),
      end: true,
      cell: key => <CopyButton value={key.public_key} what={t('domains.publicKey')} />,
    },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: key => (domain.managed_by ? null : <KeyActions domain={domain} of={key} />),
    },
  ]
  return <DataTable name={t('domains.keys')} columns={columns} rows={domain.dkim} rowKey={key => key.selector} />
}

function State({ of: key }: { of: Key }) {
  const { t } = useTranslation()
  if (key.state !== 'pending' || !key.seen_at)
    return <StatusBadge tone={TONES[key.state]}>{t(`domains.keyState.${key.state}`)}</StatusBadge>
  return (
    <>
      <StatusBadge tone="info">{t('domains.keySeen')}</StatusBadge>
      <span className="pw-sub">{t('domains.keySeenHint')}</span>
    </>
  )
}

/** A published key can be activated at once. The active RSA key cannot be revoked: mail would be unsigned. */
function KeyActions({ domain, of: key }: { domain: Domain; of: Key }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<'activate' | 'revoke'>()
  const activate = useWrite('activateDkimOperation', ['getDomainOperation'])
  const revoke = useWrite('revokeDkimOperation', ['getDomainOperation'])
  const params = { id: domain.id, selector: key.selector }
  const done = () => setAsking(undefined)
  const mayRevoke = key.state !== 'revoked' && !(key.state === 'active' && key.algorithm === 'rsa-sha256')
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <NeedsRole needs="admin">
        {key.state === 'pending' && key.seen_at ? (
          <Button variant="subtle" size="compact-sm" onClick={() => setAsking('activate')}>
            {t('domains.activate')}
          </Button>
        ) : null}
        {mayRevoke ? (
          <Button
            variant="subtle"
            color="stamp"
            size="compact-sm"
            aria-label={`${t('domains.revoke')}: ${key.selector}`}
            onClick={() => setAsking('revoke')}
          >
            {t('domains.revoke')}
          </Button>
        ) : null}
      </NeedsRole>
      <ConfirmDialog
        opened={asking === 'activate'}
        close={done}
        title={t('domains.activateTitle', { selector: key.selector })}
        action={t('domains.activate')}
        run={() => activate.mutateAsync({ params })}
      >
        {t('domains.activateText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'revoke'}
        close={done}
        title={t('domains.revokeTitle', { selector: key.selector })}
        phrase={key.selector}
        action={t('domains.revoke')}
        run={() => revoke.mutateAsync({ params })}
      >
        {t('domains.revokeText')}
      </ConfirmDialog>
    </Group>
  )
}
