/** Placeholders for missing content: empty, loading, failed, offline, forbidden, not found. */
import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { IconAlertTriangle, IconCloudOff, IconLock, IconMailOff, IconMap2, IconSearchOff } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiProblem } from '../../api/problem.ts'
import { Freshness } from './freshness.tsx'
import { problemText } from './problem-text.ts'

export function ContentState(props: {
  icon: ReactNode
  title: string
  /** Heading level; 1 if the placeholder is the whole page, which its title then names. */
  level?: 1 | 2
  children?: ReactNode
  action?: ReactNode
}) {
  // A blank title leaves that of the document as it is.
  useDocumentTitle(props.level === 1 ? `${props.title} · Postwright` : '')
  return (
    <Stack align="center" gap="xs" py={56} px="md" ta="center">
      <span className="pw-state-icon">{props.icon}</span>
      <Title order={props.level ?? 2} fz="md">
        {props.title}
      </Title>
      {props.children ? (
        <Text c="dimmed" fz="sm" maw={460} component="div">
          {props.children}
        </Text>
      ) : null}
      {props.action ? <Group mt="sm">{props.action}</Group> : null}
    </Stack>
  )
}

export function Empty(props: { icon?: ReactNode; title: string; children?: ReactNode; action?: ReactNode }) {
  return <ContentState {...props} icon={props.icon ?? <IconMailOff size={26} />} />
}

/** No entry matches the filters; offers to clear them. `title` is for entries other than messages. */
export function NoMatch({ reset, title }: { reset: () => void; title?: string }) {
  const { t } = useTranslation()
  const clear = (
    <Button variant="default" onClick={reset}>
      {t('messages.clearFilters')}
    </Button>
  )
  return <Empty icon={<IconSearchOff size={26} />} title={title ?? t('messages.noMatch')} action={clear} />
}

export function LoadingRows({ rows = 5 }: { rows?: number }) {
  const { t } = useTranslation()
  return (
    <Stack gap="sm" p="md" role="status" aria-label={t('ui.loading')}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars have no identity and never move
        <Skeleton key={row} height={18} width={`${92 - ((row * 17) % 40)}%`} radius="sm" />
      ))}
    </Stack>
  )
}

/** Error in the user's language, with its request id and a button to retry. */
export function Failure({ error, retry, level = 2 }: { error: unknown; retry?: () => void; level?: 1 | 2 }) {
  const { t } = useTranslation()
  const problem = error instanceof ApiProblem ? error : undefined
  const again = retry ? (
    <Button variant="default" onClick={retry}>
      {t('ui.tryAgain')}
    </Button>
  ) : undefined
  return (
    <div role="alert">
      <ContentState icon={failureIcon(problem)} title={failureTitle(problem, t)} action={again} level={level}>
        {problemText(error, t)}
        {problem?.requestId ? (
          <Text component="p" fz="xs" mt={6} className="pw-mono">
            {t('ui.requestId', { id: problem.requestId })}
          </Text>
        ) : null}
      </ContentState>
    </div>
  )
}

type Translate = TFunction

function failureTitle(problem: ApiProblem | undefined, t: Translate): string {
  if (problem?.status === 0) return t('ui.offlineTitle')
  if (problem?.status === 403) return t('ui.forbiddenTitle')
  if (problem?.status === 404) return t('ui.goneTitle')
  return t('ui.failedTitle')
}

function failureIcon(problem: ApiProblem | undefined): ReactNode {
  if (problem?.status === 0) return <IconCloudOff size={26} />
  if (problem?.status === 403) return <IconLock size={26} />
  if (problem?.status === 404) return <IconMap2 size={26} />
  return <IconAlertTriangle size={26} />
}

/**
 * True once there is something to show for a query: data, also of the query before it, or an error. What is shown later than
 * its neighbours moves those below it, and a click meant for them is lost or hits another one.
 */
export function isSettled({ data, isFetched }: UseQueryResult<unknown, Error>): boolean {
  return data !== undefined || isFetched
}

/**
 * For parts of a page that are left out while they have nothing to show: true until the query is settled and if its data is
 * empty. A part whose data could not be read is not left out, because that would look like nothing.
 */
export function isAbsent<T>(query: UseQueryResult<T, Error>, isEmpty: (data: T) => boolean): boolean {
  return query.data === undefined ? !isSettled(query) : isEmpty(query.data)
}

/**
 * Renders a query. Cached data stays visible while it is fetched again, after that fails, and offline: the page then shows
 * how old it is. The error takes the place of the content only where there is none.
 */
export function Loaded<T>(props: {
  query: UseQueryResult<T, Error>
  loading?: ReactNode
  /** For a part of a line: bar and error are as high as a line. */
  inline?: boolean
  children: (data: T) => ReactNode
}) {
  const { query, loading, inline = false, children } = props
  if (query.data !== undefined)
    return (
      <>
        <Freshness query={query} />
        {children(query.data)}
      </>
    )
  const retry = () => void query.refetch()
  if (query.error)
    return inline ? <FailedLine error={query.error} retry={retry} /> : <Failure error={query.error} retry={retry} />
  return loading ?? (inline ? <LoadingLine /> : <LoadingRows />)
}

function FailedLine({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useTranslation()
  return (
    <Text component="div" fz="sm" role="alert">
      {problemText(error, t)}{' '}
      <Button variant="subtle" size="compact-sm" onClick={retry}>
        {t('ui.tryAgain')}
      </Button>
    </Text>
  )
}

function LoadingLine() {
  const { t } = useTranslation()
  return (
    <span role="status" aria-label={t('ui.loading')}>
      <Skeleton height={16} width={110} radius="sm" />
    </span>
  )
}
