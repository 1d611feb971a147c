/** The filters of the message log as they stand in the address. */
import { stringParams } from '../../ui/layout/search-params.ts'
import { MAIL_STATUSES, type MailStatus } from './mail-statuses.ts'

/** Every filter, and the cursor. */
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

/** Where a message came in. */
export const SOURCES = ['api', 'smtp', 'system'] as const

/** Reads the filters from an address; what does not fit is left out, so that an old link still opens. */
export function messageSearch(raw: Record<string, unknown>): MessageSearch {
  const search: MessageSearch = stringParams(raw, ['q', 'domain', 'to', 'since', 'until', 'after'])
  const status = MAIL_STATUSES.find(known => known === raw.status)
  if (status) search.status = status
  const source = SOURCES.find(known => known === raw.source)
  if (source) search.source = source
  return search
}

/** What is asked of the server: single letters are not searched for, though they stand in the address as typed. */
export function messageQuery({ q, ...rest }: MessageSearch): MessageSearch {
  return q !== undefined && q.length > 1 ? { ...rest, q } : rest
}

/** True when something but the place is chosen. */
export function isFiltered(search: MessageSearch): boolean {
  return Object.entries(search).some(([name, value]) => name !== 'after' && value !== undefined)
}

/** A change of filters; undefined takes one away. */
export type FilterChange = { [N in keyof MessageSearch]?: MessageSearch[N] | undefined }
