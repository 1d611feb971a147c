/** Menus at the right of the header: language, colour scheme, account. */
import { Button, Group, Menu } from '@mantine/core'
import { IconLogout, IconSettings, IconUserCircle } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useAccount, useSaveLanguage, useSignOut } from '../session/session.ts'
import { ColorSchemeButton, LanguageMenu } from '../ui/layout/appearance-controls.tsx'
import { AccountSwitcher } from './account-switcher.tsx'
import { leavePage } from './leave-guard.tsx'
import { PaletteButton } from './palette-button.tsx'

export function HeaderMenus() {
  const saveLanguage = useSaveLanguage()
  return (
    <Group gap={4} wrap="nowrap">
      <PaletteButton />
      <AccountSwitcher />
      <LanguageMenu onChange={language => void saveLanguage(language)} />
      <ColorSchemeButton />
      <AccountMenu />
    </Group>
  )
}

function AccountMenu() {
  const { t } = useTranslation()
  const account = useAccount()
  const navigate = useNavigate()
  const signOut = useSignOut()
  return (
    <Menu position="bottom-end" shadow="md" width={200}>
      <Menu.Target>
        <Button variant="subtle" color="gray" px="xs" title={account.username}>
          <IconUserCircle size={19} stroke={1.7} className="pw-account-icon" />
          <span className="pw-account-name">{account.username}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {/* On a phone the button shows no name. */}
        <Menu.Label className="pw-breaking">{account.username}</Menu.Label>
        <Menu.Item leftSection={<IconSettings size={16} />} onClick={() => void navigate({ to: '/settings' })}>
          {t('nav.settings')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => leavePage(() => void signOut())}>
          {t('nav.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
