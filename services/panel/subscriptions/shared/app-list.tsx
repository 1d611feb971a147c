/** List of an app with search, status filter and page numbers, all kept in the address. */
import { Group, Select } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded, NoMatch } from '../../ui/feedback/content-states.tsx'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { NumberedPages } from '../../ui/layout/numbered-pages.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import type { SubscriptionsSearch } from './subscriptions-search.ts'

/** `rows` selects the entries of a response; `actions` are shown after the filters. */
export function AppList<A extends { pagination: { total_pages: number } }, T>(props: {
  search: SubscriptionsSearch
  navigate: (search: SubscriptionsSearch) => void
  query: UseQueryResult<A, Error>
  hint: string
  states: readonly { value: string; label: string }[]
  empty: { icon: ReactNode; title: string; hint: string }
  actions?: ReactNode
  rows: (answer: A) => readonly T[]
  children: (rows: readonly T[]) => ReactNode
}) {
  const { t } = useTranslation()
  const { search, query, states, empty } = props
  const go = (part: { [K in keyof SubscriptionsSearch]?: SubscriptionsSearch[K] | undefined }) =>
    props.navigate(omitUndefined({ ...search, page: undefined, ...part }))
  return (
    <>
      <Group gap="xs" align="flex-end" role="search">
        <TextFilter
          wide
          label={t('messages.search')}
          placeholder={props.hint}
          value={search.search ?? ''}
          set={text => go({ search: text || undefined })}
        />
        <Select
          label={t('messages.state')}
          placeholder={t('messages.any')}
          data={[...states]}
          value={search.status ?? null}
          clearable
          onChange={status => go({ status: status ?? undefined })}
          w={170}
        />
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
            if (search.search !== undefined || search.status !== undefined)
              return <NoMatch reset={() => go({ search: undefined, status: undefined })} />
            return (
              <Empty icon={empty.icon} title={empty.title}>
                {empty.hint}
              </Empty>
            )
          }}
        </Loaded>
      </Card>
      <NumberedPages
        page={search.page ?? 1}
        total={query.data?.pagination.total_pages ?? 1}
        go={page => go({ page })}
      />
    </>
  )
}
