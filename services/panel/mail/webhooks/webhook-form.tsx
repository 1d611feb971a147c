/** Form that creates a webhook or changes it. */
import { Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { SearchableMultiSelect } from '../../ui/forms/searchable-select.tsx'
import type { ShowSecrets } from '../../ui/forms/secret-once.tsx'
import { type Fields, useFields } from '../../ui/forms/use-fields.ts'
import { EVENT_TYPES, type EventType, type Webhook } from './webhook-types.ts'

interface Settings {
  name: string
  url: string
  events: EventType[]
  domain_ids: string[]
  format: Webhook['format']
  notice_email: string
}

const EMPTY: Settings = { name: '', url: '', events: [], domain_ids: [], format: 'postwright', notice_email: '' }

/** Names of products, in every language. */
const FORMATS = [
  { value: 'postwright', label: 'Postwright' },
  { value: 'resend', label: 'Resend' },
] as const

export function NewWebhook({ close, show }: { close: () => void; show: ShowSecrets }) {
  const { t } = useTranslation()
  const create = useWrite('createMailWebhookOperation', ['listMailWebhooksOperation'])
  const fields = useFields(EMPTY, create.error)
  const submit = () =>
    create.mutate(
      { body: bodyOf(fields.values) },
      {
        onSuccess: ({ secret }) => {
          close()
          show([[t('webhooks.secret'), secret]])
        },
      },
    )
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('ui.create')} cancel={close}>
      <SettingsFields fields={fields} />
    </SubmitForm>
  )
}

export function EditWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const { t } = useTranslation()
  const patch = useWrite('patchMailWebhookOperation', ['listMailWebhooksOperation', 'getMailWebhookOperation'])
  const { name, url, events, domain_ids, format, notice_email } = webhook
  const chosen = EVENT_TYPES.filter(type => events.includes(type))
  const fields = useFields(
    { name, url, domain_ids, events: chosen, format, notice_email: notice_email ?? '' },
    patch.error,
  )
  const saved = useSaveCallbacks(close)
  const submit = () => patch.mutate({ params: { id: webhook.id }, body: bodyOf(fields.values) }, saved)
  return (
    <SubmitForm state={patch} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <SettingsFields fields={fields} />
    </SubmitForm>
  )
}

function bodyOf({ notice_email, ...rest }: Settings) {
  return { ...rest, url: rest.url.trim(), notice_email: notice_email.trim() || null }
}

function SettingsFields({ fields }: { fields: Pick<Fields<Settings>, 'text' | 'value' | 'values' | 'change'> }) {
  const { t } = useTranslation()
  const known = useRead('listDomainsOperation', { query: { limit: 100 } })
  const { events, domain_ids } = fields.values
  return (
    <>
      <TextInput
        data-autofocus
        label={t('webhooks.url')}
        description={t('webhooks.urlHint')}
        placeholder="https://example.com/hooks/mail"
        autoComplete="off"
        {...fields.text('url')}
      />
      <TextInput
        label={t('webhooks.name')}
        description={t('webhooks.nameHint')}
        autoComplete="off"
        {...fields.text('name')}
      />
      <SearchableMultiSelect
        label={t('webhooks.events')}
        placeholder={events.length === 0 ? t('webhooks.allEvents') : ''}
        data={[...EVENT_TYPES]}
        {...fields.value('events')}
        onChange={values => fields.change({ events: EVENT_TYPES.filter(type => values.includes(type)) })}
      />
      <SearchableMultiSelect
        label={t('webhooks.domains')}
        placeholder={domain_ids.length === 0 ? t('webhooks.allDomains') : ''}
        data={known.data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        {...fields.value('domain_ids')}
      />
      <Select
        label={t('webhooks.format')}
        description={t('webhooks.formatHint')}
        data={FORMATS}
        allowDeselect={false}
        {...fields.value('format')}
        onChange={value => fields.change({ format: value === 'resend' ? value : 'postwright' })}
      />
      <TextInput
        label={t('webhooks.notice')}
        description={t('webhooks.noticeHint')}
        type="email"
        autoComplete="off"
        {...fields.text('notice_email')}
      />
    </>
  )
}
