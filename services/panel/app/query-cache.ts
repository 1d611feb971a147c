/** The cache of answers: shown at once, asked again in the background, kept while the service is away. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem, mayRetry } from '../api/problem.ts'

const MINUTE = 60_000

/** Called when the service says that the session is over. */
let ended: () => void = () => undefined

/** Says what happens when the session ends while the panel is open. */
export function onSessionEnd(handle: () => void): void {
  ended = handle
}

function watch(error: Error): void {
  if (error instanceof ApiProblem && error.status === 401 && error.code !== 'invalid_login') ended()
}

/** The first question who is logged in has nobody to take leave of. */
function watchRead(error: Error, query: { queryKey: readonly unknown[]; state: { data: unknown } }): void {
  if (query.queryKey[0] !== 'getSession' || query.state.data !== undefined) watch(error)
}

/** The cache. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: watchRead }),
  mutationCache: new MutationCache({ onError: watch }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      gcTime: 10 * MINUTE,
      retry: (count, error) => count < 2 && mayRetry(error),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
