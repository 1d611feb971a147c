import { Button } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRoleRefusal } from '../../state/roles.ts'

export function SendButton() {
  const { t } = useTranslation()
  // A link cannot be disabled.
  if (useRoleRefusal('developer') !== undefined) return null
  return (
    <Button renderRoot={props => <Link {...props} to="/send" />} leftSection={<IconSend size={16} />}>
      {t('messages.sendTest')}
    </Button>
  )
}
