/** The account in which the session works, and how it changes. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { Output } from '../api/client.ts'
import { setShownAccount } from '../api/fetch.ts'
import { sessionQuery } from './session.ts'

/** Replaces the session and drops what the cache has of the former account. */
export function adoptSession(queries: QueryClient, session: Output<'getSession'>): void {
  setShownAccount(session.account.id)
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'getSession' })
  queries.setQueryData(sessionQuery.queryKey, session)
}

/** Shows the overview of the account of a session. */
export function useAdoptSession(): (session: Output<'getSession'>) => Promise<void> {
  const queries = useQueryClient()
  const router = useRouter()
  return async session => {
    adoptSession(queries, session)
    await router.navigate({ to: '/' })
  }
}
