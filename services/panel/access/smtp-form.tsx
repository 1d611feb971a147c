/** Forms that create an SMTP login and change its restrictions. */
import { Checkbox, NumberInput, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import type { ShowSecrets } from '../ui/forms/secret-once.tsx'
import { splitList } from '../ui/forms/split-text.ts'
import { type Fields, useFields } from '../ui/forms/use-fields.ts'
import type { Credential } from './access-types.ts'
import { useShowLogin } from './login-secrets.tsx'
import { NetworksField } from './networks-field.tsx'

interface Limits {
  allowed_senders: string
  allowed_cidrs: string
  messages_per_hour: number
  fallback_sender: string
  allow_null_sender: boolean
}

const NO_LIMITS: Limits = {
  allowed_senders: '',
  allowed_cidrs: '',
  messages_per_hour: 0,
  fallback_sender: '',
  allow_null_sender: false,
}

export function SmtpForm({ close, show }: { close: () => void; show: ShowSecrets }) {
  const { t } = useTranslation()
  const create = useWrite('createCredentialOperation', ['listCredentialsOperation'])
  const showLogin = useShowLogin(show)
  const start = { username: '', password: '', ...NO_LIMITS }
  const fields = useFields(start, create.error)
  const submit = () => {
    const { username, password, ...limits } = fields.values
    create.mutate(
      { body: { username: username.trim(), ...(password === '' ? {} : { password }), ...bodyOf(limits) } },
      {
        onSuccess: login => {
          close()
          showLogin(login)
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

export function SmtpLimits({ login, close }: { login: Credential; close: () => void }) {
  const { t } = useTranslation()
  const patch = useWrite('patchCredentialOperation', ['listCredentialsOperation'])
  const saved = useSaveCallbacks(close)
  const start = {
    allowed_senders: login.allowed_senders.join('\n'),
    allowed_cidrs: login.allowed_cidrs.join('\n'),
    messages_per_hour: login.messages_per_hour,
    fallback_sender: login.fallback_sender ?? '',
    allow_null_sender: login.allow_null_sender,
  }
  const fields = useFields(start, patch.error)
  const submit = () => patch.mutate({ params: { id: login.id }, body: bodyOf(fields.values) }, saved)
  return (
    <SubmitForm state={patch} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <LimitFields fields={fields} />
    </SubmitForm>
  )
}

function bodyOf({ allowed_senders, allowed_cidrs, fallback_sender, ...rest }: Limits) {
  return {
    ...rest,
    allowed_senders: splitList(allowed_senders),
    allowed_cidrs: splitList(allowed_cidrs),
    fallback_sender: fallback_sender.trim() || null,
  }
}

function LimitFields({ fields }: { fields: Pick<Fields<Limits>, 'text' | 'count' | 'flag'> }) {
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
      <TextInput
        label={t('access.fallbackSender')}
        description={t('access.fallbackSenderHint')}
        placeholder="server@example.com"
        autoComplete="off"
        {...fields.text('fallback_sender')}
      />
      <Checkbox
        label={t('access.nullSender')}
        description={t('access.nullSenderHint')}
        {...fields.flag('allow_null_sender')}
      />
    </>
  )
}
