/** Dialog that asks to sign in again when the session expired while a form was open. */
import { Modal, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { setSessionExpired } from '../state/session-expiry.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { sessionQuery, useAccount } from './session.ts'
import { SignInWays } from './sign-in-ways.tsx'

/** Cannot be dismissed: without a session the form below cannot be submitted. */
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
        <SignInWays
          to={window.location.pathname + window.location.search}
          username={account.username}
          done={session => {
            // Another user must not see the form of the previous one, so the page is reloaded.
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
