import { stringParams } from '../ui/layout/search-params.ts'

export interface ResourceSearch {
  q?: string
  namespace?: string
  state?: string
}

/** Reads it from an address. */
export function resourceSearch(raw: Record<string, unknown>): ResourceSearch {
  return stringParams(raw, ['q', 'namespace', 'state'])
}
