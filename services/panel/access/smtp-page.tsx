/** SMTP logins: make, copy the password, limit, disable, remove. */
import { Button, Group } from '@mantine/core'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { Dialog } from '../ui/form.tsx'
import { useFormat } from '../ui/format.ts'
import { ManagedBy } from '../ui/managed-by.tsx'
import { Card, Page } from '../ui/page.tsx'
import { nextOf, Pager } from '../ui/pager.tsx'
import { SecretOnce } from '../ui/secret.tsx'
import { Empty, Loaded } from '../ui/states.tsx'
import { Status } from '../ui/status.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { SmtpConnection } from './smtp-connection.tsx'
import { SmtpForm } from './smtp-form.tsx'
import { SmtpMenu } from './smtp-menu.tsx'
import type { Credential, Show } from './types.ts'

const route = getRouteApi('/shell/smtp')

/** The page. */
export function SmtpPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [creating, setCreating] = useState(false)
  const [secret, setSecret] = useState<[string, string][]>()
  const query = useRead('listCredentialsOperation', { query: search })
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      {t('access.newLogin')}
    </Button>
  )
  return (
    <Page title={t('access.smtpTitle')} lead={t('access.smtpLead')} actions={create}>
      <Card flush>
        <Loaded query={query}>
          {page =>
            page.data.length === 0 ? (
              <Empty icon={<IconPlugConnected size={26} />} title={t('access.noLogins')} action={create}>
                {t('access.noLoginsHint')}
              </Empty>
            ) : (
              <Logins logins={page.data} show={setSecret} />
            )
          }
        </Loaded>
      </Card>
      <Pager
        after={search.after}
        next={query.data ? nextOf(query.data) : undefined}
        go={after => void navigate({ search: after ? { after } : {} })}
      />
      {query.data?.data[0] ? <SmtpConnection connection={query.data.data[0].connection} /> : null}
      <Dialog opened={creating} close={() => setCreating(false)} title={t('access.newLogin')}>
        {() => <SmtpForm close={() => setCreating(false)} show={setSecret} />}
      </Dialog>
      <SecretOnce title={t('access.loginMade')} entries={secret} close={() => setSecret(undefined)} />
    </Page>
  )
}

function Logins({ logins, show }: { logins: readonly Credential[]; show: Show }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const columns: Column<Credential>[] = [
    {
      label: t('access.login'),
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
        <Status tone={login.disabled ? 'quiet' : 'ok'}>
          {t(login.disabled ? 'access.disabled' : 'access.enabled')}
        </Status>
      ),
    },
    {
      label: t('access.senders'),
      cell: login => (login.allowed_senders.length === 0 ? t('access.allDomains') : login.allowed_senders.join(', ')),
    },
    {
      label: t('access.perHour'),
      end: true,
      cell: login => (login.messages_per_hour === 0 ? t('access.unlimited') : number(login.messages_per_hour)),
    },
    { label: t('ui.lastUsed'), cell: login => <Time at={login.last_used_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: login => <SmtpMenu login={login} show={show} /> },
  ]
  return <DataTable name={t('access.smtpTitle')} columns={columns} rows={logins} rowKey={login => login.id} />
}
