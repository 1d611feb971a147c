/** Repeats the DNS check after records were written, until they are visible or all attempts are used. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Output } from '../api/client.ts'
import { isPropagated, type PlanResult } from './dns-plan-state.ts'

/** Seconds before each further check: most servers publish at once, some take a minute. */
const PAUSES_S = [3, 5, 10, 20, 30] as const

interface PropagationChecks {
  check: Output<'verifyDomainOperation'> | undefined
  count: number
}

/** The last check, and whether all checks are used up (`exhausted`). Does nothing until a plan was applied completely. */
export function useDnsPropagation(
  domainId: string,
  result: PlanResult | undefined,
): { check: PropagationChecks['check']; exhausted: boolean } {
  const queries = useQueryClient()
  const queryKey = ['lookAfterWriting', domainId]
  const { data } = useQuery({
    queryKey,
    enabled: result !== undefined && !result.stopped,
    gcTime: 0,
    queryFn: async (): Promise<PropagationChecks> => {
      const before = queries.getQueryData<PropagationChecks>(queryKey)
      // A failed check counts, so that the pauses keep growing.
      const check = await call('verifyDomainOperation', { params: { id: domainId } }).catch(() => before?.check)
      for (const read of ['getDomainOperation', 'listDomainsOperation', 'listChecksOperation'])
        void queries.invalidateQueries({ queryKey: [read] })
      return { check, count: (before?.count ?? 0) + 1 }
    },
    refetchInterval: ({ state }) => {
      if (!state.data || (state.data.check && result && isPropagated(result, state.data.check))) return false
      return (PAUSES_S[state.data.count - 1] ?? 0) * 1000 || false
    },
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  return { check: data?.check, exhausted: (data?.count ?? 0) > PAUSES_S.length }
}
