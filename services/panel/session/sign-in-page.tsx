import { Anchor, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import type { Language } from '../state/preferences.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SignInWays } from './sign-in-ways.tsx'
import { useSignedIn } from './use-signed-in.ts'
import { WelcomeFrame } from './welcome-frame.tsx'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { t } = useTranslation()
  const { ended, to } = route.useSearch()
  const { data: methods } = useRead('getLoginMethods', {})
  const [language, setLanguage] = useState<Language>()
  const signedIn = useSignedIn({ to, language })
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
      <SignInWays to={to} done={signedIn} />
      {methods?.password === false ? null : (
        <Text fz="sm">
          <Anchor renderRoot={props => <Link {...props} to="/forgot-password" />}>{t('security.forgot')}</Anchor>
        </Text>
      )}
    </WelcomeFrame>
  )
}
