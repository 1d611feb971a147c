/** The payment channels of an app: settings that are shown, secrets of which only is said whether they are set. */
import { Button, Group, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Copyable } from '../ui/copy.tsx'
import { Dialog, SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { Card } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'
import { Status } from '../ui/status.tsx'
import { type SubOutput, useSubRead, useSubWrite } from './api.ts'
import { CHANNELS, type ChannelField, type ChannelName, channelBody } from './channels.ts'

type Channel = SubOutput<'listChannelsOperation'>['channels'][number]

/** The card. */
export function PaymentChannels({ appId }: { appId: string }) {
  const { t } = useTranslation()
  const query = useSubRead('listChannelsOperation', { params: { id: appId } })
  return (
    <Card title={t('subs.channels')} flush>
      <Loaded query={query}>
        {({ channels }) =>
          (Object.keys(CHANNELS) as ChannelName[]).map(name => (
            <ChannelRow key={name} appId={appId} name={name} channel={channels.find(one => one.channel === name)} />
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

function ChannelRow({ appId, name, channel }: Row) {
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
          <Status tone={state === 'on' ? 'ok' : 'quiet'}>{t(`subs.channelState.${state}`)}</Status>
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
      {channel ? (
        <div className="pw-sub">
          {t('subs.notifyPath')} <Copyable value={channel.notify_path} what={t('subs.notifyPath')} />
        </div>
      ) : null}
      <Dialog opened={editing} close={() => edit(false)} title={t(`subs.methods.${name}`)} size="lg">
        {() => <ChannelForm appId={appId} name={name} channel={channel} close={() => edit(false)} />}
      </Dialog>
    </section>
  )
}

function ChannelForm({ appId, name, channel, close }: Row & { close: () => void }) {
  const { t } = useTranslation()
  const put = useSubWrite('putChannel')
  const [enabled, setEnabled] = useState(channel?.enabled !== '0')
  const [values, setValues] = useState<Record<string, string>>(channel?.settings ?? {})
  const submit = () =>
    put.mutate(
      { params: { id: appId, channel: name }, body: { enabled: enabled ? '1' : '0', ...channelBody(name, values) } },
      {
        onSuccess: () => {
          close()
          tellDone(t('ui.saved'))
        },
      },
    )
  return (
    <SubmitForm state={put} submit={submit} action={t('ui.save')} cancel={close}>
      <Stack gap="md">
        <Switch
          label={t('subs.channelOn')}
          description={t('subs.channelOnHint')}
          checked={enabled}
          onChange={event => setEnabled(event.currentTarget.checked)}
        />
        {CHANNELS[name].map(field => (
          <Field
            key={field.name}
            field={field}
            isSet={channel?.secrets[field.name] === true}
            value={values[field.name] ?? ''}
            set={value => setValues({ ...values, [field.name]: value })}
          />
        ))}
      </Stack>
    </SubmitForm>
  )
}

function Field(props: { field: ChannelField; isSet: boolean; value: string; set: (value: string) => void }) {
  const { t } = useTranslation()
  const { field, isSet, value, set } = props
  if (field.flag)
    return (
      <Switch
        label={field.name}
        checked={value === '1'}
        onChange={event => set(event.currentTarget.checked ? '1' : '0')}
      />
    )
  const Input = field.long ? Textarea : TextInput
  return (
    <Input
      label={<span className="pw-mono">{field.name}</span>}
      {...(field.secret && isSet ? { description: t('subs.secretIsSet') } : {})}
      {...(field.long ? { autosize: true, minRows: 3, maxRows: 8 } : {})}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={event => set(event.currentTarget.value)}
    />
  )
}
