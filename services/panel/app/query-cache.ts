/** Query cache: stale responses are shown while they are fetched again, and kept while the service is unreachable. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem, mayRetry } from '../api/problem.ts'

const MINUTE = 60_000

let notifyExpired: () => void = () => undefined

/** Registers the handler for a session that expires while the panel is open. */
export function onSessionExpired(handle: () => void): void {
  notifyExpired = handle
}

function checkSession(error: Error): void {
  if (error instanceof ApiProblem && error.status === 401 && error.code !== 'invalid_login') notifyExpired()
}

/** A 401 response to the first session request means "not signed in", not "session expired". */
function checkSessionOnRead(error: Error, query: { queryKey: readonly unknown[]; state: { data: unknown } }): void {
  if (query.queryKey[0] !== 'getSession' || query.state.data !== undefined) checkSession(error)
}

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
