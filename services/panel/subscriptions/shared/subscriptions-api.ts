/** Typed client and React hooks of the Subscription Administration API; unwraps the response envelope. */
import { queryOptions, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import type * as apps from '../../../subscriptions/catalogue/http/apps-contract.ts'
import type * as rest from '../../../subscriptions/http/admin-contract.ts'
import type * as webhooks from '../../../subscriptions/webhooks/http/webhooks-contract.ts'
import { fillPath, request } from '../../api/fetch.ts'
import { isSameList } from '../../api/placeholder-data.ts'
import type { AnyInput, InputOf, OutputOf } from '../../api/typed.ts'
import { preferences } from '../../state/preferences.ts'
import { operations } from './subscriptions-operations.ts'

type Contract = typeof rest & typeof apps & typeof webhooks

export type SubOperation = keyof typeof operations

export type SubInput<K extends SubOperation> = InputOf<Contract[K]>

/** The `data` of a response. */
export type SubOutput<K extends SubOperation> = OutputOf<Contract[K]>

/** Mount point of the API at the panel's origin. */
const BASE = '/subscription-api'

async function callSub<K extends SubOperation>(
  name: K,
  input: SubInput<K>,
  signal?: AbortSignal,
): Promise<SubOutput<K>> {
  const [method = 'GET', template = ''] = operations[name].split(' ')
  const { params, query, body } = input as AnyInput
  const response = await request(BASE + fillPath(template, params), {
    method,
    query,
    body,
    signal,
    headers: langHeader(),
  })
  const envelope = (await response.json()) as { data: SubOutput<K> }
  return envelope.data
}

/** Grants subscriptions from a CSV file; a dry run only validates it. */
export async function importCsv(
  appKey: string,
  file: Blob,
  dryRun: boolean,
): Promise<SubOutput<'importSubscriptionsOperation'>> {
  const response = await request(`${BASE}/subscription/import`, {
    method: 'POST',
    query: { app_key: appKey, dry_run: dryRun ? '1' : '0' },
    file: { type: 'text/csv', content: file },
    headers: langHeader(),
  })
  const envelope = (await response.json()) as { data: SubOutput<'importSubscriptionsOperation'> }
  return envelope.data
}

function langHeader(): { lang: 'zh' | 'en' } {
  return { lang: preferences().language === 'zh-CN' ? 'zh' : 'en' }
}

/** The language is part of the key because responses contain localised texts. */
function subRead<K extends SubOperation>(name: K, input: SubInput<K>) {
  return queryOptions({
    queryKey: ['sub', name, input, preferences().language],
    queryFn: ({ signal }) => callSub(name, input, signal),
  })
}

/** A cached query. `noCache` always fetches, for data on which the user bases a decision; `enabled: false` fetches nothing. */
export function useSubRead<K extends SubOperation>(
  name: K,
  input: SubInput<K>,
  { noCache = false, enabled = true } = {},
) {
  return useQuery({
    ...subRead(name, input),
    enabled,
    placeholderData: (previous, before) => (isSameList(before?.queryKey[2], input as AnyInput) ? previous : undefined),
    ...(noCache ? { staleTime: 0, gcTime: 0 } : {}),
  })
}

/** All apps of the admin, oldest first, read in pages of 100 (the maximum). */
export function useAllApps({ enabled = true } = {}) {
  return useQuery({
    enabled,
    queryKey: ['sub', 'listAppsOperation', 'all', preferences().language],
    async queryFn({ signal }) {
      const apps: SubOutput<'listAppsOperation'>['apps'] = []
      for (let page = 1; ; page++) {
        const answer = await callSub('listAppsOperation', { query: { page, pageSize: 100 } }, signal)
        apps.push(...answer.apps)
        if (page >= answer.pagination.total_pages) return apps
      }
    },
  })
}

/** The users that a search finds in each of the apps, by the order of their keys. */
export function useUsersOfApps(keys: readonly string[], search: string, pageSize: number) {
  return useQueries({
    queries: keys.map(app_key => subRead('listUsersOperation', { query: { app_key, search, pageSize } })),
  })
}

/** A mutation; on success all queries of this API are invalidated, because statistics depend on every list. */
export function useSubWrite<K extends SubOperation>(name: K) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: SubInput<K>) => callSub(name, input),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sub'] }),
  })
}
