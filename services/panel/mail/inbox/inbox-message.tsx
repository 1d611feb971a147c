/** One captured message: preview, text, links and codes, header, attachments, source. Its content is not trusted. */
import { Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { IconDownload, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead, useWrite } from '../../api/hooks.ts'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { CodeBlock } from '../../ui/values/code-block.tsx'
import { Copyable } from '../../ui/values/copy-button.tsx'
import { DescriptionList } from '../../ui/values/description-list.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { Time } from '../../ui/values/time.tsx'
import { MessagePreview, MessageSource } from '../messages/message-source.tsx'

type Message = Output<'getInboxMessageOperation'>

/** Names one message in calls and addresses. */
interface Place {
  domain: string
  id: string
}

const pathOf = ({ domain, id }: Place) =>
  `/api/v1/domains/${encodeURIComponent(domain)}/inbox/messages/${encodeURIComponent(id)}`

export function InboxMessage({ onDeleted, ...place }: Place & { onDeleted: () => void }) {
  const query = useRead('getInboxMessageOperation', { params: { id: place.domain, message: place.id } })
  return (
    <Loaded query={query}>
      {message => (
        <Stack gap="md">
          <Summary message={message} place={place} onDeleted={onDeleted} />
          <Content message={message} path={pathOf(place)} />
        </Stack>
      )}
    </Loaded>
  )
}

function Summary({ message, place, onDeleted }: { message: Message; place: Place; onDeleted: () => void }) {
  const { t } = useTranslation()
  return (
    <>
      <Text component="h2" fz="lg" fw={600}>
        {message.subject || t('messages.noSubject')}
      </Text>
      <DescriptionList
        entries={[
          [t('messages.from'), message.from || '<>'],
          [t('messages.to'), message.to.join(', ')],
          [t('messages.received'), <Time key="r" at={message.received_at} />],
        ]}
      />
      <Group justify="space-between">
        <Link to="/messages/$id" params={{ id: message.email_id }} className="pw-link">
          {t('messages.viewInLog')}
        </Link>
        <DeleteMessage place={place} onDeleted={onDeleted} />
      </Group>
      {message.truncated ? <Note tone="info">{t('inbox.truncated')}</Note> : null}
    </>
  )
}

function Content({ message, path }: { message: Message; path: string }) {
  const { t } = useTranslation()
  const tabs = [
    ['preview', t('messages.tab.preview'), <MessagePreview key="p" src={`${path}/preview`} available />],
    ['text', t('inbox.text'), <PlainText key="t" text={message.text} />],
    ['links', t('inbox.links'), <LinksAndCodes key="l" message={message} />],
    ['headers', t('inbox.headers'), <Headers key="h" headers={message.headers} />],
    ['attachments', t('inbox.attachments'), <Attachments key="a" message={message} path={path} />],
    ['source', t('messages.tab.source'), <MessageSource key="s" path={`${path}/raw`} available />],
  ] as const
  const shown = tabs.filter(([name]) => name !== 'attachments' || message.attachments.length > 0)
  return (
    <Tabs defaultValue="preview" keepMounted={false}>
      <Tabs.List mb="md">
        {shown.map(([name, label]) => (
          <Tabs.Tab key={name} value={name}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(([name, , panel]) => (
        <Tabs.Panel key={name} value={name}>
          {panel}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

function PlainText({ text }: { text: string | null }) {
  const { t } = useTranslation()
  if (text === null) return <Text c="dimmed">{t('inbox.noText')}</Text>
  return <CodeBlock text={text} what={t('inbox.text')} />
}

/** Addresses are shown and copied, never followed: a message may have any, also those that run a script. */
function LinksAndCodes({ message: { links, codes } }: { message: Message }) {
  const { t } = useTranslation()
  if (links.length === 0 && codes.length === 0) return <Text c="dimmed">{t('inbox.noLinks')}</Text>
  const columns: Column<Message['links'][number]>[] = [
    { label: t('inbox.linkText'), cell: link => link.text },
    { label: t('inbox.address'), cell: link => <Copyable value={link.href} what={t('inbox.address')} /> },
  ]
  return (
    <Stack gap="md">
      {codes.length > 0 ? (
        <DescriptionList
          entries={[
            [
              t('inbox.codes'),
              <Group key="c" gap="xs">
                {codes.map(code => (
                  <Copyable key={code} value={code} what={t('inbox.code')} />
                ))}
              </Group>,
            ],
          ]}
        />
      ) : null}
      {links.length > 0 ? (
        <DataTable
          name={t('inbox.links')}
          columns={columns}
          rows={links}
          rowKey={link => `${link.href} ${link.text}`}
        />
      ) : null}
    </Stack>
  )
}

function Headers({ headers }: Pick<Message, 'headers'>) {
  const { t } = useTranslation()
  return <CodeBlock text={headers.map(({ name, value }) => `${name}: ${value}`).join('\n')} what={t('inbox.headers')} />
}

function Attachments({ message, path }: { message: Message; path: string }) {
  const { t } = useTranslation()
  const { bytes } = useFormat()
  return (
    <Stack gap="xs" align="flex-start">
      {message.attachments.map(({ index, filename, size }) => (
        <Button
          key={index}
          variant="default"
          component="a"
          href={`${path}/attachments/${index}`}
          download={filename}
          leftSection={<IconDownload size={15} />}
          aria-label={`${t('messages.download')}: ${filename}`}
        >
          {filename} · {bytes(size)}
        </Button>
      ))}
    </Stack>
  )
}

function DeleteMessage({ place, onDeleted }: { place: Place; onDeleted: () => void }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const remove = useWrite('deleteInboxMessageOperation', ['listInboxMessagesOperation'])
  return (
    <>
      <NeedsRole needs="developer">
        <Button variant="default" size="xs" leftSection={<IconTrash size={15} />} onClick={() => setAsking(true)}>
          {t('inbox.delete')}
        </Button>
      </NeedsRole>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('inbox.delete')}
        action={t('inbox.delete')}
        run={async () => {
          await remove.mutateAsync({ params: { id: place.domain, message: place.id } })
          notifySuccess(t('inbox.deleted'))
          onDeleted()
        }}
      >
        {t('inbox.deleteText')}
      </ConfirmDialog>
    </>
  )
}
