/** How many days back the figures of a page go; it stands in the address. */
import { SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'

const SPANS = [7, 30, 90] as const

/** Days. */
export type Span = (typeof SPANS)[number]

/** Where pages begin. */
export const USUAL_SPAN: Span = 30

/** Reads the span from an address; the usual one is left out of it. */
export function spanSearch(raw: Record<string, unknown>): { days?: Span } {
  const days = SPANS.find(span => String(span) === String(raw.days))
  return days && days !== USUAL_SPAN ? { days } : {}
}

/** Chooses it. */
export function SpanControl({ days, set }: { days: Span; set: (days: Span) => void }) {
  const { t } = useTranslation()
  return (
    <SegmentedControl
      aria-label={t('overview.span')}
      value={String(days)}
      onChange={value => set(SPANS.find(span => String(span) === value) ?? USUAL_SPAN)}
      data={SPANS.map(span => ({ value: String(span), label: t('overview.days', { count: span }) }))}
    />
  )
}
