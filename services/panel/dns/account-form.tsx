/** Credentials of a DNS provider; the service tries them before it keeps them. */
import { PasswordInput, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { accountBody, FIELDS, PROVIDERS, type Provider } from './credentials.ts'

/** The form. */
export function AccountForm({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const create = useWrite('createDnsAccountOperation', ['listDnsAccountsOperation'])
  const [provider, setProvider] = useState<Provider>('cloudflare')
  const [values, setValues] = useState<Record<string, string>>({})
  const submit = () =>
    create.mutate(
      { body: accountBody(provider, values) },
      {
        onSuccess: account => {
          close()
          tellDone(t('dns.accountSaved', { count: account.tested.zones.length }))
        },
      },
    )
  return (
    <SubmitForm state={create} submit={submit} action={t('dns.saveAndTest')} cancel={close}>
      <Stack gap="md">
        <Select
          label={t('dns.provider')}
          data={PROVIDERS.map(value => ({ value, label: t(`dns.providers.${value}`) }))}
          value={provider}
          allowDeselect={false}
          onChange={value => setProvider(PROVIDERS.find(known => known === value) ?? 'cloudflare')}
        />
        {FIELDS[provider].map(({ name, secret, optional }) => {
          const Field = secret ? PasswordInput : TextInput
          return (
            <Field
              key={name}
              label={t(`dns.field.${name}`)}
              {...(optional ? { description: t('dns.optional') } : {})}
              autoComplete="off"
              value={values[name] ?? ''}
              onChange={event => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          )
        })}
      </Stack>
    </SubmitForm>
  )
}
