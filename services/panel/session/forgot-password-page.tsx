/** Asks for a link for a new password. */
import { Anchor, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { WelcomeFrame } from './welcome-frame.tsx'

export function ForgotPasswordPage() {
  const { t } = useTranslation()
  const request = useWrite('requestPasswordResetOperation')
  const fields = useFields({ username: '' }, request.error)
  return (
    <WelcomeFrame name={t('security.forgot')} title={t('security.forgot')} lead={t('security.forgotLead')}>
      {request.isSuccess ? (
        <div role="status">
          <Note tone="info">{t('security.forgotSent')}</Note>
        </div>
      ) : (
        <SubmitForm
          state={request}
          fields={fields}
          submit={() => request.mutate({ body: fields.values })}
          action={t('security.sendLink')}
        >
          <TextInput
            label={t('security.nameOrEmail')}
            autoComplete="username"
            autoFocus
            required
            withAsterisk={false}
            {...fields.text('username')}
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
