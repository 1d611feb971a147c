/** Date range of statistics in days, kept in the address. */
import { SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'

const DAYS_RANGES = [7, 30, 90] as const

export type DaysRange = (typeof DAYS_RANGES)[number]

export const DEFAULT_DAYS_RANGE: DaysRange = 30

/** Parses the range of an address; the default is omitted to keep addresses short. */
export function daysRangeSearch(raw: Record<string, unknown>): { days?: DaysRange } {
  const days = DAYS_RANGES.find(span => String(span) === String(raw.days))
  return days && days !== DEFAULT_DAYS_RANGE ? { days } : {}
}

export function DaysRangeControl({ days, set }: { days: DaysRange; set: (days: DaysRange) => void }) {
  const { t } = useTranslation()
  return (
    <SegmentedControl
      aria-label={t('overview.span')}
      value={String(days)}
      onChange={value => set(DAYS_RANGES.find(span => String(span) === value) ?? DEFAULT_DAYS_RANGE)}
      data={DAYS_RANGES.map(span => ({ value: String(span), label: t('overview.days', { count: span }) }))}
    />
  )
}
