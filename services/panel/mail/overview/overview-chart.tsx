/** Chart of recipients by day or hour and delivery status; each part of a bar leads to its messages. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../ui/values/number-format.ts'
import { StackedBars } from '../../ui/values/stacked-bars.tsx'
import { logOfBar, SERIES } from './overview-search.ts'
import type { Report } from './use-report.ts'

/** Names of the colours in the theme. */
const COLOURS = { delivered: 'ok', waiting: 'wait', bounced: 'bad', failed: 'worse', complained: 'complained' } as const

export function OverviewChart({ report: { bars, span } }: { report: Report }) {
  const { t } = useTranslation()
  const { day, hour } = useFormat()
  const navigate = useNavigate()
  const format = span.endsWith('h') ? hour : day
  const series = (Object.keys(SERIES) as (keyof typeof SERIES)[]).map(key => ({
    ...{ key, name: t(`overview.series.${key}`), colour: `var(--pw-chart-${COLOURS[key]})` },
  }))
  return (
    <StackedBars
      name={t(span.endsWith('h') ? 'overview.byHour' : 'overview.byDay')}
      unit={t(span.endsWith('h') ? 'overview.hour' : 'overview.day')}
      days={bars}
      series={series}
      format={format}
      open={(bar, key) => void navigate({ to: '/messages', search: logOfBar(bar.date, span, key) })}
      link={bar => (
        <Link to="/messages" search={logOfBar(bar.date, span)} className="pw-link">
          {format(bar.date)}
        </Link>
      )}
    />
  )
}
