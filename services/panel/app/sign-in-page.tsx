/** Signing in. */
import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { speak } from '../i18n/index.ts'
import { useFields } from '../ui/fields.ts'
import { Logo } from '../ui/logo.tsx'
import { PasswordInput } from '../ui/password.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Note } from '../ui/status.tsx'
import { LanguageMenu, SchemeButton } from './header-menus.tsx'
import { adoptZone, type Language } from './preferences.ts'
import { languageOf, sessionRead, useKeepLanguage } from './session.ts'

const route = getRouteApi('/sign-in')

/** The page. */
export function SignInPage() {
  const { t } = useTranslation()
  const { ended } = route.useSearch()
  const [language, setLanguage] = useState<Language>()
  useDocumentTitle(`${t('account.signIn')} · Postwright`)
  return (
    <main className="pw-welcome">
      <div className="pw-card pw-sign-in">
        <Stack gap="lg">
          <Group justify="space-between">
            <Logo />
            <Group gap={2}>
              <LanguageMenu chosen={setLanguage} />
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
          {ended ? (
            <div role="status">
              <Note tone="info">{t('account.sessionEnded')}</Note>
            </div>
          ) : null}
          <SignInForm language={language} />
        </Stack>
      </div>
    </main>
  )
}

/** A language that was chosen here is meant for the account, too; without one the panel speaks that of the account. */
function SignInForm({ language }: { language: Language | undefined }) {
  const { t } = useTranslation()
  const { to } = route.useSearch()
  const router = useRouter()
  const queries = useQueryClient()
  const keep = useKeepLanguage()
  const logIn = useWrite('logInOperation')
  const fields = useFields({ username: '', password: '' }, null)
  const submit = () =>
    logIn.mutate(
      { body: { ...fields.values, username: fields.values.username.trim() } },
      {
        onSuccess: async session => {
          queries.clear()
          queries.setQueryData(sessionRead.queryKey, session)
          if (language) void keep(language)
          else await speak(languageOf(session.user.lang))
          adoptZone(session.user.tz)
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
          {...fields.text('username')}
        />
        <PasswordInput
          label={t('account.password')}
          autoComplete="current-password"
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
