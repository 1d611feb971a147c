import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import { MailStatusBadge } from './mail-status-badge.tsx'

type Message = Output<'listEmails'>['data'][number]

export function MessageTable({ messages }: { messages: readonly Message[] }) {
  const { t } = useTranslation()
  const columns: Column<Message>[] = [
    { label: t('messages.state'), cell: message => <MailStatusBadge status={message.status} /> },
    {
      label: t('messages.subject'),
      cell: message => (
        <Link to="/messages/$id" params={{ id: message.id }} className="pw-link">
          {message.subject || t('messages.noSubject')}
        </Link>
      ),
    },
    { label: t('messages.from'), cell: message => message.from },
    { label: t('messages.to'), cell: message => <Recipients message={message} /> },
    { label: t('messages.accepted'), cell: message => <Time at={message.created_at} /> },
  ]
  return <DataTable name={t('messages.title')} columns={columns} rows={messages} rowKey={message => message.id} />
}

function Recipients({ message }: { message: Message }) {
  const { t } = useTranslation()
  const [first, ...others] = message.recipients
  return (
    <>
      {first?.email}
      {others.length > 0 ? <span className="pw-more">{t('messages.more', { count: others.length })}</span> : null}
    </>
  )
}
