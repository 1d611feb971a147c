import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { AccountRole } from '../../state/roles.ts'
import { NeedsRole } from '../forms/needs-role.tsx'

/** `name` identifies the row in the accessible name of the menu. `needs`: the role in the account that its actions need. */
export function RowMenu({ name, needs, children }: { name: string; needs?: AccountRole; children: ReactNode }) {
  const { t } = useTranslation()
  const menu = (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('ui.actionsFor', { name })}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
  return needs ? <NeedsRole needs={needs}>{menu}</NeedsRole> : menu
}
