/** Menu of the accounts in which the user works; only with more than one. */
import { Button, Menu } from '@mantine/core'
import { IconBuilding, IconCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { useSession } from '../session/session.ts'
import { useAdoptSession } from '../session/working-account.ts'
import { notifyError } from '../ui/feedback/notifications.ts'
import { leavePage } from './leave-guard.tsx'

export function AccountSwitcher() {
  const { t } = useTranslation()
  const { account, accounts } = useSession()
  const adopt = useAdoptSession()
  const change = useWrite('switchAccountOperation')
  if (accounts.length < 2) return null
  const choose = (id: string) => {
    if (id === account.id) return
    change.mutate({ body: { account_id: id } }, { onSuccess: adopt, onError: error => notifyError(error, t) })
  }
  return (
    <Menu position="bottom-end" shadow="md" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          px="xs"
          loading={change.isPending}
          title={account.name}
          aria-label={t('members.currentAccount', { name: account.name })}
        >
          <IconBuilding size={17} stroke={1.7} className="pw-account-icon" />
          <span className="pw-account-name">{account.name}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
        <Menu.Label>{t('members.accounts')}</Menu.Label>
        {accounts.map(one => (
          <Menu.Item
            key={one.id}
            disabled={one.suspended}
            leftSection={one.id === account.id ? <IconCheck size={16} /> : <span className="pw-menu-gap" />}
            onClick={() => leavePage(() => choose(one.id))}
          >
            {t(one.suspended ? 'members.accountSuspended' : 'members.accountWithRole', {
              name: one.name,
              role: t(`members.roles.${one.role}`),
            })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
