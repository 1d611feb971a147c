/** Sends the failed events of the last day to a webhook again, after a question. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'

const DAY_MS = 86_400_000

/** `replay` resolves to the number of events that are sent again. */
export function ReplayFailed({ replay }: { replay: (since: Date) => Promise<number> }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {t('webhooks.replayFailed')}
      </Button>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('webhooks.replayFailed')}
        action={t('webhooks.replay')}
        run={async () => {
          const count = await replay(new Date(Date.now() - DAY_MS))
          notifySuccess(t('webhooks.replayed', { count }))
        }}
      >
        {t('webhooks.replayText')}
      </ConfirmDialog>
    </>
  )
}
