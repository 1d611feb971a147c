/** The ways to sign in that the installation has: password, passkey, login provider. */
import { Button, Divider, Stack } from '@mantine/core'
import { IconFingerprint, IconLogin2 } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { useRead } from '../api/hooks.ts'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { isPasskeyRefusal, knowsPasskeys, usePasskeyLogin } from './passkey.ts'
import { SignInForm } from './sign-in-form.tsx'
import { rememberTarget } from './sign-in-target.ts'

/** `to`: the page to open afterwards; `username` is filled in when the same user signs in again. */
export function SignInWays(props: {
  to: string | undefined
  username?: string
  done: (session: Output<'logInOperation'>) => unknown
}) {
  const { t } = useTranslation()
  const { data: methods } = useRead('getLoginMethods', {})
  // Until the methods are known, and if they cannot be read, the password is offered.
  const hasPassword = methods?.password ?? true
  const hasPasskeys = methods?.passkey === true && knowsPasskeys()
  const others = Boolean(methods?.oidc) || hasPasskeys
  return (
    <Stack gap="md">
      {hasPassword ? (
        <SignInForm {...(props.username === undefined ? {} : { username: props.username })} done={props.done} />
      ) : null}
      {hasPassword && others ? <Divider label={t('ways.or')} /> : null}
      {methods?.oidc ? <ProviderButton name={methods.oidc.name} to={props.to} /> : null}
      {hasPasskeys ? <PasskeyButton done={props.done} /> : null}
    </Stack>
  )
}

function ProviderButton({ name, to }: { name: string; to: string | undefined }) {
  const { t } = useTranslation()
  const begin = useMutation({
    mutationFn: () => call('beginOidcLogin', {}),
    onSuccess({ url }) {
      rememberTarget(to)
      window.location.assign(url)
    },
  })
  return (
    <>
      {begin.error ? <Refusal text={problemText(begin.error, t)} /> : null}
      <Button
        variant="default"
        size="md"
        fullWidth
        leftSection={<IconLogin2 size={18} />}
        loading={begin.isPending || begin.isSuccess}
        onClick={() => begin.mutate()}
      >
        {t('ways.with', { name })}
      </Button>
    </>
  )
}

function PasskeyButton({ done }: { done: (session: Output<'logInOperation'>) => unknown }) {
  const { t } = useTranslation()
  const logIn = usePasskeyLogin(done)
  return (
    <>
      {logIn.error ? (
        <Refusal text={isPasskeyRefusal(logIn.error) ? t('ways.canceled') : problemText(logIn.error, t)} />
      ) : null}
      <Button
        variant="default"
        size="md"
        fullWidth
        leftSection={<IconFingerprint size={18} />}
        loading={logIn.isPending}
        onClick={() => logIn.mutate()}
      >
        {t('ways.withPasskey')}
      </Button>
    </>
  )
}

function Refusal({ text }: { text: string }) {
  return (
    <div role="alert">
      <Note tone="bad">{text}</Note>
    </div>
  )
}
