/** Search parameters that all subscription pages share. */
import { pageNumber } from '../../ui/layout/numbered-pages.tsx'
import { stringParams } from '../../ui/layout/search-params.ts'

export interface SubscriptionsSearch {
  search?: string
  status?: string
  page?: number
}

/** Changes of an app, or of one subscription by its id. */
export interface ChangesSearch extends SubscriptionsSearch {
  subscription?: string
}

/** Reads {@link ChangesSearch}. */
export function changesSearch(raw: Record<string, unknown>): ChangesSearch {
  return { ...subscriptionsSearch(raw), ...stringParams(raw, ['subscription']) }
}

/** Reads {@link SubscriptionsSearch}. */
export function subscriptionsSearch(raw: Record<string, unknown>): SubscriptionsSearch {
  const page = pageNumber(raw.page)
  return { ...stringParams(raw, ['search', 'status']), ...(page ? { page } : {}) }
}
