/** Accepts an invitation to an account: as the user who is signed in, after signing in, or as a new user. */
import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { setShownAccount } from '../api/fetch.ts'
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
import { SignInForm } from './sign-in-form.tsx'
import { WelcomeFrame } from './welcome-frame.tsx'

export function JoinAccountPage() {
  const { t } = useTranslation()
  const token = useLinkToken()
  const offer = useWrite('readMemberInvitationOperation')
  const { mutate } = offer
  useEffect(() => {
    if (token !== '') mutate({ body: { token } })
  }, [token, mutate])
  const lead = offer.data
    ? t('members.joinLead', {
        name: offer.data.invited_by,
        account: offer.data.account,
        role: t(`members.roles.${offer.data.role}`),
      })
    : t('security.inviteWait')
  return (
    <WelcomeFrame name={t('members.join')} title={t('members.join')} lead={lead}>
      {token === '' ? <Note tone="bad">{t('security.noToken')}</Note> : null}
      {offer.error ? (
        <div role="alert">
          <Note tone="bad">{problemText(offer.error, t)}</Note>
        </div>
      ) : null}
      {offer.data ? <Ways token={token} /> : null}
    </WelcomeFrame>
  )
}

function Ways({ token }: { token: string }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const known = useQuery({ ...sessionQuery, retry: false })
  const [signingIn, setSigningIn] = useState(false)
  const enter = useEnter()
  if (known.isPending) return null
  if (known.data)
    return (
      <JoinAs
        token={token}
        session={known.data}
        other={async () => {
          await call('logOutOperation', {}).catch(() => undefined)
          setSigningIn(true)
          queries.clear()
          await known.refetch()
        }}
      />
    )
  return (
    <Stack gap="md">
      {signingIn ? (
        <SignInForm done={session => queries.setQueryData(sessionQuery.queryKey, session)} />
      ) : (
        <NewUserForm token={token} enter={enter} />
      )}
      <Anchor component="button" type="button" fz="sm" onClick={() => setSigningIn(!signingIn)}>
        {t(signingIn ? 'members.asNewUser' : 'members.asKnownUser')}
      </Anchor>
    </Stack>
  )
}

/** Opens the panel with the session, which works in the account already. */
function useEnter(): (session: Output<'getSession'>) => void {
  const router = useRouter()
  const queries = useQueryClient()
  return session => {
    queries.clear()
    setShownAccount(session.account.id)
    queries.setQueryData(sessionQuery.queryKey, session)
    adoptTimeZone(session.user.tz)
    router.history.push('/')
  }
}

function JoinAs(props: { token: string; session: Output<'getSession'>; other: () => Promise<void> }) {
  const { t } = useTranslation()
  const join = useWrite('joinAccountOperation')
  const enter = useEnter()
  const { username } = props.session.user
  return (
    <Stack gap="md">
      <Text fz="sm">{t('members.signedInAs', { name: username })}</Text>
      {join.error ? (
        <div role="alert">
          <Note tone="bad">{problemText(join.error, t)}</Note>
        </div>
      ) : null}
      <Button
        size="md"
        loading={join.isPending}
        onClick={() => join.mutate({ body: { token: props.token } }, { onSuccess: enter })}
      >
        {t('members.joinAs', { name: username })}
      </Button>
      <Button variant="subtle" onClick={() => void props.other()}>
        {t('members.asAnother')}
      </Button>
    </Stack>
  )
}

function NewUserForm({ token, enter }: { token: string; enter: (session: Output<'getSession'>) => void }) {
  const { t } = useTranslation()
  const { language } = usePreferences()
  const accept = useWrite('joinAsNewUserOperation')
  const fields = useFields({ username: '', password: '' }, accept.error)
  const submit = () => {
    const username = fields.values.username.trim()
    accept.mutate(
      { body: { token, ...fields.values, username, lang: langOf(language), tz: browserTimeZone() } },
      { onSuccess: enter },
    )
  }
  return (
    <SubmitForm state={accept} fields={fields} submit={submit} action={t('members.createUser')}>
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
