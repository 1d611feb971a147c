/** Sends a test message through the API and links to its log entry. */
import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconMailCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { ContentState, Loaded } from '../../ui/feedback/content-states.tsx'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { Card, Page } from '../../ui/layout/page.tsx'

export function SendPage() {
  const { t } = useTranslation()
  return (
    <Page title={t('messages.sendTitle')} lead={t('messages.sendLead')}>
      <Card>
        <SendFromDomain />
      </Card>
    </Page>
  )
}

/** The form with a sender of the first domain that may send. */
function SendFromDomain() {
  const { t } = useTranslation()
  const query = useRead('listDomainsOperation', { query: { limit: 100 } })
  return (
    <Loaded query={query}>
      {({ data }) => {
        const sender = data.find(domain => domain.may_send)?.name
        return (
          <Stack gap="md">
            {sender ? null : (
              <Note tone="info">
                {t('messages.noSender')}{' '}
                <Link to="/domains" className="pw-link">
                  {t('nav.domains')}
                </Link>
              </Note>
            )}
            <SendForm from={sender ? `hello@${sender}` : ''} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** `from` and `to` are the initial addresses. */
export function SendForm({ from = '', to = '' }: { from?: string; to?: string }) {
  const { t } = useTranslation()
  const send = useWrite('sendEmail', ['listEmails', 'getStats', 'listInbox'])
  const fields = useFields(
    { from, to, subject: t('messages.subjectDefault'), text: t('messages.textDefault') },
    send.error,
  )
  if (send.data?.object === 'email') return <Sent id={send.data.id} again={() => send.reset()} />
  return (
    <div className="pw-form">
      <SubmitForm
        needs="developer"
        state={send}
        fields={fields}
        submit={() => send.mutate({ body: fields.values })}
        action={t('messages.sendAction')}
      >
        <TextInput type="email" label={t('messages.from')} placeholder="hello@example.com" {...fields.text('from')} />
        <TextInput type="email" label={t('messages.to')} placeholder="you@example.org" {...fields.text('to')} />
        <TextInput label={t('messages.subject')} {...fields.text('subject')} />
        <Textarea label={t('messages.text')} autosize minRows={5} {...fields.text('text')} />
      </SubmitForm>
    </div>
  )
}

function Sent({ id, again }: { id: string; again: () => void }) {
  const { t } = useTranslation()
  return (
    <div role="status">
      <ContentState
        icon={<IconMailCheck size={26} />}
        title={t('messages.sent')}
        action={
          <Group>
            <Button renderRoot={props => <Link {...props} to="/messages/$id" params={{ id }} />}>
              {t('messages.view')}
            </Button>
            <Button variant="default" onClick={again}>
              {t('messages.sendAnother')}
            </Button>
          </Group>
        }
      >
        <Text fz="sm">{t('messages.sentHint')}</Text>
        <span className="pw-mono">{id}</span>
      </ContentState>
    </div>
  )
}
