/** Signing in. */
import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { speak } from '../i18n/index.ts'
import { Logo } from '../ui/logo.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Note } from '../ui/status.tsx'
import { LanguageMenu, SchemeButton } from './header-menus.tsx'
import { languageOf, sessionRead } from './session.ts'

const route = getRouteApi('/sign-in')

/** The page. */
export function SignInPage() {
  const { t } = useTranslation()
  useDocumentTitle(`${t('account.signIn')} · Postwright`)
  return (
    <main className="pw-welcome">
      <div className="pw-card pw-sign-in">
        <Stack gap="lg">
          <Group justify="space-between">
            <Logo />
            <Group gap={2}>
              <LanguageMenu />
              <SchemeButton />
            </Group>
          </Group>
          <div>
            <Title order={1} fz={24}>
              {t('account.welcome')}
            </Title>
            <Text c="dimmed" fz="sm" mt={4}>
              {t('account.welcomeLead')}
            </Text>
          </div>
          <SignInForm />
        </Stack>
      </div>
    </main>
  )
}

function SignInForm() {
  const { t } = useTranslation()
  const { to } = route.useSearch()
  const router = useRouter()
  const queries = useQueryClient()
  const logIn = useWrite('logInOperation')
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const submit = () =>
    logIn.mutate(
      { body: { username: username.trim(), password } },
      {
        onSuccess: async session => {
          queries.clear()
          queries.setQueryData(sessionRead.queryKey, session)
          await speak(languageOf(session.user.lang))
          router.history.push(to ?? '/')
        },
      },
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
          autoFocus
          required
          withAsterisk={false}
          value={username}
          onChange={event => setUsername(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('account.password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={password}
          onChange={event => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': t('account.showPassword') }}
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
