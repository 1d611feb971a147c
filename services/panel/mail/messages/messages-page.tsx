/** Message log: filters and cursor in the address, newest first, live updates on the first page. */
import { Group, Select, Switch, Text, Tooltip } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { QueueControl } from '../../queue/queue-control.tsx'
import { Empty, Loaded, NoMatch } from '../../ui/feedback/content-states.tsx'
import { CursorPager } from '../../ui/layout/cursor-pager.tsx'
import { NEWEST_FIRST, tableOrder } from '../../ui/layout/list-order.ts'
import { Card, Page } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { useFormat } from '../../ui/values/number-format.ts'
import { type LiveState, useLiveEvents } from '../events/use-live-events.ts'
import { SendButton } from '../send/send-button.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { ExportMessages } from './export-messages.tsx'
import { MessageFilters } from './message-filters.tsx'
import { type FilterChange, isFiltered, type MessageSearch, messageFilters, PAGE_SIZES } from './message-search.ts'
import { MessageTable } from './message-table.tsx'
import { SavedViews } from './saved-views.tsx'

const route = getRouteApi('/shell/messages')

const NOTHING: ReadonlySet<string> = new Set()

export function MessagesPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [live, setLive] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const [chosen, choose] = useState(NOTHING)
  const { limit = PAGE_SIZES[0], after, order } = search
  // New messages come at the end of a list of the oldest first.
  const isLatest = after === undefined && order === undefined
  const state = useLiveEvents(live && isLatest, ['listEmails'], attempt)
  const filters = messageFilters(search, Date.now())
  const query = useRead(
    'listEmails',
    { query: omitUndefined({ ...filters, limit, after, order }) },
    { poll: state === 'polling' ? 10_000 : false },
  )
  const switchLive = (on: boolean) => {
    setLive(on)
    if (on) setAttempt(attempt + 1)
  }
  const show = (change: MessageSearch, replace = false) => {
    choose(NOTHING)
    void navigate({ search: omitUndefined(change), replace })
  }
  const go = (change: FilterChange) => show(omitUndefined({ ...search, after: undefined, ...change }), true)
  const rows = query.data?.data ?? []
  return (
    <Page
      title={t('messages.title')}
      lead={t('messages.lead')}
      actions={
        <>
          <LiveSwitch state={state} live={live} set={switchLive} disabled={!isLatest} />
          <SendButton />
        </>
      }
    >
      <QueueControl />
      <MessageFilters
        search={search}
        go={go}
        aside={
          <SavedViews search={search} open={view => show(omitUndefined({ ...view, limit: search.limit, order }))} />
        }
      />
      <BulkActions selected={rows.filter(({ id }) => chosen.has(id))} done={() => choose(NOTHING)} />
      <Card flush>
        <Group justify="space-between" px="md" pt="sm" mih={46} gap="xs">
          <MessageCount filters={filters} />
          <ExportMessages search={search} />
        </Group>
        <Loaded query={query}>
          {page =>
            page.data.length > 0 ? (
              <MessageTable
                messages={page.data}
                selection={{ ids: chosen, set: choose }}
                order={tableOrder(NEWEST_FIRST, search, show)}
              />
            ) : page.has_more ? (
              <NotYetFound />
            ) : (
              <NoMessages search={search} reset={() => show({})} />
            )
          }
        </Loaded>
      </Card>
      <Group justify="space-between" gap="xs">
        <PageSize limit={limit} set={chosenLimit => go({ limit: chosenLimit })} />
        <CursorPager
          after={after}
          next={query.data?.has_more ? (query.data.next ?? undefined) : undefined}
          go={cursor => show(omitUndefined({ ...search, after: cursor }))}
        />
      </Group>
    </Page>
  )
}

/** Bounded by the service: "1,000+". */
function MessageCount({ filters }: { filters: ReturnType<typeof messageFilters> }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const query = useRead('countEmails', { query: filters }, { poll: 60_000 })
  return (
    <div>
      <Loaded query={query} inline>
        {({ count, more }) => (
          <Text fz="sm" c="dimmed" role="status">
            {t('messages.countedText', {
              count,
              shown: more ? t('messages.atLeast', { number: number(count) }) : number(count),
            })}
          </Text>
        )}
      </Loaded>
    </div>
  )
}

function PageSize({ limit, set }: { limit: number; set: (limit: (typeof PAGE_SIZES)[number] | undefined) => void }) {
  const { t } = useTranslation()
  return (
    <Select
      aria-label={t('messages.pageSize')}
      data={PAGE_SIZES.map(size => ({ value: String(size), label: t('messages.rows', { count: size }) }))}
      value={String(limit)}
      allowDeselect={false}
      onChange={value => set(PAGE_SIZES.slice(1).find(size => String(size) === value))}
      w={130}
    />
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

/** A page looks at a bounded number of messages: none of these matched, older ones may. */
function NotYetFound() {
  const { t } = useTranslation()
  return <Empty title={t('messages.notYetFound')}>{t('messages.notYetFoundHint')}</Empty>
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
