/** Actions of a message: retry now, cancel, send again. */

import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useWrite } from '../../api/hooks.ts'
import { notifyError, notifySuccess } from '../../ui/feedback/notifications.ts'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { isInProgress } from './mail-statuses.ts'
import { ResendDialog } from './resend-dialog.tsx'

const REFRESH = ['getEmail', 'listEmailAttempts', 'explainEmail', 'listEmails'] as const

/** Shows only the actions that the status allows. */
export function MessageActions({ message }: { message: Output<'getEmail'> }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<'cancel' | 'resend'>()
  const close = () => setAsking(undefined)
  const cancel = useWrite('cancelEmail', REFRESH)
  const retry = useWrite('retryEmail', REFRESH)
  const params = { id: message.id }
  const waiting = message.recipients.some(recipient => isInProgress(recipient.status))
  const deferred = message.recipients.some(recipient => recipient.status === 'deferred')
  const report = {
    onSuccess: () => notifySuccess(t('messages.done')),
    onError: (error: Error) => notifyError(error, t),
  }
  return (
    <>
      <NeedsRole needs="developer">
        {deferred ? (
          <Button variant="default" loading={retry.isPending} onClick={() => retry.mutate({ params }, report)}>
            {t('messages.retryNow')}
          </Button>
        ) : null}
        {waiting ? (
          <Button variant="default" onClick={() => setAsking('cancel')}>
            {t('messages.cancel')}
          </Button>
        ) : null}
        {!waiting && message.has_raw ? (
          <Button variant="default" onClick={() => setAsking('resend')}>
            {t('messages.resend')}
          </Button>
        ) : null}
      </NeedsRole>
      <ConfirmDialog
        opened={asking === 'cancel'}
        close={close}
        title={t('messages.cancelTitle')}
        action={t('messages.cancel')}
        dismiss={t('messages.keep')}
        run={() => cancel.mutateAsync({ params })}
      >
        {t('messages.cancelText')}
      </ConfirmDialog>
      <ResendDialog message={message} opened={asking === 'resend'} close={close} />
    </>
  )
}
