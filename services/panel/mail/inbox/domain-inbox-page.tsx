/** Page of a domain's inbox: its captured mail, by recipient and subject. Place, filters and the open message are in the address. */
import { Button, Drawer, Group } from '@mantine/core'
import { IconArrowLeft, IconInbox, IconTrash } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead, useWrite } from '../../api/hooks.ts'
import { useTrial } from '../../session/session.ts'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { CursorPager, nextCursor } from '../../ui/layout/cursor-pager.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { ShortList } from '../../ui/values/short-list.tsx'
import { Time } from '../../ui/values/time.tsx'
import { DeliveryBadge } from '../domains/delivery-badge.tsx'
import { InboxMessage } from './inbox-message.tsx'

type Captured = Output<'listInboxMessagesOperation'>['data'][number]

const route = getRouteApi('/shell/domains/$id/inbox')

/** New mail appears after this time, in milliseconds. */
const POLL_MS = 3_000

export function DomainInboxPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const { open, ...query } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: domain } = useRead('getDomainOperation', { params: { id } })
  const poll = query.after === undefined ? POLL_MS : false
  const list = useRead('listInboxMessagesOperation', { params: { id }, query }, { poll })
  const name = domain?.name ?? id
  const trial = useTrial()
  return (
    <Page
      title={t('inbox.title', { name })}
      lead={
        <Group gap="xs">
          <Link to="/domains/$id" params={{ id }} className="pw-link">
            <IconArrowLeft size={14} className="pw-inline-icon" /> {name}
          </Link>
          {domain ? <DeliveryBadge domain={domain} /> : null}
          <span>{t('inbox.lead')}</span>
        </Group>
      }
      actions={<EmptyInbox id={id} name={name} />}
    >
      {domain?.delivery === 'live' && !trial ? <Note tone="info">{t('inbox.live')}</Note> : null}
      <Filters />
      <Card flush>
        <Loaded query={list}>{page => <Messages rows={page.data} />}</Loaded>
      </Card>
      <CursorPager
        after={query.after}
        next={list.data ? nextCursor(list.data) : undefined}
        go={after => void navigate({ search: omitUndefined({ ...query, after }) })}
      />
      <Drawer
        opened={open !== undefined}
        onClose={() => void navigate({ search: omitUndefined(query) })}
        position="right"
        size="xl"
        title={t('inbox.link')}
        closeButtonProps={{ 'aria-label': t('ui.close') }}
      >
        {open === undefined ? null : (
          <InboxMessage domain={id} id={open} onDeleted={() => void navigate({ search: omitUndefined(query) })} />
        )}
      </Drawer>
    </Page>
  )
}

function Filters() {
  const { t } = useTranslation()
  const { to, subject } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (change: { to?: string | undefined; subject?: string | undefined }) =>
    void navigate({ search: omitUndefined({ to, subject, ...change }) })
  return (
    <Group gap="xs" align="flex-end" role="search">
      <TextFilter label={t('inbox.to')} value={to ?? ''} set={value => go({ to: value || undefined })} wide />
      <TextFilter label={t('inbox.subject')} value={subject ?? ''} set={value => go({ subject: value || undefined })} />
    </Group>
  )
}

function Messages({ rows }: { rows: readonly Captured[] }) {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const search = route.useSearch()
  const isFiltered = search.to !== undefined || search.subject !== undefined
  if (rows.length === 0)
    return (
      <Empty icon={<IconInbox size={26} />} title={t(isFiltered ? 'inbox.none' : 'inbox.empty')}>
        {t(isFiltered ? 'inbox.noneHint' : 'inbox.emptyHint')}
      </Empty>
    )
  const columns: Column<Captured>[] = [
    {
      label: t('messages.subject'),
      text: true,
      cell: row => (
        <Link to="/domains/$id/inbox" params={{ id }} search={{ ...search, open: row.id }} className="pw-link">
          {row.subject || t('messages.noSubject')}
        </Link>
      ),
    },
    { label: t('messages.to'), text: true, cell: row => <ShortList of={row.to} most={SHOWN_RECIPIENTS} /> },
    { label: t('messages.from'), text: true, cell: row => row.from || '<>' },
    { label: t('messages.received'), cell: row => <Time at={row.received_at} /> },
  ]
  return <DataTable name={t('inbox.link')} columns={columns} rows={rows} rowKey={row => row.id} />
}

/** Recipients that a row of the list has room for; a message has up to a hundred. */
const SHOWN_RECIPIENTS = 3

function EmptyInbox({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const empty = useWrite('emptyInboxOperation', ['listInboxMessagesOperation'])
  return (
    <>
      <NeedsRole needs="developer">
        <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => setAsking(true)}>
          {t('inbox.deleteAll')}
        </Button>
      </NeedsRole>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('inbox.deleteAllTitle', { name })}
        action={t('inbox.deleteAll')}
        run={async () => {
          await empty.mutateAsync({ params: { id } })
          notifySuccess(t('inbox.deleted'))
        }}
      >
        {t('inbox.deleteAllText')}
      </ConfirmDialog>
    </>
  )
}
