/** Form for a new domain. */
import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../api/hooks.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { domainOf } from '../../ui/forms/split-text.ts'
import { useFields } from '../../ui/forms/use-fields.ts'

/** Registers a domain and opens its page, or calls `then` instead. */
export function AddDomain({ cancel, then }: { cancel?: () => void; then?: (name: string) => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = useWrite('createDomainOperation', ['listDomainsOperation'])
  const fields = useFields({ name: '' }, create.error)
  const go = then ?? (created => void navigate({ to: '/domains/$id', params: { id: created } }))
  const submit = () => {
    create.mutate({ body: { name: domainOf(fields.values.name) } }, { onSuccess: domain => go(domain.name) })
  }
  return (
    <SubmitForm
      state={create}
      fields={fields}
      submit={submit}
      action={t('domains.add')}
      {...(cancel ? { cancel } : {})}
    >
      <TextInput
        data-autofocus
        label={t('domains.name')}
        description={t('domains.nameHint')}
        placeholder="example.com"
        autoComplete="off"
        spellCheck={false}
        {...fields.text('name')}
        onBlur={() => fields.change({ name: domainOf(fields.values.name) })}
      />
    </SubmitForm>
  )
}
