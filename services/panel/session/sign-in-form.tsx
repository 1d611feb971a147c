/** Sign-in form, used on the sign-in page and in the dialog after a session expired. */
import { Button, Stack, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useFields } from '../ui/forms/use-fields.ts'

/** `username` is filled in when the same user signs in again; `done` receives the new session. */
export function SignInForm(props: { username?: string; done: (session: Output<'logInOperation'>) => unknown }) {
  const { t } = useTranslation()
  const { username = '', done } = props
  const logIn = useWrite('logInOperation')
  const fields = useFields({ username, password: '' }, null)
  const submit = () =>
    logIn.mutate(
      { body: { ...fields.values, username: fields.values.username.trim() } },
      { onSuccess: session => done(session) },
    )
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <Stack gap="md">
        <TextInput
          label={t('account.username')}
          autoComplete="username"
          autoFocus={username === ''}
          required
          withAsterisk={false}
          {...fields.text('username')}
        />
        <PasswordInput
          label={t('account.password')}
          autoComplete="current-password"
          data-autofocus={username !== '' || undefined}
          required
          withAsterisk={false}
          {...fields.text('password')}
        />
        {logIn.error ? (
          <div role="alert">
            <Note tone="bad">{problemText(logIn.error, t)}</Note>
          </div>
        ) : null}
        <Button type="submit" size="md" loading={logIn.isPending} fullWidth>
          {t('account.signIn')}
        </Button>
      </Stack>
    </form>
  )
}
