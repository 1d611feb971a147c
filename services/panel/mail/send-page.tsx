/** Sends one message, the way applications do, and leads to what becomes of it. */
import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconMailCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { SubmitForm } from '../ui/form.tsx'
import { Card, Page } from '../ui/page.tsx'
import { Blank } from '../ui/states.tsx'

/** The page. */
export function SendPage() {
  const { t } = useTranslation()
  return (
    <Page title={t('messages.sendTitle')} lead={t('messages.sendLead')}>
      <Card>
        <SendForm />
      </Card>
    </Page>
  )
}

/** The form; `from` is what stands in the sender field at first. */
export function SendForm({ from = '' }: { from?: string }) {
  const { t } = useTranslation()
  const [fields, setFields] = useState({
    from,
    to: '',
    subject: t('messages.subjectDefault'),
    text: t('messages.textDefault'),
  })
  const send = useWrite('sendEmail', ['listEmails', 'getStats', 'listInbox'])
  const field = (name: keyof typeof fields) => ({
    value: fields[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setFields({ ...fields, [name]: event.currentTarget.value }),
  })
  if (send.data?.object === 'email') return <Sent id={send.data.id} again={() => send.reset()} />
  return (
    <div className="pw-form">
      <SubmitForm state={send} submit={() => send.mutate({ body: fields })} action={t('messages.sendAction')}>
        <Stack gap="md">
          <TextInput type="email" label={t('messages.from')} placeholder="hello@example.com" {...field('from')} />
          <TextInput type="email" label={t('messages.to')} placeholder="you@example.org" {...field('to')} />
          <TextInput label={t('messages.subject')} {...field('subject')} />
          <Textarea label={t('messages.text')} autosize minRows={5} {...field('text')} />
        </Stack>
      </SubmitForm>
    </div>
  )
}

function Sent({ id, again }: { id: string; again: () => void }) {
  const { t } = useTranslation()
  return (
    <div role="status">
      <Blank
        icon={<IconMailCheck size={26} />}
        title={t('messages.sent')}
        action={
          <Group>
            <Button renderRoot={props => <Link {...props} to="/messages/$id" params={{ id }} />}>
              {t('messages.follow')}
            </Button>
            <Button variant="default" onClick={again}>
              {t('messages.sendAnother')}
            </Button>
          </Group>
        }
      >
        <Text fz="sm">{t('messages.sentHint')}</Text>
        <span className="pw-mono">{id}</span>
      </Blank>
    </div>
  )
}
