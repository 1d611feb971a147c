/** Language menu and colour scheme button, used in the header and on the sign-in page. */
import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconLanguage, IconMoon, IconSun } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { changeLanguage } from '../../i18n/index.ts'
import { LANGUAGES, type Language, usePreferences } from '../../state/preferences.ts'

export function LanguageMenu({ onChange }: { onChange: (language: Language) => void }) {
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
              onChange(tag)
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

/** Switches between the light and the dark colour scheme. */
export function ColorSchemeButton() {
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
