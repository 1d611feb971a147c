/** The form of an app: a new one gets name and key, one that exists also what it asks for. */
import { Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SubmitForm } from '../ui/form.tsx'
import { useSubWrite } from './api.ts'
import type { SubApp } from './scope.tsx'

/** The form; `show` gets the keys of a new app. */
export function AppForm(props: { app?: SubApp; close: () => void; show?: (entries: [string, string][]) => void }) {
  const { t } = useTranslation()
  const { app, close, show } = props
  const create = useSubWrite('createAppOperation')
  const update = useSubWrite('updateAppOperation')
  const [name, setName] = useState(app?.app_name ?? '')
  const [key, setKey] = useState('')
  const [description, setDescription] = useState(app?.app_description ?? '')
  const [on, setOn] = useState(app?.status !== '0')
  const [signed, setSigned] = useState(app?.require_signature === '1')
  const [mailFrom, setMailFrom] = useState(app?.mail_from ?? '')
  const body = { app_name: name.trim(), app_description: description, status: on ? '1' : '0' }
  const submit = () => {
    if (app) {
      const settings = { require_signature: signed ? '1' : '0', mail_from: mailFrom.trim() }
      const changed = { ...body, ...settings, version: app.version }
      return update.mutate({ params: { id: app.id }, body: changed }, { onSuccess: close })
    }
    return create.mutate(
      { body: { ...body, ...(key === '' ? {} : { app_key: key.trim() }) } },
      {
        onSuccess: made => {
          close()
          show?.([
            [t('subs.appKey'), made.app_key],
            [t('subs.publishableKey'), made.publishable_key],
            [t('subs.appSecret'), made.app_secret],
          ])
        },
      },
    )
  }
  return (
    <SubmitForm state={app ? update : create} submit={submit} action={t('ui.save')} cancel={close}>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label={t('subs.name')}
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        {app ? null : (
          <TextInput
            label={t('subs.appKey')}
            description={t('subs.appKeyHint')}
            placeholder="shop"
            value={key}
            onChange={event => setKey(event.currentTarget.value)}
          />
        )}
        <Textarea
          label={t('subs.description')}
          autosize
          minRows={2}
          value={description}
          onChange={event => setDescription(event.currentTarget.value)}
        />
        <Switch label={t('subs.on')} checked={on} onChange={event => setOn(event.currentTarget.checked)} />
        {app ? (
          <>
            <Switch
              label={t('subs.requireSignature')}
              description={t('subs.requireSignatureHint')}
              checked={signed}
              onChange={event => setSigned(event.currentTarget.checked)}
            />
            <TextInput
              label={t('subs.mailFrom')}
              description={t('subs.mailFromHint')}
              type="email"
              autoComplete="off"
              spellCheck={false}
              value={mailFrom}
              onChange={event => setMailFrom(event.currentTarget.value)}
            />
          </>
        ) : null}
      </Stack>
    </SubmitForm>
  )
}
