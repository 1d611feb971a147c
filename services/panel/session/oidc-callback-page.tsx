/** The page that the login provider sends the browser back to: completes the sign-in with the query of its address. */
import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../api/hooks.ts'
import { ApiProblem } from '../api/problem.ts'
import { usePreferences } from '../state/preferences.ts'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { browserTimeZone } from '../ui/values/time-zone.ts'
import { langOf } from './session.ts'
import { CodeForm } from './sign-in-form.tsx'
import { takeTarget } from './sign-in-target.ts'
import { useSignedIn } from './use-signed-in.ts'
import { WelcomeFrame } from './welcome-frame.tsx'

export function OidcCallbackPage() {
  const { t } = useTranslation()
  const query = useCallbackQuery()
  const { language } = usePreferences()
  const { data: methods } = useRead('getLoginMethods', {})
  const [to] = useState(takeTarget)
  const signedIn = useSignedIn({ to })
  const complete = useWrite('completeOidcLogin')
  const { mutate } = complete
  // biome-ignore lint/correctness/useExhaustiveDependencies: the query is of use once
  useEffect(() => {
    if (query !== '')
      mutate(
        { body: { query, lang: langOf(language), tz: browserTimeZone() } },
        { onSuccess: session => signedIn(session) },
      )
  }, [])
  const challenge = complete.error instanceof ApiProblem ? complete.error.challenge : undefined
  const error = query === '' ? t('ways.incomplete') : complete.error && problemText(complete.error, t)
  return (
    <WelcomeFrame
      name={t('account.signIn')}
      title={t('ways.returning')}
      lead={methods?.oidc ? t('ways.returningLead', { name: methods.oidc.name }) : ' '}
    >
      {challenge === undefined ? null : <CodeForm challenge={challenge} done={signedIn} again={startAgain} />}
      {error && challenge === undefined ? (
        <div role="alert">
          <Note tone="bad">{error}</Note>
        </div>
      ) : null}
      <Text fz="sm">
        <Anchor renderRoot={props => <Link {...props} to="/sign-in" search={{}} />}>
          {t('security.backToSignIn')}
        </Anchor>
      </Text>
    </WelcomeFrame>
  )
}

function startAgain() {
  window.location.assign('/sign-in')
}

/** The query of the address; it is removed from the address and so from the history, for its code is a credential. */
function useCallbackQuery(): string {
  const [query] = useState(() => window.location.search)
  useEffect(() => {
    if (query !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [query])
  return query
}
