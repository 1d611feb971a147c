/** Publishing the records at the DNS provider: select the account, preview the DNS plan, apply it. */

import { Button, Group, Select, Stack, Switch, Text } from '@mantine/core'
import { IconWand } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { Loaded, LoadingRows } from '../ui/feedback/content-states.tsx'
import { notifyError } from '../ui/feedback/notifications.ts'
import { Dialog } from '../ui/forms/dialog.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { Card } from '../ui/layout/page.tsx'
import { DnsPlanDialog } from './dns-plan-dialog.tsx'

type Domain = Output<'getDomainOperation'>

export function DnsOneClick({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const accounts = useRead('listDnsAccountsOperation', {})
  return (
    <Card title={t('dns.oneClick')}>
      <Loaded query={accounts} loading={<LoadingRows rows={2} />}>
        {({ data }) => {
          // Accounts managed by Kubernetes are for MailDomain resources of their namespace only.
          const usable = data.filter(({ managed_by }) => managed_by === null)
          return usable.length === 0 ? <NoAccount /> : <PublishRecords domain={domain} accounts={usable} />
        }}
      </Loaded>
    </Card>
  )
}

function NoAccount() {
  const { t } = useTranslation()
  return (
    <Group justify="space-between">
      <Text fz="sm" c="dimmed" maw={560}>
        {t('dns.noAccountHint')}
      </Text>
      <Button variant="default" renderRoot={props => <Link {...props} to="/dns-accounts" />}>
        {t('dns.addAccount')}
      </Button>
    </Group>
  )
}

function PublishRecords({
  domain,
  accounts,
}: {
  domain: Domain
  accounts: Output<'listDnsAccountsOperation'>['data']
}) {
  const { t } = useTranslation()
  const [planning, setPlanning] = useState(false)
  const patch = useWrite('patchDomainOperation', ['getDomainOperation'])
  const fail = { onError: (error: Error) => notifyError(error, t) }
  const params = { id: domain.id }
  return (
    <Stack gap="md">
      <NeedsRole needs="admin">
        <Group align="flex-end">
          <Select
            label={t('dns.account')}
            placeholder={t('dns.chooseAccount')}
            data={accounts.map(account => ({ value: account.id, label: account.name }))}
            value={domain.dns_account_id}
            clearable
            onChange={dns_account_id => patch.mutate({ params, body: { dns_account_id } }, fail)}
            disabled={patch.isPending}
            w={280}
          />
          <Button
            leftSection={<IconWand size={16} />}
            disabled={!domain.dns_account_id}
            onClick={() => setPlanning(true)}
          >
            {t('dns.preview')}
          </Button>
        </Group>
        <Switch
          label={t('dns.manage')}
          description={t('dns.manageHint')}
          checked={domain.dns.manage}
          disabled={!domain.dns_account_id || patch.isPending}
          onChange={event => patch.mutate({ params, body: { dns: { manage: event.currentTarget.checked } } }, fail)}
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
