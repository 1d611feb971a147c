/** Dialog that asks to sign in again when the session expired while a form was open. */
import { Modal, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { setSessionExpired } from '../state/session-expiry.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { discardUnsavedWork } from '../ui/forms/unsaved-work.tsx'
import { sessionQuery, useAccount, useSession } from './session.ts'
import { SignInWays } from './sign-in-ways.tsx'

/** Cannot be dismissed: without a session the form below cannot be submitted. */
export function SignInAgain() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const account = useAccount()
  const { account: shown } = useSession()
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
          done={async session => {
            // Another user must not see the form of the previous one, so the page is reloaded.
            if (session.user.id !== account.id) {
              discardUnsavedWork()
              return window.location.assign('/')
            }
            queries.setQueryData(sessionQuery.queryKey, await inShownAccount(session, shown.id))
            setSessionExpired(false)
            void queries.invalidateQueries()
          }}
        />
      </Stack>
    </Modal>
  )
}

/** The form belongs to the account that is shown, and a new session works in the own one. */
async function inShownAccount(session: Output<'getSession'>, id: string): Promise<Output<'getSession'>> {
  if (session.account.id === id) return session
  return call('switchAccountOperation', { body: { account_id: id } }).catch(() => session)
}
