/** Charts of reported messages and sessions by day. */
import { useTranslation } from 'react-i18next'
import { StackedBars } from '../../../ui/values/stacked-bars.tsx'

/** Good and bad results of a day. */
export interface ReportedDay {
  date: string
  good: number
  bad: number
}

export function ReportsChart({ kind, days }: { kind: 'dmarc' | 'tls'; days: readonly ReportedDay[] }) {
  const { t } = useTranslation()
  const isDmarc = kind === 'dmarc'
  return (
    <StackedBars
      name={t(isDmarc ? 'reports.byDay' : 'reports.sessionsByDay')}
      days={days}
      series={[
        { key: 'good', name: t(isDmarc ? 'reports.passed' : 'reports.successful'), colour: 'var(--pw-chart-ok)' },
        { key: 'bad', name: t(isDmarc ? 'reports.failed' : 'reports.failedSessions'), colour: 'var(--pw-chart-bad)' },
      ]}
    />
  )
}
