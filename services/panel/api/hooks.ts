/** React hooks for the API: cached queries, and mutations that invalidate queries. */
import {
  type QueryKey,
  queryOptions,
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { call, type Input, type Operation, type Output } from './client.ts'
import { isSameList } from './placeholder-data.ts'
import type { AnyInput } from './typed.ts'

/** Query options of an operation; the key is the operation and its input. */
export function readOptions<K extends Operation>(name: K, input: Input<K>) {
  return queryOptions({ queryKey: [name, input] as QueryKey, queryFn: ({ signal }) => call(name, input, signal) })
}

type Poll = number | false

/**
 * A cached query. `poll` is the polling interval in milliseconds, or computes it from the data. `noCache` always fetches and never
 * shows cached data, for data on which the user bases a decision.
 */
export function useRead<K extends Operation>(
  name: K,
  input: Input<K>,
  options: { enabled?: boolean; poll?: Poll | ((data: Output<K> | undefined) => Poll); noCache?: boolean } = {},
) {
  const { poll = false } = options
  return useQuery({
    ...readOptions(name, input),
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => (typeof poll === 'function' ? poll(state.data) : poll),
    placeholderData: (previous, before) => (isSameList(before?.queryKey[1], input as AnyInput) ? previous : undefined),
    ...(options.noCache ? { staleTime: 0, gcTime: 0, refetchOnWindowFocus: false } : {}),
  })
}

/** A mutation; on success the operations named in `refresh` are fetched again. */
export function useWrite<K extends Operation>(
  name: K,
  refresh: readonly Operation[] = [],
): UseMutationResult<Output<K>, Error, Input<K>> {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: Input<K>) => call(name, input),
    onSuccess: async () => {
      await Promise.all(refresh.map(operation => queries.invalidateQueries({ queryKey: [operation] })))
    },
  })
}
