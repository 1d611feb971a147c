/** Form that suppresses one address. */
import { Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../api/hooks.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'

const STREAMS = ['all', 'transactional', 'bulk'] as const
type Stream = (typeof STREAMS)[number]

export function SuppressionForm({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const create = useWrite('createSuppressionOperation', ['listSuppressionsOperation'])
  const fields = useFields({ email: '', stream: 'all' as Stream, detail: '' }, create.error)
  const { email, stream, detail } = fields.values
  const submit = () =>
    create.mutate(
      { body: { email, stream: stream === 'all' ? null : stream, ...(detail && { detail }) } },
      { onSuccess: close },
    )
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('suppressions.add')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('suppressions.address')}
        placeholder="user@example.com"
        autoComplete="off"
        {...fields.text('email')}
      />
      <Select
        label={t('suppressions.stream')}
        data={STREAMS.map(value => ({ value, label: t(`suppressions.streams.${value}`) }))}
        allowDeselect={false}
        {...fields.value('stream')}
        onChange={value => fields.change({ stream: STREAMS.find(known => known === value) ?? 'all' })}
      />
      <TextInput label={t('suppressions.note')} maxLength={500} autoComplete="off" {...fields.text('detail')} />
    </SubmitForm>
  )
}
