/** Message log: filters and cursor in the address, newest first, live updates on the first page. */
import { Switch, Tooltip } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { QueueControl } from '../../queue/queue-control.tsx'
import { Empty, Loaded, NoMatch } from '../../ui/feedback/content-states.tsx'
import { CursorPager } from '../../ui/layout/cursor-pager.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type LiveState, useLiveEvents } from '../events/use-live-events.ts'
import { SendButton } from '../send/send-button.tsx'
import { MessageFilters } from './message-filters.tsx'
import { type FilterChange, isFiltered, type MessageSearch, messageQuery } from './message-search.ts'
import { MessageTable } from './message-table.tsx'

const route = getRouteApi('/shell/messages')

export function MessagesPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [live, setLive] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const state = useLiveEvents(live && search.after === undefined, ['listEmails'], attempt)
  const query = useRead('listEmails', { query: messageQuery(search) }, { poll: state === 'polling' ? 10_000 : false })
  const switchLive = (on: boolean) => {
    setLive(on)
    if (on) setAttempt(attempt + 1)
  }
  const go = (change: FilterChange) =>
    void navigate({ search: omitUndefined({ ...search, after: undefined, ...change }), replace: true })
  return (
    <Page
      title={t('messages.title')}
      lead={t('messages.lead')}
      actions={
        <>
          <LiveSwitch state={state} live={live} set={switchLive} disabled={search.after !== undefined} />
          <SendButton />
        </>
      }
    >
      <QueueControl />
      <MessageFilters search={search} go={go} />
      <Card flush>
        <Loaded query={query}>
          {page =>
            page.data.length === 0 ? (
              <NoMessages search={search} reset={() => void navigate({ search: {} })} />
            ) : (
              <MessageTable messages={page.data} />
            )
          }
        </Loaded>
      </Card>
      <CursorPager
        after={search.after}
        next={query.data?.has_more ? (query.data.next ?? undefined) : undefined}
        go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      />
    </Page>
  )
}

/** Off while the stream is interrupted; switching it on opens the stream again at once. */
function LiveSwitch(props: { state: LiveState; live: boolean; set: (live: boolean) => void; disabled: boolean }) {
  const { t } = useTranslation()
  const { state, live, set, disabled } = props
  const isBroken = live && state === 'polling'
  const labels = { off: 'live', connecting: 'liveConnecting', streaming: 'live', polling: 'liveBroken' } as const
  return (
    <Tooltip label={t('messages.liveBrokenHint')} disabled={!isBroken} multiline w={280}>
      <Switch
        label={t(`messages.${live && !disabled ? labels[state] : 'live'}`)}
        checked={live && !isBroken}
        onChange={event => set(event.currentTarget.checked)}
        disabled={disabled}
        mr="sm"
      />
    </Tooltip>
  )
}

function NoMessages({ search, reset }: { search: MessageSearch; reset: () => void }) {
  const { t } = useTranslation()
  if (isFiltered(search)) return <NoMatch reset={reset} />
  return (
    <Empty title={t('messages.none')} action={<SendButton />}>
      {t('messages.noneHint')}
    </Empty>
  )
}
