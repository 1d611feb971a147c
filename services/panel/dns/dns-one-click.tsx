/** Publishing the records at the DNS provider: select the account, preview the DNS plan, apply it. */

import { Button, Group, Select, Stack, Switch, Text } from '@mantine/core'
import { IconExternalLink, IconWand } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { Loaded, LoadingRows } from '../ui/feedback/content-states.tsx'
import { notifyError } from '../ui/feedback/notifications.ts'
import { Dialog } from '../ui/forms/dialog.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { Card } from '../ui/layout/page.tsx'
import { DnsAccountForm } from './dns-account-form.tsx'
import { DnsPlanDialog } from './dns-plan-dialog.tsx'

type Domain = Output<'getDomainOperation'>

export function DnsOneClick({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const accounts = useRead('listDnsAccountsOperation', {})
  const [adding, setAdding] = useState(false)
  const patch = useWrite('patchDomainOperation', ['getDomainOperation'])
  // An account made here is for this domain; one that is in use stays: records may be in its zone.
  const choose = (dns_account_id: string) => {
    if (domain.dns_account_id !== null) return
    patch.mutate({ params: { id: domain.id }, body: { dns_account_id } }, { onError: error => notifyError(error, t) })
  }
  return (
    <Card
      title={t('dns.oneClick')}
      aside={
        <NeedsRole needs="admin">
          <Button variant="default" size="xs" onClick={() => setAdding(true)}>
            {t('dns.addAccount')}
          </Button>
        </NeedsRole>
      }
    >
      <Loaded query={accounts} loading={<LoadingRows rows={2} />}>
        {({ data }) => {
          // Accounts managed by Kubernetes are for MailDomain resources of their namespace only.
          const usable = data.filter(({ managed_by }) => managed_by === null)
          return usable.length === 0 ? (
            <NoAccount domain={domain} />
          ) : (
            <PublishRecords domain={domain} accounts={usable} />
          )
        }}
      </Loaded>
      <Dialog opened={adding} close={() => setAdding(false)} title={t('dns.addAccount')}>
        {() => (
          <DnsAccountForm suggested={domain.check?.dns_host?.provider} close={() => setAdding(false)} saved={choose} />
        )}
      </Dialog>
    </Card>
  )
}

/** What an account would do, and where the records are edited by hand. */
function NoAccount({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  return (
    <Stack gap={6}>
      <Text fz="sm" c="dimmed" maw={640}>
        {t('dns.noAccountHint')}
      </Text>
      <DnsConsole domain={domain} />
    </Stack>
  )
}

/** The DNS host that the name servers show, with a link to its console. */
function DnsConsole({ domain: { check } }: { domain: Domain }) {
  const { t } = useTranslation()
  if (!check?.dns_host) return null
  const { name, console_url } = check.dns_host
  return (
    <Text fz="sm">
      {t('dns.hostedAt', { name })}{' '}
      <a href={console_url} target="_blank" rel="noreferrer" className="pw-link">
        {t('dns.openConsole', { name })} <IconExternalLink size={14} className="pw-inline-icon" aria-hidden />
      </a>
    </Text>
  )
}

interface PublishProps {
  domain: Domain
  accounts: Output<'listDnsAccountsOperation'>['data']
}

function PublishRecords({ domain, accounts }: PublishProps) {
  const { t } = useTranslation()
  const [planning, setPlanning] = useState(false)
  // The only account is chosen until the user clears it.
  const [cleared, setCleared] = useState(false)
  const only = accounts.length === 1 && !cleared ? (accounts[0]?.id ?? null) : null
  const chosen = domain.dns_account_id ?? only
  const patch = useWrite('patchDomainOperation', ['getDomainOperation'])
  const fail = { onError: (error: Error) => notifyError(error, t) }
  const params = { id: domain.id }
  const account = chosen === domain.dns_account_id ? {} : { dns_account_id: chosen }
  const preview = () => {
    if (chosen === domain.dns_account_id) setPlanning(true)
    else patch.mutate({ params, body: account }, { ...fail, onSuccess: () => setPlanning(true) })
  }
  return (
    <Stack gap="md">
      <DnsConsole domain={domain} />
      <NeedsRole needs="admin">
        <Group align="flex-end">
          <Select
            label={t('dns.account')}
            placeholder={t('dns.chooseAccount')}
            data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            value={chosen}
            clearable
            allowDeselect={false}
            onChange={dns_account_id => {
              setCleared(dns_account_id === null)
              if (dns_account_id !== domain.dns_account_id) patch.mutate({ params, body: { dns_account_id } }, fail)
            }}
            disabled={patch.isPending}
            w={280}
          />
          <Button leftSection={<IconWand size={16} />} disabled={!chosen} loading={patch.isPending} onClick={preview}>
            {t('dns.preview')}
          </Button>
        </Group>
        <Switch
          label={t('dns.manage')}
          description={t('dns.manageHint')}
          checked={domain.dns.manage}
          disabled={!chosen || patch.isPending}
          onChange={event =>
            patch.mutate({ params, body: { ...account, dns: { manage: event.currentTarget.checked } } }, fail)
          }
        />
      </NeedsRole>
      <Dialog
        opened={planning}
        close={() => setPlanning(false)}
        title={t('dns.planTitle', { name: domain.name })}
        size="xl"
      >
        {() => <DnsPlanDialog domainId={domain.id} close={() => setPlanning(false)} />}
      </Dialog>
    </Stack>
  )
}
