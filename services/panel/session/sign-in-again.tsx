/** Signing in above a form whose session ended. */
import { Modal, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { setSessionExpired } from '../state/session-expiry.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { sessionQuery, useAccount } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** The dialog. It cannot be closed: whoever wants to leave goes to another address. */
export function SignInAgain() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const account = useAccount()
  return (
    <Modal
      opened
      onClose={() => undefined}
      title={t('account.signIn')}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      zIndex={300}
    >
      <Stack gap="md">
        <div role="status">
          <Note tone="info">{t('account.sessionEndedHere')}</Note>
        </div>
        <SignInForm
          username={account.username}
          done={session => {
            // What is open belongs to the one who opened it.
            if (session.user.id !== account.id) return window.location.assign('/')
            queries.setQueryData(sessionQuery.queryKey, session)
            setSessionExpired(false)
            void queries.invalidateQueries()
          }}
        />
      </Stack>
    </Modal>
  )
}
