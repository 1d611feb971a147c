import { Anchor, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { changeLanguage } from '../i18n/index.ts'
import { adoptTimeZone, type Language } from '../state/preferences.ts'
import { setSessionExpired } from '../state/session-expiry.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { languageOf, sessionQuery, useSaveLanguage } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'
import { WelcomeFrame } from './welcome-frame.tsx'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { t } = useTranslation()
  const { ended } = route.useSearch()
  const [language, setLanguage] = useState<Language>()
  const signedIn = useSignedIn(language)
  return (
    <WelcomeFrame
      name={t('account.signIn')}
      title={t('account.welcome')}
      lead={t('account.welcomeLead')}
      onLanguage={setLanguage}
    >
      {ended ? (
        <div role="status">
          <Note tone="info">{t('account.sessionEnded')}</Note>
        </div>
      ) : null}
      <SignInForm done={signedIn} />
      <Text fz="sm">
        <Anchor renderRoot={props => <Link {...props} to="/forgot-password" />}>{t('security.forgot')}</Anchor>
      </Text>
    </WelcomeFrame>
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
