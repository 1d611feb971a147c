/** Time span of the overview in the address, and the same span as filters of the message log. */
import { DEFAULT_DAYS_RANGE, daysRangeSearch } from '../../ui/layout/days-range-search.ts'
import type { MessageSearch } from '../messages/message-search.ts'

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

/** The log of the span: days of the statistics are those of UTC, and hours are whole ones. */
export function logOfSpan(since: string): MessageSearch {
  return { since: new Date(since).toISOString() }
}

/** The log of one bar, which covers a day or an hour. */
export function logOfBar(start: string, span: Span): MessageSearch {
  const from = new Date(start).getTime()
  const until = from + (span.endsWith('h') ? 3_600_000 : 86_400_000)
  return { since: new Date(from).toISOString(), until: new Date(until).toISOString() }
}

/** The date `days` days before `now` (milliseconds), in UTC as in the statistics of the service. */
export function daysAgo(days: number, now: number): string {
  return new Date(now - days * 86_400_000).toISOString().slice(0, 10)
}

/** Change against an earlier count as a share of it; undefined when there was nothing. */
export function changeOf(now: number, before: number): number | undefined {
  return before === 0 ? undefined : (now - before) / before
}
