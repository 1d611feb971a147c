/** Filters of the message log in the address. */
import { stringParams } from '../../ui/layout/search-params.ts'
import { MAIL_STATUSES, type MailStatus } from './mail-statuses.ts'

/** Filters and cursor. */
export interface MessageSearch {
  q?: string
  status?: MailStatus
  source?: (typeof SOURCES)[number]
  domain?: string
  to?: string
  since?: string
  until?: string
  after?: string
}

export const SOURCES = ['api', 'smtp', 'system'] as const

/** Parses an address; invalid values are dropped, so that old links still work. */
export function messageSearch(raw: Record<string, unknown>): MessageSearch {
  const search: MessageSearch = stringParams(raw, ['q', 'domain', 'to', 'since', 'until', 'after'])
  const status = MAIL_STATUSES.find(known => known === raw.status)
  if (status) search.status = status
  const source = SOURCES.find(known => known === raw.source)
  if (source) search.source = source
  return search
}

/** Query for the service, which does not accept one-character searches; the address keeps what was typed. */
export function messageQuery({ q, ...rest }: MessageSearch): MessageSearch {
  return q !== undefined && q.length > 1 ? { ...rest, q } : rest
}

/** True if any filter is set; the cursor is not a filter. */
export function isFiltered(search: MessageSearch): boolean {
  return Object.entries(search).some(([name, value]) => name !== 'after' && value !== undefined)
}

/** A change of filters; undefined removes a filter. */
export type FilterChange = { [N in keyof MessageSearch]?: MessageSearch[N] | undefined }
