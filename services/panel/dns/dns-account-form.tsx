/** Form for the credentials of a DNS provider. The service tests them before it stores them. */
import { Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { type Fields, useFields } from '../ui/forms/use-fields.ts'
import { accountBody, FIELDS, type Field, PROVIDERS, type Provider } from './dns-account-credentials.ts'

type Account = Output<'listDnsAccountsOperation'>['data'][number]

interface DnsAccountFormProps {
  /** Replaces its credentials; the provider cannot be changed. */
  account?: Account
  /** The provider that is chosen first. */
  suggested?: Provider | undefined
  close: () => void
  /** Receives the id of the stored account. */
  saved?: (id: string) => void
}

export function DnsAccountForm({ account, suggested, close, saved }: DnsAccountFormProps) {
  const { t } = useTranslation()
  const create = useWrite('createDnsAccountOperation', ['listDnsAccountsOperation'])
  const replace = useWrite('putDnsAccountOperation', ['listDnsAccountsOperation'])
  const write = account ? replace : create
  const [provider, setProvider] = useState<Provider>(account?.provider ?? suggested ?? 'cloudflare')
  const fields = useFields<Record<string, string>>({ ...EMPTY, name: account?.name ?? '' }, write.error)
  const submit = () => {
    const body = accountBody(provider, fields.values)
    const done = {
      onSuccess: ({ id, tested }: Account) => {
        close()
        saved?.(id)
        notifySuccess(t('dns.accountSaved', { count: tested.zones.length }))
      },
    }
    if (account) replace.mutate({ params: { id: account.id }, body }, done)
    else create.mutate({ body }, done)
  }
  return (
    <SubmitForm state={write} fields={fields} submit={submit} action={t('dns.saveAndTest')} cancel={close}>
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
      <TextInput label={t('access.name')} description={t('dns.optional')} autoComplete="off" {...fields.text('name')} />
      {FIELDS[provider].map(field => (
        <CredentialField key={field.name} field={field} fields={fields} />
      ))}
    </SubmitForm>
  )
}

/** Empty values for the fields of all providers. */
const EMPTY = Object.fromEntries(PROVIDERS.flatMap(provider => FIELDS[provider].map(({ name }) => [name, ''])))

function CredentialField({ field, fields }: { field: Field; fields: Fields<Record<string, string>> }) {
  const { t } = useTranslation()
  const { name, secret, optional, choices } = field
  const bound = fields.text(name)
  if (choices)
    return (
      <Select
        label={t(`dns.field.${name}`)}
        data={[...choices]}
        allowDeselect={false}
        {...bound}
        value={bound.value || (choices[0] ?? null)}
        onChange={value => fields.change({ [name]: value ?? '' })}
      />
    )
  const Input = secret ? PasswordInput : TextInput
  return (
    <Input
      label={t(`dns.field.${name}`)}
      {...(optional ? { description: t('dns.optional') } : {})}
      autoComplete="off"
      spellCheck={false}
      {...bound}
    />
  )
}
