/** React hooks over the API: cached reads, and writes that refresh what they change. */
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

/** Query options of a read; the key is the operation and its input, so that equal questions share one answer. */
export function readOptions<K extends Operation>(name: K, input: Input<K>) {
  return queryOptions({ queryKey: [name, input] as QueryKey, queryFn: ({ signal }) => call(name, input, signal) })
}

type Poll = number | false

/**
 * A cached read. `poll` asks again every so many milliseconds while it is, or gives for what was read, a number; with
 * `fresh` what was read before is not shown when it is opened again, because somebody decides by it.
 */
export function useRead<K extends Operation>(
  name: K,
  input: Input<K>,
  options: { enabled?: boolean; poll?: Poll | ((data: Output<K> | undefined) => Poll); fresh?: boolean } = {},
) {
  const { poll = false } = options
  return useQuery({
    ...readOptions(name, input),
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => (typeof poll === 'function' ? poll(state.data) : poll),
    placeholderData: (previous, before) => (isSameList(before?.queryKey[1], input as AnyInput) ? previous : undefined),
    ...(options.fresh ? { staleTime: 0, gcTime: 0, refetchOnWindowFocus: false } : {}),
  })
}

/** A write; when it succeeded, the reads named in `refresh` are asked again. */
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
