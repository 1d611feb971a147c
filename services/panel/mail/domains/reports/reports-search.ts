/** Kind and period of the reports page in its address; the defaults are left out. */
import { type DaysRange, daysRangeSearch } from '../../../ui/layout/days-range-search.ts'

export function reportsSearch(raw: Record<string, unknown>): { days?: DaysRange; kind?: 'tls' } {
  return { ...daysRangeSearch(raw), ...(raw.kind === 'tls' ? { kind: 'tls' } : {}) }
}
