/** Form that replaces the password of an SMTP login: one of choice, or a made one. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import type { ShowSecrets } from '../ui/forms/secret-once.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import type { Credential } from './access-types.ts'
import { useShowLogin } from './login-secrets.tsx'

export function SmtpPasswordForm(props: { login: Credential; close: () => void; show: ShowSecrets }) {
  const { t } = useTranslation()
  const { login, close, show } = props
  const renew = useWrite('putCredentialPasswordOperation', ['listCredentialsOperation'])
  const fields = useFields({ password: '' }, renew.error)
  const showLogin = useShowLogin(show)
  const submit = () => {
    const { password } = fields.values
    renew.mutate(
      { params: { id: login.id }, body: password === '' ? {} : { password } },
      {
        onSuccess: answer => {
          close()
          showLogin(answer)
        },
      },
    )
  }
  return (
    <SubmitForm state={renew} fields={fields} submit={submit} action={t('access.newPassword')} cancel={close}>
      <Text fz="sm">{t('access.newPasswordText')}</Text>
      <PasswordInput
        data-autofocus
        label={t('account.password')}
        description={t('access.passwordHint')}
        autoComplete="new-password"
        {...fields.text('password')}
      />
    </SubmitForm>
  )
}
