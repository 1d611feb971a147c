/** Inbox of capture mode: messages that were stored instead of delivered. */
import { Button, Drawer, Tabs } from '@mantine/core'
import { IconInbox } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { useTrial } from '../../session/session.ts'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { CursorPager, nextCursor } from '../../ui/layout/cursor-pager.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import { useLiveEvents } from '../events/use-live-events.ts'
import { MessagePreview, MessageSource } from './message-source.tsx'

type Captured = Output<'listInbox'>['data'][number]

const route = getRouteApi('/shell/inbox')

/** Outside of capture mode the page only explains that there is no inbox. */
export function CapturedMailPage() {
  return useTrial() ? <Inbox /> : <InboxOff />
}

function InboxOff() {
  const { t } = useTranslation()
  const log = (
    <Button variant="default" renderRoot={rest => <Link {...rest} to="/messages" />}>
      {t('start.viewLog')}
    </Button>
  )
  return (
    <Page title={t('messages.inboxTitle')}>
      <Card flush>
        <Empty icon={<IconInbox size={26} />} title={t('messages.inboxOff')} action={log}>
          {t('messages.inboxOffHint')}
        </Empty>
      </Card>
    </Page>
  )
}

function Inbox() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const place = search.after ? { after: search.after } : {}
  const live = useLiveEvents(search.after === undefined, ['listInbox'])
  const query = useRead('listInbox', { query: place }, { poll: live === 'polling' ? 5000 : false })
  const opened = query.data?.data.find(item => item.id === search.open)
  return (
    <Page title={t('messages.inboxTitle')} lead={t('messages.inboxLead')}>
      <Card flush>
        <Loaded query={query}>{page => <CapturedMailTable items={page.data} place={place} />}</Loaded>
      </Card>
      <CursorPager
        after={search.after}
        next={query.data ? nextCursor(query.data) : undefined}
        go={after => void navigate({ search: after ? { after } : {} })}
      />
      <Drawer
        opened={opened !== undefined}
        onClose={() => void navigate({ search: place })}
        position="right"
        size="lg"
        title={opened?.subject || t('messages.noSubject')}
        closeButtonProps={{ 'aria-label': t('ui.close') }}
      >
        {opened ? <Content item={opened} /> : null}
      </Drawer>
    </Page>
  )
}

function CapturedMailTable({ items, place }: { items: readonly Captured[]; place: { after?: string } }) {
  const { t } = useTranslation()
  if (items.length === 0)
    return (
      <Empty icon={<IconInbox size={26} />} title={t('messages.inboxEmpty')}>
        {t('messages.inboxEmptyHint')}
      </Empty>
    )
  const columns: Column<Captured>[] = [
    {
      label: t('messages.subject'),
      text: true,
      cell: item => (
        <Link to="/inbox" search={{ ...place, open: item.id }} className="pw-link">
          {item.subject || t('messages.noSubject')}
        </Link>
      ),
    },
    { label: t('messages.from'), text: true, cell: item => item.from },
    { label: t('messages.to'), text: true, cell: item => item.to },
    { label: t('messages.received'), cell: item => <Time at={item.received_at} /> },
  ]
  return <DataTable name={t('messages.inboxTitle')} columns={columns} rows={items} rowKey={item => item.id} />
}

function Content({ item }: { item: Captured }) {
  const { t } = useTranslation()
  const base = `/api/v1/inbox/${encodeURIComponent(item.id)}`
  return (
    <Tabs defaultValue="preview" keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="preview">{t('messages.tab.preview')}</Tabs.Tab>
        <Tabs.Tab value="source">{t('messages.tab.source')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="preview">
        <Link to="/messages/$id" params={{ id: item.email_id }} className="pw-link pw-block-link">
          {t('messages.viewInLog')}
        </Link>
        <MessagePreview src={`${base}/preview`} available />
      </Tabs.Panel>
      <Tabs.Panel value="source">
        <MessageSource path={`${base}/raw`} available />
      </Tabs.Panel>
    </Tabs>
  )
}
