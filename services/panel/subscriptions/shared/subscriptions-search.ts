/** The part of an address that all pages of this area share. */
import { pageNumber } from '../../ui/layout/numbered-pages.tsx'
import { textsOf } from '../../ui/layout/search-params.ts'

/** App, words, state and page. */
export interface SubSearch {
  app?: string
  search?: string
  status?: string
  page?: number
}

/** The changes of an app, or those of one subscription by its number. */
export interface ChangesSearch extends SubSearch {
  subscription?: string
}

/** Reads {@link ChangesSearch}. */
export function changesSearch(raw: Record<string, unknown>): ChangesSearch {
  return { ...subSearch(raw), ...textsOf(raw, ['subscription']) }
}

/** Reads {@link SubSearch}. */
export function subSearch(raw: Record<string, unknown>): SubSearch {
  const page = pageNumber(raw.page)
  return { ...textsOf(raw, ['app', 'search', 'status']), ...(page ? { page } : {}) }
}
