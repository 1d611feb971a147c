/** Making an SMTP login, or changing its limits. */
import { NumberInput, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { type Fields, useFields } from '../ui/fields.ts'
import { linesOf, SubmitForm } from '../ui/form.tsx'
import { useSaved } from '../ui/outcome.ts'
import { PasswordInput } from '../ui/password.tsx'
import type { Show } from '../ui/secret.tsx'
import { NetworksField } from './networks-field.tsx'
import type { Credential } from './types.ts'

interface Limits {
  allowed_senders: string
  allowed_cidrs: string
  messages_per_hour: number
}

/** A new login. */
export function SmtpForm({ close, show }: { close: () => void; show: Show }) {
  const { t } = useTranslation()
  const create = useWrite('createCredentialOperation', ['listCredentialsOperation'])
  const start = { username: '', password: '', allowed_senders: '', allowed_cidrs: '', messages_per_hour: 0 }
  const fields = useFields(start, create.error)
  const submit = () => {
    const { username, password, ...limits } = fields.values
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
  }
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('ui.create')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('access.login')}
        description={t('access.loginHint')}
        autoComplete="off"
        {...fields.text('username')}
      />
      <PasswordInput
        label={t('account.password')}
        description={t('access.passwordHint')}
        autoComplete="new-password"
        {...fields.text('password')}
      />
      <LimitFields fields={fields} />
    </SubmitForm>
  )
}

/** The limits of a login. */
export function SmtpLimits({ login, close }: { login: Credential; close: () => void }) {
  const { t } = useTranslation()
  const patch = useWrite('patchCredentialOperation', ['listCredentialsOperation'])
  const saved = useSaved(close)
  const start = {
    allowed_senders: login.allowed_senders.join('\n'),
    allowed_cidrs: login.allowed_cidrs.join('\n'),
    messages_per_hour: login.messages_per_hour,
  }
  const fields = useFields(start, patch.error)
  const submit = () => patch.mutate({ params: { id: login.id }, body: bodyOf(fields.values) }, saved)
  return (
    <SubmitForm state={patch} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <LimitFields fields={fields} />
    </SubmitForm>
  )
}

function bodyOf({ allowed_senders, allowed_cidrs, messages_per_hour }: Limits) {
  return { allowed_senders: linesOf(allowed_senders), allowed_cidrs: linesOf(allowed_cidrs), messages_per_hour }
}

function LimitFields({ fields }: { fields: Pick<Fields<Limits>, 'text' | 'count'> }) {
  const { t } = useTranslation()
  return (
    <>
      <Textarea
        label={t('access.senders')}
        description={t('access.sendersHint')}
        placeholder={'@example.com\nhello@example.org'}
        autosize
        minRows={2}
        {...fields.text('allowed_senders')}
      />
      <NetworksField {...fields.text('allowed_cidrs')} />
      <NumberInput
        label={t('access.perHour')}
        description={t('access.perHourHint')}
        min={0}
        max={10_000_000}
        allowDecimal={false}
        {...fields.count('messages_per_hour')}
      />
    </>
  )
}
