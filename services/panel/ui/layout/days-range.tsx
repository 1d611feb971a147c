/** How many days back the figures of a page go; it stands in the address. */
import { SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'

const DAYS_RANGES = [7, 30, 90] as const

/** Days. */
export type DaysRange = (typeof DAYS_RANGES)[number]

/** Where pages begin. */
export const DEFAULT_DAYS_RANGE: DaysRange = 30

/** Reads the span from an address; the usual one is left out of it. */
export function daysRangeSearch(raw: Record<string, unknown>): { days?: DaysRange } {
  const days = DAYS_RANGES.find(span => String(span) === String(raw.days))
  return days && days !== DEFAULT_DAYS_RANGE ? { days } : {}
}

/** Chooses it. */
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
