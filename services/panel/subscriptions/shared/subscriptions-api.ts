/** Calls of the Subscription Administration API below the panel's origin: the envelope is opened here and nowhere else. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type * as apps from '../../../subscriptions/catalogue/http/apps-contract.ts'
import type * as rest from '../../../subscriptions/http/admin-contract.ts'
import { fillPath, request } from '../../api/fetch.ts'
import { isSameList } from '../../api/placeholder-data.ts'
import type { AnyInput, InputOf, OutputOf } from '../../api/typed.ts'
import { preferences } from '../../state/preferences.ts'
import { operations } from './subscriptions-operations.ts'

type Contract = typeof rest & typeof apps

/** The name of an operation. */
export type SubOperation = keyof typeof operations

/** What an operation takes. */
export type SubInput<K extends SubOperation> = InputOf<Contract[K]>

/** The `data` of an operation's answer. */
export type SubOutput<K extends SubOperation> = OutputOf<Contract[K]>

/** Where the panel's service mounts the API. */
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

/** Grants periods from a CSV file; a dry run only checks it. */
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

/** A cached read. The language belongs to the key: messages and display texts come in it. */
function subRead<K extends SubOperation>(name: K, input: SubInput<K>) {
  return queryOptions({
    queryKey: ['sub', name, input, preferences().language],
    queryFn: ({ signal }) => callSub(name, input, signal),
  })
}

/** See {@link subRead}. With `fresh` what was read before is not shown when it is opened again: somebody decides by it. */
export function useSubRead<K extends SubOperation>(name: K, input: SubInput<K>, { fresh = false } = {}) {
  return useQuery({
    ...subRead(name, input),
    placeholderData: (previous, before) => (isSameList(before?.queryKey[2], input as AnyInput) ? previous : undefined),
    ...(fresh ? { staleTime: 0, gcTime: 0 } : {}),
  })
}

/** All apps in scope, oldest first; the service gives them in pages of a hundred at most. */
export function useAllApps() {
  return useQuery({
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

/** A write; afterwards everything of this API is asked again, because figures and lists hang together. */
export function useSubWrite<K extends SubOperation>(name: K) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: SubInput<K>) => callSub(name, input),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sub'] }),
  })
}
