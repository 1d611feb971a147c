/** Date range of statistics in days, kept in the address. The router needs it before any page. */

export const DAYS_RANGES = [7, 30, 90] as const

export type DaysRange = (typeof DAYS_RANGES)[number]

export const DEFAULT_DAYS_RANGE: DaysRange = 30

/** Parses the range of an address; the default is omitted to keep addresses short. */
export function daysRangeSearch(raw: Record<string, unknown>): { days?: DaysRange } {
  const days = DAYS_RANGES.find(span => String(span) === String(raw.days))
  return days && days !== DEFAULT_DAYS_RANGE ? { days } : {}
}
