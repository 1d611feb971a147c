/** Choice of the date range of statistics. */
import { SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { DAYS_RANGES, type DaysRange, DEFAULT_DAYS_RANGE } from './days-range-search.ts'

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
