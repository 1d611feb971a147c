/** The part of an address that all pages of this area share. */
import { pageNumber } from '../../ui/layout/numbered-pages.tsx'
import { stringParams } from '../../ui/layout/search-params.ts'

/** App, words, state and page. */
export interface SubscriptionsSearch {
  app?: string
  search?: string
  status?: string
  page?: number
}

/** The changes of an app, or those of one subscription by its number. */
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
  return { ...stringParams(raw, ['app', 'search', 'status']), ...(page ? { page } : {}) }
}
