/** Creates the account of an invitation: user name and password are chosen here. */
import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { adoptTimeZone, usePreferences } from '../state/preferences.ts'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { browserTimeZone } from '../ui/values/time-zone.ts'
import { useLinkToken } from './link-token.ts'
import { langOf, sessionQuery } from './session.ts'
import { WelcomeFrame } from './welcome-frame.tsx'

export function AcceptInvitationPage() {
  const { t } = useTranslation()
  const token = useLinkToken()
  const offer = useWrite('readInvitationOperation')
  const { mutate } = offer
  useEffect(() => {
    if (token !== '') mutate({ body: { token } })
  }, [token, mutate])
  const lead = offer.data
    ? t('security.inviteLead', { name: offer.data.invited_by, email: offer.data.email })
    : t('security.inviteWait')
  return (
    <WelcomeFrame name={t('security.accept')} title={t('security.accept')} lead={lead}>
      {token === '' ? <Note tone="bad">{t('security.noToken')}</Note> : null}
      {offer.error ? (
        <div role="alert">
          <Note tone="bad">{problemText(offer.error, t)}</Note>
        </div>
      ) : null}
      {offer.data ? <AcceptForm token={token} /> : null}
    </WelcomeFrame>
  )
}

function AcceptForm({ token }: { token: string }) {
  const { t } = useTranslation()
  const router = useRouter()
  const queries = useQueryClient()
  const { language } = usePreferences()
  const accept = useWrite('acceptInvitationOperation')
  const fields = useFields({ username: '', password: '' }, accept.error)
  const submit = () => {
    const username = fields.values.username.trim()
    accept.mutate(
      { body: { token, ...fields.values, username, lang: langOf(language), tz: browserTimeZone() } },
      {
        onSuccess: session => {
          queries.clear()
          queries.setQueryData(sessionQuery.queryKey, session)
          adoptTimeZone(session.user.tz)
          router.history.push('/')
        },
      },
    )
  }
  return (
    <SubmitForm state={accept} fields={fields} submit={submit} action={t('security.createAccount')}>
      <TextInput label={t('account.username')} autoComplete="username" autoFocus {...fields.text('username')} />
      <PasswordInput
        label={t('account.password')}
        description={t('security.newPasswordHint')}
        autoComplete="new-password"
        {...fields.text('password')}
      />
    </SubmitForm>
  )
}
