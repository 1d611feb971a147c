/** Form that creates a webhook of an app or changes it. */
import { TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { SearchableMultiSelect } from '../../ui/forms/searchable-select.tsx'
import type { ShowSecrets } from '../../ui/forms/secret-once.tsx'
import { type Fields, useFields } from '../../ui/forms/use-fields.ts'
import { useSubWrite } from '../shared/subscriptions-api.ts'
import { APP_EVENT_TYPES, type AppEventType, type AppWebhook } from './app-webhook-types.ts'

interface Settings {
  url: string
  events: AppEventType[]
}

export function NewAppWebhook(props: { appId: string; close: () => void; show: ShowSecrets }) {
  const { t } = useTranslation()
  const { appId, close, show } = props
  const create = useSubWrite('createWebhookOperation')
  const fields = useFields<Settings>({ url: '', events: [] }, create.error)
  const { url, events } = fields.values
  const submit = () =>
    create.mutate(
      { params: { id: appId }, body: { url: url.trim(), events } },
      {
        onSuccess: ({ secret }) => {
          close()
          show([[t('webhooks.secret'), secret ?? '']])
        },
      },
    )
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('ui.create')} cancel={close}>
      <SettingsFields fields={fields} />
    </SubmitForm>
  )
}

export function EditAppWebhook(props: { appId: string; webhook: AppWebhook; close: () => void }) {
  const { t } = useTranslation()
  const { appId, webhook, close } = props
  const update = useSubWrite('updateWebhookOperation')
  const chosen = APP_EVENT_TYPES.filter(type => webhook.events.includes(type))
  const fields = useFields<Settings>({ url: webhook.url, events: chosen }, update.error)
  const saved = useSaveCallbacks(close)
  const { url, events } = fields.values
  const submit = () =>
    update.mutate({ params: { id: appId, webhook: webhook.id }, body: { url: url.trim(), events } }, saved)
  return (
    <SubmitForm state={update} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <SettingsFields fields={fields} />
    </SubmitForm>
  )
}

function SettingsFields({ fields }: { fields: Pick<Fields<Settings>, 'text' | 'value' | 'values' | 'change'> }) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        data-autofocus
        label={t('webhooks.url')}
        description={t('webhooks.urlHint')}
        placeholder="https://example.com/hooks/subscriptions"
        autoComplete="off"
        {...fields.text('url')}
      />
      <SearchableMultiSelect
        label={t('webhooks.events')}
        placeholder={fields.values.events.length === 0 ? t('webhooks.allEvents') : ''}
        data={[...APP_EVENT_TYPES]}
        {...fields.value('events')}
        onChange={values => fields.change({ events: APP_EVENT_TYPES.filter(type => values.includes(type)) })}
      />
    </>
  )
}
