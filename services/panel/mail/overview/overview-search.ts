/** Time span of the overview in the address, and the same span as filters of the message log. */
import { DEFAULT_DAYS_RANGE, daysRangeSearch } from '../../ui/layout/days-range-search.ts'
import type { MailStatus } from '../messages/mail-statuses.ts'
import { type MessageSearch, statusFilter } from '../messages/message-search.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Query of the latest messages. The route reads them as well, to recognise a newcomer. */
export const LATEST = { query: { limit: 5 } }

/** Spans: the running hour, a day by the hour, and days. */
export const SPANS = ['1h', '24h', '7d', '30d', '90d'] as const

export type Span = (typeof SPANS)[number]

export interface OverviewSearch {
  hours?: 1 | 24
  days?: 7 | 30 | 90
}

/** Parses the span of an address; the default is omitted to keep addresses short. */
export function overviewSearch(raw: Record<string, unknown>): OverviewSearch {
  const hours = ([1, 24] as const).find(count => String(count) === String(raw.hours))
  return hours ? { hours } : daysRangeSearch(raw)
}

export function spanOf({ hours, days = DEFAULT_DAYS_RANGE }: OverviewSearch): Span {
  return hours ? `${hours}h` : `${days}d`
}

/** The address of a span. */
export function searchOf(span: Span): OverviewSearch {
  return overviewSearch(span.endsWith('h') ? { hours: span.slice(0, -1) } : { days: span.slice(0, -1) })
}

/** The statuses of each count that the overview shows. */
export const COUNTED = {
  delivered: ['delivered', 'complained'],
  bounced: ['bounced', 'failed'],
  waiting: ['scheduled', 'queued', 'deferred'],
  failing: ['deferred', 'bounced', 'failed'],
} as const satisfies Record<string, readonly MailStatus[]>

/** The statuses of each series of the chart. */
export const SERIES = {
  delivered: ['delivered'],
  waiting: COUNTED.waiting,
  bounced: ['bounced'],
  failed: ['failed'],
  complained: ['complained'],
} as const satisfies Record<string, readonly MailStatus[]>

/** The log of the span, as statistics count: their days are those of UTC, their hours whole ones, nothing is simulated. */
export function logOfSpan(since: string, statuses: readonly MailStatus[] = []): MessageSearch {
  return { since: new Date(since).toISOString(), ...statusFilter(statuses), simulated: 'false' }
}

/** The log of one bar, which covers a day or an hour, or of one of its series. */
export function logOfBar(start: string, span: Span, series?: keyof typeof SERIES): MessageSearch {
  const length = span.endsWith('h') ? HOUR_MS : DAY_MS
  const statuses = series ? SERIES[series] : Object.values(SERIES).flat()
  return { ...logOfSpan(start, statuses), until: new Date(new Date(start).getTime() + length).toISOString() }
}

/** The date `days` days before `now` (milliseconds), in UTC as in the statistics of the service. */
export function daysAgo(days: number, now: number): string {
  return new Date(now - days * DAY_MS).toISOString().slice(0, 10)
}

/** Change against an earlier count as a share of it; undefined when there was nothing. */
export function changeOf(now: number, before: number): number | undefined {
  return before === 0 ? undefined : (now - before) / before
}
