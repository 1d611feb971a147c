/** Language, light or dark, and the account, at the right of the header. */
import { ActionIcon, Button, Group, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import {
  IconCheck,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSettings,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { changeLanguage } from '../i18n/index.ts'
import { useAccount, useSaveLanguage, useSignOut } from '../session/session.ts'
import { LANGUAGES, type Language, usePreferences } from '../state/preferences.ts'

/** The three. */
export function HeaderMenus() {
  const keep = useSaveLanguage()
  return (
    <Group gap={4} wrap="nowrap">
      <LanguageMenu chosen={language => void keep(language)} />
      <SchemeButton />
      <AccountMenu />
    </Group>
  )
}

/** Chooses the language; also on the sign-in page. */
export function LanguageMenu({ chosen }: { chosen: (language: Language) => void }) {
  const { t } = useTranslation()
  const { language } = usePreferences()
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('ui.language')}>
          <IconLanguage size={19} stroke={1.7} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(LANGUAGES) as Language[]).map(tag => (
          <Menu.Item
            key={tag}
            lang={tag}
            leftSection={tag === language ? <IconCheck size={15} /> : <span className="pw-check-gap" />}
            onClick={() => {
              chosen(tag)
              void changeLanguage(tag)
            }}
          >
            {LANGUAGES[tag]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Light or dark. */
export function SchemeButton() {
  const { t } = useTranslation()
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const next = scheme === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={next === 'dark' ? t('ui.dark') : t('ui.light')}
      onClick={() => setColorScheme(next)}
    >
      {next === 'dark' ? <IconMoon size={19} stroke={1.7} /> : <IconSun size={19} stroke={1.7} />}
    </ActionIcon>
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
        <Button variant="subtle" color="gray" px="xs" leftSection={<IconUserCircle size={19} stroke={1.7} />}>
          <span className="pw-account-name">{account.username}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconSettings size={16} />} onClick={() => void navigate({ to: '/settings' })}>
          {t('nav.settings')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t('nav.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
