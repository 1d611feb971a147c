/** The cache of answers: shown at once, asked again in the background, kept while the service is away. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem, mayRetry } from '../api/problem.ts'

const MINUTE = 60_000

/** Called when the service says that the session is over. */
let notifyExpired: () => void = () => undefined

/** Says what happens when the session ends while the panel is open. */
export function onSessionExpired(handle: () => void): void {
  notifyExpired = handle
}

function checkSession(error: Error): void {
  if (error instanceof ApiProblem && error.status === 401 && error.code !== 'invalid_login') notifyExpired()
}

/** The first question who is logged in has nobody to take leave of. */
function checkSessionOnRead(error: Error, query: { queryKey: readonly unknown[]; state: { data: unknown } }): void {
  if (query.queryKey[0] !== 'getSession' || query.state.data !== undefined) checkSession(error)
}

/** The cache. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: checkSessionOnRead }),
  mutationCache: new MutationCache({ onError: checkSession }),
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
