/** Form of an app. Signature and mail settings can be changed once the app exists. */
import { Switch, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { SubmitForm } from '../../ui/forms/form.tsx'
import type { ShowSecrets } from '../../ui/forms/secret-once.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import type { SubApp } from '../shared/app-scope.tsx'
import { useSubWrite } from '../shared/subscriptions-api.ts'

/** `show` receives the keys of a new app. */
export function AppForm({ app, close, show }: { app?: SubApp; close: () => void; show?: ShowSecrets }) {
  const { t } = useTranslation()
  const create = useSubWrite('createAppOperation')
  const update = useSubWrite('updateAppOperation')
  const write = app ? update : create
  const fields = useFields(() => fieldsOf(app), write.error)
  const submit = () => {
    const { app_name, app_key, app_description, status, require_signature, mail_from } = fields.values
    const body = { app_name: app_name.trim(), app_description, status: status ? '1' : '0' }
    if (app) {
      const settings = { require_signature: require_signature ? '1' : '0', mail_from: mail_from.trim() }
      const changed = { ...body, ...settings, version: app.version }
      return update.mutate({ params: { id: app.id }, body: changed }, { onSuccess: close })
    }
    return create.mutate(
      { body: { ...body, ...(app_key === '' ? {} : { app_key: app_key.trim() }) } },
      {
        onSuccess: made => {
          close()
          show?.(
            [
              [t('subs.appKey'), made.app_key],
              [t('subs.publishableKey'), made.publishable_key],
              [t('subs.appSecret'), made.app_secret],
            ],
            { note: t('subs.secretKeyOnly') },
          )
        },
      },
    )
  }
  return (
    <SubmitForm state={write} fields={fields} submit={submit} action={t(app ? 'ui.save' : 'ui.create')} cancel={close}>
      <TextInput data-autofocus label={t('subs.name')} {...fields.text('app_name')} />
      {app ? null : (
        <TextInput
          label={t('subs.appKey')}
          description={t('subs.appKeyHint')}
          placeholder="shop"
          {...fields.text('app_key')}
        />
      )}
      <Textarea label={t('subs.description')} autosize minRows={2} {...fields.text('app_description')} />
      <Switch label={t('subs.on')} {...fields.flag('status')} />
      {app ? (
        <>
          <Switch
            label={t('subs.requireSignature')}
            description={t('subs.requireSignatureHint')}
            {...fields.flag('require_signature')}
          />
          <TextInput
            label={t('subs.mailFrom')}
            description={t('subs.mailFromHint')}
            type="email"
            autoComplete="off"
            spellCheck={false}
            {...fields.text('mail_from')}
          />
        </>
      ) : null}
    </SubmitForm>
  )
}

function fieldsOf(app: SubApp | undefined) {
  return {
    app_name: app?.app_name ?? '',
    app_key: '',
    app_description: app?.app_description ?? '',
    status: app?.status !== '0',
    require_signature: app?.require_signature === '1',
    mail_from: app?.mail_from ?? '',
  }
}
