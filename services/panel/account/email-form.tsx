/** The e-mail address of the own account. */
import { Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { sessionQuery, useAccount } from '../session/session.ts'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useFields } from '../ui/forms/use-fields.ts'

export function EmailForm() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const account = useAccount()
  const change = useWrite('putMyEmail')
  const [sentTo, setSentTo] = useState<string>()
  const fields = useFields({ email: account.email ?? '', current_password: '' }, change.error)
  const submit = () => {
    const email = fields.values.email.trim() || null
    change.mutate(
      { body: { ...fields.values, email } },
      {
        onSuccess: user => {
          fields.change({ current_password: '' })
          queries.setQueryData(sessionQuery.queryKey, before => before && { ...before, user })
          setSentTo(email === null || user.email === email.toLowerCase() ? undefined : email)
          if (email === null) notifySuccess(t('ui.saved'))
        },
      },
    )
  }
  return (
    <div className="pw-narrow">
      <Text fz="sm" c="dimmed" mb="md">
        {account.email === null ? t('security.noEmail') : t('security.hasEmail', { email: account.email })}
      </Text>
      <SubmitForm state={change} fields={fields} submit={submit} action={t('security.changeEmail')}>
        <TextInput
          label={t('security.email')}
          description={t('security.emailHint')}
          type="email"
          autoComplete="email"
          {...fields.text('email')}
        />
        <PasswordInput
          label={t('account.currentPassword')}
          autoComplete="current-password"
          {...fields.text('current_password')}
        />
        {sentTo === undefined ? null : (
          <div role="status">
            <Note tone="info">{t('security.confirmationSent', { email: sentTo })}</Note>
          </div>
        )}
      </SubmitForm>
    </div>
  )
}
