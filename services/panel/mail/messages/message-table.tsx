/** Rows of the message log. A row is one link: the subject's, which covers it. */
import { Checkbox } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import type { TableOrder } from '../../ui/layout/list-order.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Moment } from '../../ui/values/time.tsx'
import { MailStatusBadge } from './mail-status-badge.tsx'

/** A message of a list. */
export type ListedMessage = Output<'listEmails'>['data'][number]

/** Ids of the selected messages, and changes of the selection. */
export interface Selection {
  ids: ReadonlySet<string>
  set: (ids: ReadonlySet<string>) => void
}

export function MessageTable(props: { messages: readonly ListedMessage[]; selection?: Selection; order?: TableOrder }) {
  const { messages, selection, order } = props
  const { t } = useTranslation()
  const columns: Column<ListedMessage>[] = [
    ...(selection ? [selectionColumn(messages, selection, t('messages.select'))] : []),
    { label: t('messages.state'), cell: message => <StatusAndReason message={message} /> },
    {
      label: t('messages.subject'),
      text: true,
      cell: message => (
        <Link to="/messages/$id" params={{ id: message.id }} className="pw-link pw-row-link">
          {message.subject || t('messages.noSubject')}
        </Link>
      ),
    },
    { label: t('messages.from'), under: t('messages.subject'), text: true, cell: message => message.from },
    {
      label: t('messages.to'),
      under: t('messages.subject'),
      text: true,
      cell: message => <Recipients message={message} />,
    },
    { label: t('messages.accepted'), by: 'created_at', cell: message => <Moment at={message.created_at} /> },
  ]
  return (
    <DataTable
      order={order}
      name={t('messages.title')}
      columns={columns}
      rows={messages}
      rowKey={message => message.id}
    />
  )
}

function selectionColumn(
  messages: readonly ListedMessage[],
  { ids, set }: Selection,
  label: string,
): Column<ListedMessage> {
  const isChosen = ({ id }: ListedMessage) => ids.has(id)
  return {
    label,
    hidden: true,
    head: (
      <SelectAll
        checked={messages.every(isChosen)}
        some={messages.some(isChosen)}
        set={all => set(new Set(all ? messages.map(({ id }) => id) : []))}
      />
    ),
    cell: message => <SelectOne message={message} selection={{ ids, set }} />,
  }
}

function SelectAll(props: { checked: boolean; some: boolean; set: (all: boolean) => void }) {
  const { t } = useTranslation()
  return (
    <Checkbox
      size="xs"
      aria-label={t('messages.selectAll')}
      checked={props.checked}
      indeterminate={props.some && !props.checked}
      onChange={event => props.set(event.currentTarget.checked)}
    />
  )
}

function SelectOne({ message, selection: { ids, set } }: { message: ListedMessage; selection: Selection }) {
  const { t } = useTranslation()
  const change = (chosen: boolean) =>
    set(chosen ? new Set([...ids, message.id]) : new Set([...ids].filter(id => id !== message.id)))
  return (
    <Checkbox
      size="xs"
      className="pw-above-row"
      aria-label={t('messages.selectOne', { subject: message.subject || t('messages.noSubject') })}
      checked={ids.has(message.id)}
      onChange={event => change(event.currentTarget.checked)}
    />
  )
}

/** The class of the failure and the codes of the reply, below the status that they explain. */
function StatusAndReason({ message }: { message: ListedMessage }) {
  const { t } = useTranslation()
  const { status, recipients } = message
  const decisive = recipients.find(recipient => recipient.status === status)
  const codes = decisive && status !== 'delivered' ? [decisive.smtp_code, decisive.enhanced_code].filter(Boolean) : []
  const parts = [...(decisive?.reason ? [t(`messages.reasons.${decisive.reason}`)] : []), codes.join(' ')]
  const reason = parts.filter(Boolean).join(' · ')
  return (
    <>
      <MailStatusBadge status={status} />
      {reason ? <span className="pw-sub">{reason}</span> : null}
    </>
  )
}

function Recipients({ message }: { message: ListedMessage }) {
  const { t } = useTranslation()
  const [first, ...others] = message.recipients
  return (
    <>
      {first?.email}
      {others.length > 0 ? <span className="pw-more">{t('messages.more', { count: others.length })}</span> : null}
    </>
  )
}
