/** DNS accounts. Credentials are tested when they are saved, and are write-only. */
import { Menu } from '@mantine/core'
import { IconCloudCog } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { ManagedBy } from '../kubernetes/managed-by.tsx'
import { notifyError, notifyFailure, notifySuccess } from '../ui/feedback/notifications.ts'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { ListPage } from '../ui/layout/list-page.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { ServiceSentence, sentenceText } from '../ui/values/service-sentence.tsx'
import { Time } from '../ui/values/time.tsx'
import { DnsAccountForm } from './dns-account-form.tsx'

type Account = Output<'listDnsAccountsOperation'>['data'][number]

export function DnsAccountsPage() {
  const { t } = useTranslation()
  return (
    <ListPage
      title={t('dns.accountsTitle')}
      lead={t('dns.accountsLead')}
      query={useRead('listDnsAccountsOperation', {})}
      empty={{ icon: <IconCloudCog size={26} />, title: t('dns.noAccounts'), hint: t('dns.noAccountHint') }}
      add={{ label: t('dns.addAccount'), needs: 'admin', form: close => <DnsAccountForm close={close} /> }}
    >
      {accounts => <Accounts accounts={accounts} />}
    </ListPage>
  )
}

function Accounts({ accounts }: { accounts: readonly Account[] }) {
  const { t } = useTranslation()
  const columns: Column<Account>[] = [
    {
      label: t('access.name'),
      text: true,
      cell: account => (
        <>
          {account.name} <ManagedBy resource={account.managed_by} />
        </>
      ),
    },
    { label: t('dns.provider'), under: t('access.name'), cell: account => t(`dns.providers.${account.provider}`) },
    {
      label: t('messages.state'),
      cell: account => (
        <>
          <StatusBadge tone={account.tested.ok ? 'ok' : 'bad'}>
            {t(account.tested.ok ? 'dns.works' : 'dns.broken')}
          </StatusBadge>
          {account.tested.message ? (
            <div className="pw-sub">
              <ServiceSentence
                text={account.tested.message}
                code={account.tested.message_code}
                params={account.tested.message_params}
              />
            </div>
          ) : null}
        </>
      ),
    },
    { label: t('dns.zones'), text: true, cell: account => account.tested.zones.join(', ') || '–' },
    { label: t('dns.tested'), cell: account => <Time at={account.tested.at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: account => <AccountMenu account={account} /> },
  ]
  return <DataTable name={t('dns.accountsTitle')} columns={columns} rows={accounts} rowKey={account => account.id} />
}

function AccountMenu({ account }: { account: Account }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const [replacing, setReplacing] = useState(false)
  const test = useWrite('testDnsAccountOperation', ['listDnsAccountsOperation'])
  const remove = useWrite('deleteDnsAccountOperation', ['listDnsAccountsOperation', 'getDomainOperation'])
  const params = { id: account.id }
  const tryIt = () =>
    test.mutate(
      { params },
      {
        onSuccess: ({ tested }) =>
          tested.ok
            ? notifySuccess(t('dns.testOk', { name: account.name }))
            : notifyFailure(
                t('dns.testBad', {
                  name: account.name,
                  reason: sentenceText({
                    text: tested.message ?? '',
                    code: tested.message_code,
                    params: tested.message_params,
                  }),
                }),
              ),
        onError: error => notifyError(error, t),
      },
    )
  return (
    <>
      <RowMenu name={account.name} needs="admin">
        <Menu.Item onClick={tryIt}>{t('dns.test')}</Menu.Item>
        {account.managed_by ? null : (
          <>
            <Menu.Item onClick={() => setReplacing(true)}>{t('dns.replaceCredentials')}</Menu.Item>
            <Menu.Item color="stamp" onClick={() => setAsking(true)}>
              {t('ui.delete')}
            </Menu.Item>
          </>
        )}
      </RowMenu>
      <Dialog
        opened={replacing}
        close={() => setReplacing(false)}
        title={t('dns.replaceTitle', { name: account.name })}
      >
        {() => <DnsAccountForm account={account} close={() => setReplacing(false)} />}
      </Dialog>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('dns.deleteTitle', { name: account.name })}
        phrase={account.name}
        action={t('ui.delete')}
        run={() => remove.mutateAsync({ params })}
      >
        {t('dns.deleteText')}
      </ConfirmDialog>
    </>
  )
}
