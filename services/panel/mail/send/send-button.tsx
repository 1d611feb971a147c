import { Button } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

export function SendButton() {
  const { t } = useTranslation()
  return (
    <Button renderRoot={props => <Link {...props} to="/send" />} leftSection={<IconSend size={16} />}>
      {t('messages.sendTest')}
    </Button>
  )
}
