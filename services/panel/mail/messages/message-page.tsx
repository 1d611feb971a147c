/** Page of a message: delivery timeline, preview, source, details, actions. */
import { Group, Tabs } from '@mantine/core'
import { IconArrowLeft, IconCode, IconEye, IconListDetails, IconRoute } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { Loaded, LoadingRows } from '../../ui/feedback/content-states.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { useLiveEvents } from '../events/use-live-events.ts'
import { MailStatusBadge } from './mail-status-badge.tsx'
import { isInProgress } from './mail-statuses.ts'
import { MessageActions } from './message-actions.tsx'
import { MessageDetails } from './message-details.tsx'
import { MessagePreview, MessageSource } from './message-source.tsx'
import { MESSAGE_TABS, messageTab } from './message-tabs.ts'
import { MessageTimeline } from './message-timeline.tsx'

type Message = Output<'getEmail'>

const SLOW_MS = 10_000

const ICONS = { timeline: IconRoute, preview: IconEye, source: IconCode, facts: IconListDetails }

const route = getRouteApi('/shell/messages/$id')

export function MessagePage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const waiting = (message: Message | undefined) => message !== undefined && isInProgress(message.status)
  // Polls in addition to the event stream, because proxies may block the stream.
  const query = useRead('getEmail', { params: { id } }, { poll: message => waiting(message) && SLOW_MS })
  useLiveEvents(waiting(query.data), ['getEmail', 'listEmailAttempts', 'explainEmail'])
  return (
    <Page
      title={query.data ? query.data.subject || t('messages.noSubject') : t('messages.one')}
      lead={
        <Group gap="xs">
          <Link to="/messages" className="pw-link">
            <IconArrowLeft size={14} className="pw-inline-icon" /> {t('messages.title')}
          </Link>
          {query.data ? <MailStatusBadge status={query.data.status} /> : null}
        </Group>
      }
      actions={query.data ? <MessageActions message={query.data} /> : null}
    >
      <Loaded
        query={query}
        loading={
          <Card>
            <LoadingRows rows={7} />
          </Card>
        }
      >
        {message => <MessageTabs message={message} />}
      </Loaded>
    </Page>
  )
}

function MessageTabs({ message }: { message: Message }) {
  const { t } = useTranslation()
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const base = `/api/v1/emails/${encodeURIComponent(message.id)}`
  return (
    <Tabs
      value={tab ?? 'timeline'}
      onChange={value => void navigate({ search: messageTab({ tab: value }), replace: true })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {MESSAGE_TABS.map(name => {
          const TabIcon = ICONS[name]
          return (
            <Tabs.Tab key={name} value={name} leftSection={<TabIcon size={16} stroke={1.7} />}>
              {t(`messages.tab.${name}`)}
            </Tabs.Tab>
          )
        })}
      </Tabs.List>
      <Tabs.Panel value="timeline">
        <MessageTimeline message={message} />
      </Tabs.Panel>
      <Tabs.Panel value="preview">
        <MessagePreview src={`${base}/preview`} available={message.has_raw} />
      </Tabs.Panel>
      <Tabs.Panel value="source">
        <MessageSource path={`${base}/raw`} available={message.has_raw} />
      </Tabs.Panel>
      <Tabs.Panel value="facts">
        <MessageDetails message={message} />
      </Tabs.Panel>
    </Tabs>
  )
}
