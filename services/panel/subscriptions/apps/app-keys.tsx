/** Keys of an app: publishable ones for clients, secrets for back ends. A secret is shown once. */
import { Button, Menu } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { notifyError } from '../../ui/feedback/notifications.ts'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { useSecretOnce } from '../../ui/forms/secret-once.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Copyable } from '../../ui/values/copy-button.tsx'
import type { SubApp } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { type SubOutput, useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'

type Key = SubOutput<'listCredentialsOperation'>['credentials'][number]

const KINDS = ['publishable', 'secret', 'hmac'] as const

/** Keys of a managed app are stored in its Kubernetes Secret and read-only here. */
export function AppKeys({ app }: { app: SubApp }) {
  const { t } = useTranslation()
  const params = { id: app.id }
  const query = useSubRead('listCredentialsOperation', { params })
  const create = useSubWrite('createCredential')
  const [secret, show] = useSecretOnce(t('subs.keyMade'))
  const make = (kind: Key['kind']) =>
    create.mutate(
      { params, body: { kind } },
      {
        onSuccess: key =>
          key.secret
            ? show([[t(`subs.keyKind.${kind}`), key.secret]])
            : show([[t(`subs.keyKind.${kind}`), key.key]], { note: t('subs.publicKeyAgain') }),
        onError: error => notifyError(error, t),
      },
    )
  const add = app.managed_by ? null : (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button size="xs" leftSection={<IconPlus size={15} />} loading={create.isPending}>
          {t('subs.newKey')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {KINDS.map(kind => (
          <Menu.Item key={kind} onClick={() => make(kind)}>
            {t(`subs.keyKind.${kind}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
  return (
    <Card title={t('subs.keys')} aside={add} flush>
      <Loaded query={query}>
        {({ credentials }) =>
          credentials.length === 0 ? (
            <Empty icon={<IconKey size={26} />} title={t('subs.noKeys')} />
          ) : (
            <Keys keys={credentials} app={app} />
          )
        }
      </Loaded>
      {secret}
    </Card>
  )
}

function Keys({ keys, app }: { keys: readonly Key[]; app: SubApp }) {
  const { t } = useTranslation()
  const columns: Column<Key>[] = [
    { label: t('subs.type'), cell: key => t(`subs.keyKind.${key.kind}`) },
    {
      label: t('subs.key'),
      // The API returns the value of a secret only on creation, afterwards only its id.
      cell: key =>
        key.key ? <Copyable value={key.key} what={t('subs.key')} /> : <span className="pw-mono">{key.id} …</span>,
    },
    {
      label: t('messages.state'),
      cell: key => (
        <StatusBadge tone={key.status === '1' ? 'ok' : 'quiet'}>
          {t(key.status === '1' ? 'subs.keyLive' : 'subs.keyRevoked')}
        </StatusBadge>
      ),
    },
    { label: t('ui.created'), cell: key => <BusinessTime at={key.created_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: key => (key.status === '1' && !app.managed_by ? <Revoke of={key} app={app} /> : null),
    },
  ]
  return <DataTable name={t('subs.keys')} columns={columns} rows={keys} rowKey={key => key.id} />
}

function Revoke({ of: key, app }: { of: Key; app: SubApp }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const revoke = useSubWrite('revokeCredentialOperation')
  return (
    <>
      <Button
        variant="subtle"
        color="stamp"
        size="compact-sm"
        aria-label={`${t('access.revoke')}: ${key.key || key.id}`}
        onClick={() => setAsking(true)}
      >
        {t('access.revoke')}
      </Button>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('subs.revokeKeyTitle')}
        phrase={app.app_key}
        action={t('access.revoke')}
        run={() => revoke.mutateAsync({ params: { id: app.id, credential: key.id } })}
      >
        {t('subs.revokeKeyText')}
      </ConfirmDialog>
    </>
  )
}
