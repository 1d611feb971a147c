/** Filters of the message log in the address. */
import type { Output } from '../../api/client.ts'
import { NEWEST_FIRST, type OrderedSearch, orderedSearch } from '../../ui/layout/list-order.ts'
import { stringParams } from '../../ui/layout/search-params.ts'
import { MAIL_STATUSES, type MailStatus } from './mail-statuses.ts'

/** Class of failures. */
export type FailureReason = NonNullable<Output<'listEmails'>['data'][number]['recipients'][number]['reason']>

/** In the order of the list of reasons: what the sender can change comes first. */
export const FAILURE_REASONS = [
  'address',
  'mailbox_full',
  'authentication',
  'reputation',
  'content',
  'policy',
  'throttled',
  'greylisted',
  'size',
  'unsupported',
  'dns',
  'network',
  'tls',
  'relay_login',
  'signing',
  'own_fault',
  'other',
] as const satisfies readonly FailureReason[]

/** Periods that end now, in days. */
export const PERIODS = [1, 7, 30] as const

/** Rows of a page; the first one is the default. */
export const PAGE_SIZES = [20, 50, 100] as const

/** Filters, cursor, order and page size. `days` is a period that ends now; with it `since` and `until` are absent. */
export interface MessageSearch extends OrderedSearch<'created_at'> {
  q?: string
  /** One, or several in the order of {@link MAIL_STATUSES}. */
  status?: MailStatus | MailStatus[]
  reason?: FailureReason
  source?: (typeof SOURCES)[number]
  domain?: string
  tag?: string
  submitted_with?: string
  to?: string
  /** The next five have no field in the form: links and the API set them. */
  recipient_domain?: string
  simulated?: 'true' | 'false'
  from?: string
  template?: string
  message_id?: string
  since?: string
  until?: string
  days?: number
  limit?: (typeof PAGE_SIZES)[number]
}

export const SOURCES = ['api', 'smtp', 'system'] as const

/** Filters that have no field in the form. */
export const UNLISTED = [
  'from',
  'template',
  'message_id',
  'recipient_domain',
  'simulated',
] as const satisfies readonly (keyof MessageSearch)[]

/** The parameters that narrow the list, in the order of the form. */
const FILTERS = [
  ...(['q', 'status', 'reason', 'days', 'since', 'until', 'to'] as const),
  ...(['domain', 'tag', 'submitted_with', 'source', ...UNLISTED] as const),
] satisfies readonly (keyof MessageSearch)[]

const TEXTS = [
  'q',
  'domain',
  'tag',
  'submitted_with',
  'to',
  'from',
  'template',
  'message_id',
  'recipient_domain',
] as const

/** Parses an address; invalid values are dropped, so that old links still work. */
export function messageSearch(raw: Record<string, unknown>): MessageSearch {
  const texts = stringParams(raw, TEXTS)
  const chosen = <T>(values: readonly T[], value: unknown) => values.find(known => String(known) === String(value))
  const reason = chosen(FAILURE_REASONS, raw.reason)
  const source = chosen(SOURCES, raw.source)
  const simulated = chosen(['true', 'false'] as const, raw.simulated)
  const limit = chosen(PAGE_SIZES.slice(1), raw.limit)
  const days = Number(raw.days)
  return {
    ...texts,
    ...orderedSearch(NEWEST_FIRST)(raw),
    ...statusFilter([raw.status].flat()),
    ...(reason ? { reason } : {}),
    ...(source ? { source } : {}),
    ...(simulated ? { simulated } : {}),
    ...(limit ? { limit } : {}),
    ...(Number.isInteger(days) && days >= 1 && days <= 365 ? { days } : stringParams(raw, ['since', 'until'])),
  }
}

/** The filter of these statuses, in one form for the same ones; nothing when none is known. */
export function statusFilter(values: readonly unknown[]): Pick<MessageSearch, 'status'> {
  const [first, ...others] = MAIL_STATUSES.filter(status => values.includes(status))
  if (first === undefined) return {}
  return { status: others.length === 0 ? first : [first, ...others] }
}

/** The parts of the address that narrow the list, without cursor, order and page size. */
export function filtersOf(search: MessageSearch): MessageSearch {
  return Object.fromEntries(FILTERS.flatMap(name => (search[name] === undefined ? [] : [[name, search[name]]])))
}

/** Filters as the service reads them, which does not accept one-character searches; the address keeps what was typed. */
export function messageFilters(
  search: MessageSearch,
  now: number,
): Omit<MessageSearch, 'days' | 'limit' | 'after' | 'sort' | 'order'> {
  const { q, days, ...rest } = filtersOf(search)
  return {
    ...rest,
    ...(q !== undefined && q.length > 1 ? { q } : {}),
    ...(days === undefined ? {} : { since: sinceDays(days, now) }),
  }
}

/** The beginning of a period of days that ends now, to the minute: the same request within it is answered from the cache. */
function sinceDays(days: number, now: number): string {
  return new Date(Math.floor(now / 60_000) * 60_000 - days * 86_400_000).toISOString()
}

/** True if any filter is set. */
export function isFiltered(search: MessageSearch): boolean {
  return Object.keys(filtersOf(search)).length > 0
}

/** A change of filters; undefined removes a filter. */
export type FilterChange = { [N in keyof MessageSearch]?: MessageSearch[N] | undefined }

/** The change that removes every filter and keeps the page size. */
export const NO_FILTERS: FilterChange = Object.fromEntries(FILTERS.map(name => [name, undefined]))
