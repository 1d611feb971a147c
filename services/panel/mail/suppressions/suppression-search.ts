/** Filters of the suppression list in the address. */
import type { Output } from '../../api/client.ts'
import { type OrderedSearch, orderedSearch, SUPPRESSION_LIST } from '../../ui/layout/list-order.ts'
import { stringParams } from '../../ui/layout/search-params.ts'

export type Suppression = Output<'listSuppressionsOperation'>['data'][number]

export const REASONS = [
  'hard_bounce',
  'complaint',
  'unsubscribe',
  'manual',
] as const satisfies readonly Suppression['reason'][]

/** Filters, cursor and order. */
export interface SuppressionSearch extends OrderedSearch<(typeof SUPPRESSION_LIST.columns)[number]> {
  email?: string
  reason?: Suppression['reason']
}

/** Parses an address; invalid values are dropped. */
export function suppressionSearch(raw: Record<string, unknown>): SuppressionSearch {
  const search: SuppressionSearch = { ...stringParams(raw, ['email']), ...orderedSearch(SUPPRESSION_LIST)(raw) }
  const reason = REASONS.find(known => known === raw.reason)
  return reason ? { ...search, reason } : search
}

/** The query for the service, which refuses what is no address yet: a half-typed one finds everything. */
export function suppressionQuery({ email, ...rest }: SuppressionSearch): SuppressionSearch {
  return email && /^[^\s@]+@[^\s@]+$/.test(email) ? { ...rest, email } : rest
}
