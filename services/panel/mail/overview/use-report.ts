/** Statistics of the chosen span in one form, by hour or by day, with the totals of the time before. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { isSettled } from '../../ui/feedback/content-states.tsx'
import { daysAgo, type Span } from './overview-search.ts'

type Daily = Output<'getStats'>
type Hourly = Output<'getHourlyStats'>
type Totals = Daily['totals']

/** A bar: `date` is the day or the beginning of the hour. */
export type Bar = Totals & { date: string }

/** What the page shows. */
export type Report = Pick<Daily, 'totals' | 'domains' | 'reasons' | 'senders' | 'submitters' | 'tags'> & {
  span: Span
  since: string
  bars: Bar[]
}

/** The report, once the totals of the time before are known, or cannot be. */
export function useReport(span: Span): { query: UseQueryResult<Report, Error>; previous: Totals | undefined } {
  const isHourly = span.endsWith('h')
  const count = Number(span.slice(0, -1))
  const now = Date.now()
  const days = isHourly ? 7 : count
  const daily = useRead('getStats', { query: { since: daysAgo(days - 1, now) } }, { enabled: !isHourly })
  const before = useRead(
    'getStats',
    { query: { since: daysAgo(2 * days - 1, now), until: daysAgo(days, now) } },
    // A report has at most 92 days, which is the longest span.
    { enabled: !isHourly },
  )
  const hourly = useRead('getHourlyStats', { query: { hours: isHourly ? count : 24 } }, { enabled: isHourly })
  if (isHourly) {
    const data = hourly.data && ofHours(hourly.data, span)
    // The hour that runs cannot be compared with a complete one.
    const previous = span === '1h' ? undefined : hourly.data?.previous
    return { query: { ...hourly, data } as UseQueryResult<Report, Error>, previous }
  }
  const data = daily.data && isSettled(before) ? ofDays(daily.data, span) : undefined
  return { query: { ...daily, data } as UseQueryResult<Report, Error>, previous: before.data?.totals }
}

function ofDays({ days, ...stats }: Daily, span: Span): Report {
  return { ...stats, span, bars: days }
}

function ofHours({ hours, ...stats }: Hourly, span: Span): Report {
  return { ...stats, span, bars: hours.map(({ start, ...counts }) => ({ ...counts, date: start })) }
}
