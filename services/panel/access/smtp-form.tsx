/** Making an SMTP login, or changing its limits. */
import { NumberInput, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { linesOf, SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import type { Credential, Show } from './types.ts'

interface Limits {
  senders: string
  cidrs: string
  perHour: number
}

/** A new login. */
export function SmtpForm({ close, show }: { close: () => void; show: Show }) {
  const { t } = useTranslation()
  const create = useWrite('createCredentialOperation', ['listCredentialsOperation'])
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [limits, setLimits] = useState<Limits>({ senders: '', cidrs: '', perHour: 0 })
  const submit = () =>
    create.mutate(
      { body: { username: username.trim(), ...(password === '' ? {} : { password }), ...bodyOf(limits) } },
      {
        onSuccess: login => {
          close()
          show([
            [t('access.login'), login.username],
            [t('account.password'), login.password],
          ])
        },
      },
    )
  return (
    <SubmitForm state={create} submit={submit} action={t('ui.create')} cancel={close}>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label={t('access.login')}
          description={t('access.loginHint')}
          autoComplete="off"
          value={username}
          onChange={event => setUsername(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('account.password')}
          description={t('access.passwordHint')}
          autoComplete="new-password"
          value={password}
          onChange={event => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': t('account.showPassword') }}
        />
        <LimitFields limits={limits} set={setLimits} />
      </Stack>
    </SubmitForm>
  )
}

/** The limits of a login. */
export function SmtpLimits({ login, close }: { login: Credential; close: () => void }) {
  const { t } = useTranslation()
  const patch = useWrite('patchCredentialOperation', ['listCredentialsOperation'])
  const [limits, setLimits] = useState<Limits>({
    senders: login.allowed_senders.join('\n'),
    cidrs: login.allowed_cidrs.join('\n'),
    perHour: login.messages_per_hour,
  })
  const submit = () =>
    patch.mutate(
      { params: { id: login.id }, body: bodyOf(limits) },
      {
        onSuccess: () => {
          close()
          tellDone(t('ui.saved'))
        },
      },
    )
  return (
    <SubmitForm state={patch} submit={submit} action={t('ui.save')} cancel={close}>
      <LimitFields limits={limits} set={setLimits} />
    </SubmitForm>
  )
}

function bodyOf({ senders, cidrs, perHour }: Limits) {
  return { allowed_senders: linesOf(senders), allowed_cidrs: linesOf(cidrs), messages_per_hour: perHour }
}

function LimitFields({ limits, set }: { limits: Limits; set: (limits: Limits) => void }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md">
      <Textarea
        label={t('access.senders')}
        description={t('access.sendersHint')}
        placeholder={'@example.com\nhello@example.org'}
        autosize
        minRows={2}
        value={limits.senders}
        onChange={event => set({ ...limits, senders: event.currentTarget.value })}
      />
      <Textarea
        label={t('access.networks')}
        description={t('access.networksHint')}
        placeholder="192.0.2.0/24"
        autosize
        minRows={2}
        value={limits.cidrs}
        onChange={event => set({ ...limits, cidrs: event.currentTarget.value })}
      />
      <NumberInput
        label={t('access.perHour')}
        description={t('access.perHourHint')}
        min={0}
        max={10_000_000}
        allowDecimal={false}
        value={limits.perHour}
        onChange={value => set({ ...limits, perHour: Number(value) || 0 })}
      />
    </Stack>
  )
}
