/** Sets a new password with the link of a mail. */
import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { useLinkToken } from './link-token.ts'
import { WelcomeFrame } from './welcome-frame.tsx'

export function ResetPasswordPage() {
  const { t } = useTranslation()
  const token = useLinkToken()
  const complete = useWrite('completePasswordResetOperation')
  const fields = useFields({ new_password: '' }, complete.error)
  return (
    <WelcomeFrame name={t('security.reset')} title={t('security.reset')} lead={t('security.resetLead')}>
      {token === '' ? <Note tone="bad">{t('security.noToken')}</Note> : null}
      {complete.isSuccess ? (
        <div role="status">
          <Note tone="info">{t('security.resetDone')}</Note>
        </div>
      ) : (
        <SubmitForm
          state={complete}
          fields={fields}
          disabled={token === ''}
          submit={() => complete.mutate({ body: { token, ...fields.values } })}
          action={t('security.reset')}
        >
          <PasswordInput
            label={t('account.newPassword')}
            description={t('security.newPasswordHint')}
            autoComplete="new-password"
            autoFocus
            {...fields.text('new_password')}
          />
        </SubmitForm>
      )}
      <Text fz="sm">
        <Anchor renderRoot={props => <Link {...props} to="/sign-in" search={{}} />}>
          {t('security.backToSignIn')}
        </Anchor>
      </Text>
    </WelcomeFrame>
  )
}
