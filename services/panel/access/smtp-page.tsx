/** SMTP logins: create, copy the password, restrict, disable, delete. */
import { Group } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { ManagedBy } from '../kubernetes/managed-by.tsx'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'
import { type ShowSecrets, useSecretOnce } from '../ui/forms/secret-once.tsx'
import { OLDEST_FIRST, type TableOrder, tableOrder } from '../ui/layout/list-order.ts'
import { ListPage } from '../ui/layout/list-page.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { useFormat } from '../ui/values/number-format.ts'
import { Time } from '../ui/values/time.tsx'
import type { Credential } from './access-types.ts'
import { SmtpConnection } from './smtp-connection.tsx'
import { SmtpForm } from './smtp-form.tsx'
import { SmtpMenu } from './smtp-menu.tsx'

const route = getRouteApi('/shell/smtp')

export function SmtpPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [secret, show] = useSecretOnce(t('access.loginMade'))
  const query = useRead('listCredentialsOperation', { query: search })
  const [first] = query.data?.data ?? []
  return (
    <ListPage
      title={t('access.smtpTitle')}
      lead={t('access.smtpLead')}
      query={query}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconPlugConnected size={26} />, title: t('access.noLogins'), hint: t('access.noLoginsHint') }}
      add={{ label: t('access.newLogin'), needs: 'developer', form: close => <SmtpForm close={close} show={show} /> }}
      below={
        <>
          {first ? <SmtpConnection connection={first.connection} /> : null}
          {secret}
        </>
      }
    >
      {logins => (
        <Logins
          logins={logins}
          order={tableOrder(OLDEST_FIRST, search, next => void navigate({ search: next }))}
          show={show}
        />
      )}
    </ListPage>
  )
}

function Logins({ logins, show, order }: { logins: readonly Credential[]; show: ShowSecrets; order: TableOrder }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Credential>[] = [
    {
      label: t('access.login'),
      text: true,
      cell: login => (
        <Group gap="xs" display="inline-flex">
          <span className="pw-mono">{login.username}</span>
          <ManagedBy resource={login.managed_by} />
        </Group>
      ),
    },
    {
      label: t('messages.state'),
      cell: login => (
        <StatusBadge tone={login.disabled ? 'quiet' : 'ok'}>
          {t(login.disabled ? 'access.disabled' : 'access.enabled')}
        </StatusBadge>
      ),
    },
    {
      label: t('access.senders'),
      under: t('access.login'),
      text: true,
      cell: login => (login.allowed_senders.length === 0 ? t('access.allDomains') : login.allowed_senders.join(', ')),
    },
    {
      label: t('access.perHour'),
      under: t('access.login'),
      end: true,
      cell: login => (login.messages_per_hour === 0 ? t('access.unlimited') : number(login.messages_per_hour)),
    },
    { label: t('ui.created'), by: 'created_at', cell: login => <Time at={login.created_at} /> },
    { label: t('ui.lastUsed'), cell: login => <Time at={login.last_used_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: login => <SmtpMenu login={login} show={show} /> },
  ]
  return (
    <DataTable order={order} name={t('access.smtpTitle')} columns={columns} rows={logins} rowKey={login => login.id} />
  )
}
