/** List of an app with search, filters and page numbers, all kept in the address. */
import { Button, Group } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded, NoMatch } from '../../ui/feedback/content-states.tsx'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { NumberedPages } from '../../ui/layout/numbered-pages.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import type { ListSearch } from './subscriptions-search.ts'

/** A change of search parameters; `undefined` removes one. */
export type SearchChange<S> = { [K in keyof S]?: S[K] | undefined }

interface AppListProps<S extends ListSearch, A, T> {
  search: S
  navigate: (search: S) => void
  query: UseQueryResult<A, Error>
  /** Placeholder of the search field; without one, the list has no search. */
  hint?: string
  /** Filters besides the search; `go` changes them and returns to the first page. */
  filters?: (go: (change: SearchChange<S>) => void) => ReactNode
  empty: { icon: ReactNode; title: string; hint?: string; action?: ReactNode }
  /** Shown after the filters. */
  actions?: ReactNode
  /** Number of pages of a response, and its entries. */
  pages: (answer: A) => number
  rows: (answer: A) => readonly T[]
  children: (rows: readonly T[]) => ReactNode
}

/** The one record that the address names, in the place of the list; `showAll` leads back to the list. */
export function OneOfList<T>(props: {
  query: UseQueryResult<T, Error>
  showAll: () => void
  children: (rows: readonly T[]) => ReactNode
}) {
  const { t } = useTranslation()
  return (
    <>
      <Group gap="xs">
        <Button variant="subtle" leftSection={<IconX size={15} />} onClick={props.showAll}>
          {t('messages.clearFilters')}
        </Button>
      </Group>
      <Card flush>
        <Loaded query={props.query}>{record => props.children([record])}</Loaded>
      </Card>
    </>
  )
}

export function AppList<S extends ListSearch, A, T>(props: AppListProps<S, A, T>) {
  const { t } = useTranslation()
  const { search, query, empty } = props
  const navigate = (change: SearchChange<S>) => props.navigate(omitUndefined({ ...search, ...change }) as unknown as S)
  const go = (change: SearchChange<S>) => navigate({ page: undefined, ...change } as SearchChange<S>)
  const filtered = Object.keys(search).some(name => name !== 'page' && name !== 'order')
  const reset = () => props.navigate({} as S)
  // Without a match, the list itself offers to clear the filters.
  const hasRows = query.data === undefined || props.rows(query.data).length > 0
  return (
    <>
      <Group gap="xs" align="flex-end" role="search">
        {props.hint === undefined ? null : (
          <TextFilter
            wide
            label={t('messages.search')}
            placeholder={props.hint}
            value={search.search ?? ''}
            set={text => go({ search: text || undefined } as SearchChange<S>)}
          />
        )}
        {props.filters?.(go)}
        {filtered && hasRows ? (
          <Button variant="subtle" leftSection={<IconX size={15} />} onClick={reset}>
            {t('messages.clearFilters')}
          </Button>
        ) : null}
        {props.actions ? (
          <Group gap="xs" ml="auto">
            {props.actions}
          </Group>
        ) : null}
      </Group>
      <Card flush>
        <Loaded query={query}>
          {answer => {
            const rows = props.rows(answer)
            if (rows.length > 0) return props.children(rows)
            if (filtered) return <NoMatch reset={reset} title={t('subs.noMatch')} />
            return (
              <Empty icon={empty.icon} title={empty.title} action={empty.action}>
                {empty.hint}
              </Empty>
            )
          }}
        </Loaded>
      </Card>
      <NumberedPages
        page={search.page ?? 1}
        total={query.data ? props.pages(query.data) : 1}
        go={page => navigate({ page } as SearchChange<S>)}
      />
    </>
  )
}
