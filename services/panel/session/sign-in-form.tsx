/** Sign-in form, used on the sign-in page and in the dialog after a session expired. */
import { Button, Stack, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { ApiProblem } from '../api/problem.ts'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useFields } from '../ui/forms/use-fields.ts'

/** The code of the second factor; `again` goes back to name and password. */
export function CodeForm(props: {
  challenge: string
  done: (session: Output<'logInOperation'>) => unknown
  again: () => void
}) {
  const { t } = useTranslation()
  const complete = useWrite('completeLogIn')
  const fields = useFields({ code: '' }, null)
  const submit = () =>
    complete.mutate(
      { body: { challenge: props.challenge, code: fields.values.code.trim() } },
      { onSuccess: session => props.done(session) },
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
          label={t('security.code')}
          description={t('security.codeHint')}
          autoComplete="one-time-code"
          autoFocus
          required
          withAsterisk={false}
          {...fields.text('code')}
        />
        {complete.error ? (
          <div role="alert">
            <Note tone="bad">{problemText(complete.error, t)}</Note>
          </div>
        ) : null}
        <Button type="submit" size="md" loading={complete.isPending} fullWidth>
          {t('account.signIn')}
        </Button>
        <Button variant="subtle" onClick={props.again}>
          {t('security.startAgain')}
        </Button>
      </Stack>
    </form>
  )
}

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
  const challenge = logIn.error instanceof ApiProblem ? logIn.error.challenge : undefined
  if (challenge !== undefined) return <CodeForm challenge={challenge} done={done} again={logIn.reset} />
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
