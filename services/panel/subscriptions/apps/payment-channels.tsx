/** Payment channels of an app. Secrets are write-only: the API only reports whether they are set. */
import { Box, Button, Group, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { type Fields, useFields } from '../../ui/forms/use-fields.ts'
import { Card } from '../../ui/layout/page.tsx'
import { Copyable } from '../../ui/values/copy-button.tsx'
import type { SubApp } from '../shared/app-scope.tsx'
import { type SubOutput, useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { ChannelGuide } from './channel-guide.tsx'
import {
  CHANNELS,
  type ChannelName,
  channelBody,
  type ChannelField as FieldOfChannel,
} from './payment-channel-settings.ts'

type Channel = SubOutput<'listChannelsOperation'>['channels'][number]

export function PaymentChannels({ app }: { app: SubApp }) {
  const { t } = useTranslation()
  const query = useSubRead('listChannelsOperation', { params: { id: app.id } })
  return (
    <Card title={t('subs.channels')} flush>
      <Loaded query={query}>
        {({ channels, notify_base_url }) =>
          (Object.keys(CHANNELS) as ChannelName[]).map(name => (
            <ChannelRow
              key={name}
              appId={app.id}
              name={name}
              channel={channels.find(one => one.channel === name)}
              notifyUrl={`${notify_base_url.replace(/\/$/, '')}/notify/${name}/${app.app_key}`}
            />
          ))
        }
      </Loaded>
    </Card>
  )
}

interface Row {
  appId: string
  name: ChannelName
  channel: Channel | undefined
}

/** `notifyUrl` is a path only where the address of the API is not configured. */
function ChannelRow({ appId, name, channel, notifyUrl }: Row & { notifyUrl: string }) {
  const { t } = useTranslation()
  const [editing, edit] = useState(false)
  const state = channel ? (channel.enabled === '1' ? 'on' : 'off') : 'unset'
  return (
    <section className="pw-record" aria-label={t(`subs.methods.${name}`)}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text fw={600} fz="sm">
            {t(`subs.methods.${name}`)}
          </Text>
          <StatusBadge tone={state === 'on' ? 'ok' : 'quiet'}>{t(`subs.channelState.${state}`)}</StatusBadge>
        </Group>
        <Button
          variant="default"
          size="xs"
          onClick={() => edit(true)}
          aria-label={`${t('subs.setUp')}: ${t(`subs.methods.${name}`)}`}
        >
          {t('subs.setUp')}
        </Button>
      </Group>
      <Box className="pw-sub" mt={6}>
        {t('subs.notifyUrl')} <Copyable value={notifyUrl} what={t('subs.notifyUrl')} />
        {notifyUrl.startsWith('/') ? <div>{t('subs.notifyPathOnly')}</div> : null}
      </Box>
      <ChannelGuide name={name} notifyUrl={notifyUrl} />
      <Dialog opened={editing} close={() => edit(false)} title={t(`subs.methods.${name}`)} size="lg">
        {() => <ChannelForm appId={appId} name={name} channel={channel} close={() => edit(false)} />}
      </Dialog>
    </section>
  )
}

function ChannelForm({ appId, name, channel, close }: Row & { close: () => void }) {
  const { t } = useTranslation()
  const put = useSubWrite('putChannel')
  const saved = useSaveCallbacks(close)
  const [enabled, setEnabled] = useState(channel?.enabled !== '0')
  const start = Object.fromEntries(CHANNELS[name].map(field => [field.name, channel?.settings[field.name] ?? '']))
  const fields = useFields<Record<string, string>>(start, put.error)
  const submit = () => {
    const body = { enabled: enabled ? '1' : '0', ...channelBody(name, fields.values) }
    put.mutate({ params: { id: appId, channel: name }, body }, saved)
  }
  return (
    <SubmitForm
      state={put}
      fields={fields}
      unsaved={enabled !== (channel?.enabled !== '0')}
      submit={submit}
      action={t('ui.save')}
      cancel={close}
    >
      <Switch
        label={t('subs.channelOn')}
        description={t('subs.channelOnHint')}
        checked={enabled}
        onChange={event => setEnabled(event.currentTarget.checked)}
      />
      {CHANNELS[name].map(field => (
        <ChannelField key={field.name} field={field} isSet={channel?.secrets[field.name] === true} fields={fields} />
      ))}
    </SubmitForm>
  )
}

function ChannelField(props: { field: FieldOfChannel; isSet: boolean; fields: Fields<Record<string, string>> }) {
  const { t } = useTranslation()
  const { field, isSet, fields } = props
  const bound = fields.text(field.name)
  if (field.flag)
    return (
      <Switch
        label={<span className="pw-mono">{field.name}</span>}
        description={t('guides.fields.sandbox')}
        checked={bound.value === '1'}
        onChange={event => fields.change({ [field.name]: event.currentTarget.checked ? '1' : '0' })}
      />
    )
  const Input = field.long ? Textarea : TextInput
  const meaning = t(`guides.fields.${field.name as 'appid'}`)
  return (
    <Input
      label={<span className="pw-mono">{field.name}</span>}
      description={field.secret && isSet ? `${meaning} ${t('subs.secretIsSet')}` : meaning}
      {...(field.long ? { autosize: true, minRows: 3, maxRows: 8 } : {})}
      autoComplete="off"
      spellCheck={false}
      {...bound}
    />
  )
}
