import { Button, Text } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Card } from '../../ui/layout/page.tsx'

/** The webhooks of an app have pages of their own. */
export function AppWebhooksLink({ appKey }: { appKey: string }) {
  const { t } = useTranslation()
  const open = (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconWebhook size={15} />}
      renderRoot={props => <Link {...props} to="/apps/$key/webhooks" params={{ key: appKey }} />}
    >
      {t('subs.openWebhooks')}
    </Button>
  )
  return (
    <Card title={t('webhooks.title')} aside={open}>
      <Text fz="sm" c="dimmed">
        {t('subs.webhooksLead')}
      </Text>
    </Card>
  )
}
