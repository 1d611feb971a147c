/** Credentials of a DNS provider, new or in place of others; the service tries them before it keeps them. */
import { PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { accountBody, FIELDS, type Field, PROVIDERS, type Provider } from './credentials.ts'

type Account = Output<'listDnsAccountsOperation'>['data'][number]

/** The form; with an account its credentials are replaced, and its provider stays. */
export function AccountForm({ account, close }: { account?: Account; close: () => void }) {
  const { t } = useTranslation()
  const create = useWrite('createDnsAccountOperation', ['listDnsAccountsOperation'])
  const replace = useWrite('putDnsAccountOperation', ['listDnsAccountsOperation'])
  const [provider, setProvider] = useState<Provider>(account?.provider ?? 'cloudflare')
  const [values, setValues] = useState<Record<string, string>>(account ? { name: account.name } : {})
  const set = (name: string, value: string) => setValues({ ...values, [name]: value })
  const submit = () => {
    const body = accountBody(provider, values)
    const done = {
      onSuccess: ({ tested }: Account) => {
        close()
        tellDone(t('dns.accountSaved', { count: tested.zones.length }))
      },
    }
    if (account) replace.mutate({ params: { id: account.id }, body }, done)
    else create.mutate({ body }, done)
  }
  return (
    <SubmitForm state={account ? replace : create} submit={submit} action={t('dns.saveAndTest')} cancel={close}>
      <Stack gap="md">
        <Select
          label={t('dns.provider')}
          data={PROVIDERS.map(value => ({ value, label: t(`dns.providers.${value}`) }))}
          value={provider}
          allowDeselect={false}
          disabled={account !== undefined}
          onChange={value => setProvider(PROVIDERS.find(known => known === value) ?? 'cloudflare')}
        />
        <Text fz="sm" c="dimmed">
          {t(`dns.rightsNeeded.${provider}`)}
        </Text>
        <TextInput
          label={t('access.name')}
          description={t('dns.optional')}
          autoComplete="off"
          value={values.name ?? ''}
          onChange={event => set('name', event.currentTarget.value)}
        />
        {FIELDS[provider].map(field => (
          <CredentialField
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            set={value => set(field.name, value)}
          />
        ))}
      </Stack>
    </SubmitForm>
  )
}

function CredentialField(props: { field: Field; value: string; set: (value: string) => void }) {
  const { t } = useTranslation()
  const { name, secret, optional, choices } = props.field
  if (choices)
    return (
      <Select
        label={t(`dns.field.${name}`)}
        data={[...choices]}
        value={props.value || (choices[0] ?? null)}
        allowDeselect={false}
        onChange={value => props.set(value ?? '')}
      />
    )
  const Input = secret ? PasswordInput : TextInput
  return (
    <Input
      label={t(`dns.field.${name}`)}
      {...(optional ? { description: t('dns.optional') } : {})}
      {...(secret ? { visibilityToggleButtonProps: { 'aria-label': t('account.showPassword') } } : {})}
      autoComplete="off"
      spellCheck={false}
      value={props.value}
      onChange={event => props.set(event.currentTarget.value)}
    />
  )
}
