import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { changeLanguage } from '../i18n/index.ts'
import { adoptTimeZone, type Language } from '../state/preferences.ts'
import { setSessionExpired } from '../state/session-expiry.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { ColorSchemeButton, LanguageMenu } from '../ui/layout/appearance-controls.tsx'
import { Logo } from '../ui/layout/logo.tsx'
import { languageOf, sessionQuery, useSaveLanguage } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { t } = useTranslation()
  const { ended } = route.useSearch()
  const [language, setLanguage] = useState<Language>()
  const signedIn = useSignedIn(language)
  useDocumentTitle(`${t('account.signIn')} · Postwright`)
  return (
    <main className="pw-welcome">
      <div className="pw-card pw-sign-in">
        <Stack gap="lg">
          <Group justify="space-between">
            <Logo />
            <Group gap={2}>
              <LanguageMenu onChange={setLanguage} />
              <ColorSchemeButton />
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
          <SignInForm done={signedIn} />
        </Stack>
      </div>
    </main>
  )
}

/** A language chosen on this page is saved to the account; otherwise the panel switches to the account's language. */
function useSignedIn(language: Language | undefined) {
  const { to } = route.useSearch()
  const router = useRouter()
  const queries = useQueryClient()
  const saveLanguage = useSaveLanguage()
  return async (session: Output<'logInOperation'>) => {
    setSessionExpired(false)
    queries.clear()
    queries.setQueryData(sessionQuery.queryKey, session)
    if (language) void saveLanguage(language)
    else await changeLanguage(languageOf(session.user.lang))
    adoptTimeZone(session.user.tz)
    router.history.push(to ?? '/')
  }
}
