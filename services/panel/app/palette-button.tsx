/** Opens the palette: a button in the header, and Ctrl-K or ⌘K everywhere. */
import { ActionIcon, Tooltip } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { withAllTexts } from '../i18n/index.ts'

const Palette = lazy(() => withAllTexts(import('./palette.tsx')).then(module => ({ default: module.Palette })))

export function PaletteButton() {
  const { t } = useTranslation()
  const [opened, setOpened] = useState(false)
  // Also from fields of forms; not above a dialog, whose input would lose the focus.
  useHotkeys([['mod+K', () => document.querySelector('[role=dialog]') ?? setOpened(true)]], [])
  const label = t('palette.open')
  return (
    <>
      <Tooltip label={label}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={label}
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setOpened(true)}
        >
          <IconSearch size={19} stroke={1.7} />
        </ActionIcon>
      </Tooltip>
      {opened ? (
        <Suspense>
          <Palette opened={opened} close={() => setOpened(false)} />
        </Suspense>
      ) : null}
    </>
  )
}
