/** Query cache: stale responses are shown while they are fetched again, and kept while the service is unreachable. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import type { Output } from '../api/client.ts'
import { shownAccountId } from '../api/fetch.ts'
import { ApiProblem, mayRetry } from '../api/problem.ts'

const MINUTE = 60_000

let notifyExpired: () => void = () => undefined

/** Registers the handler for a session that expires while the panel is open. */
export function onSessionExpired(handle: () => void): void {
  notifyExpired = handle
}

let notifyLost: (error: ApiProblem) => void = () => undefined
let lostAt = Number.NEGATIVE_INFINITY

/** Registers the handler for an account that the user has left or that another tab has changed. */
export function onAccountLost(handle: (error: ApiProblem) => void): void {
  notifyLost = handle
}

const LOST: ReadonlySet<string> = new Set(['not_a_member', 'account_switched', 'account_suspended'])
/** A page reads several lists at once, which fail together. */
const LOST_PAUSE_MS = 2_000

let notifyMoved: (session: Output<'getSession'>) => void = () => undefined

/** Registers the handler for a session that turns out to work in another account than the one that is shown. */
export function onSessionMoved(handle: (session: Output<'getSession'>) => void): void {
  notifyMoved = handle
}

function checkSessionOfPage(data: unknown, query: { queryKey: readonly unknown[] }): void {
  if (query.queryKey[0] !== 'getSession') return
  const session = data as Output<'getSession'>
  const shown = shownAccountId()
  if (shown !== undefined && session.account.id !== shown) notifyMoved(session)
}

function checkAccount(error: Error): void {
  if (!(error instanceof ApiProblem) || !LOST.has(error.code)) return
  if (performance.now() - lostAt < LOST_PAUSE_MS) return
  lostAt = performance.now()
  notifyLost(error)
}

function checkSession(error: Error): void {
  if (error instanceof ApiProblem && error.status === 401 && error.code !== 'invalid_login') notifyExpired()
}

/** A 401 response to the first session request means "not signed in", not "session expired". */
function checkSessionOnRead(error: Error, query: { queryKey: readonly unknown[]; state: { data: unknown } }): void {
  if (query.queryKey[0] !== 'getSession' || query.state.data !== undefined) checkSession(error)
  checkAccount(error)
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: checkSessionOnRead, onSuccess: checkSessionOfPage }),
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
