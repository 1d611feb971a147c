/** Adds a DKIM key that takes over once its record is seen everywhere. */
import { Button } from '@mantine/core'
import { IconRotate } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { Confirm } from '../ui/confirm.tsx'

/** The button with its question. */
export function RotateButton({ domainId }: { domainId: string }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const rotate = useWrite('rotateDkimOperation', ['getDomainOperation'])
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconRotate size={15} />} onClick={() => setAsking(true)}>
        {t('dns.rotate')}
      </Button>
      <Confirm
        opened={asking}
        close={() => setAsking(false)}
        title={t('dns.rotateTitle')}
        action={t('dns.rotate')}
        run={() => rotate.mutateAsync({ params: { id: domainId }, body: {} })}
      >
        {t('dns.rotateText')}
      </Confirm>
    </>
  )
}
