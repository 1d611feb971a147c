/** Recipients by day and state as stacked bars, with the same numbers as a table for those who cannot see them. */
import { useTranslation } from 'react-i18next'
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { Output } from '../api/client.ts'
import { useFormat } from '../ui/format.ts'

type Day = Output<'getStats'>['days'][number]

const SERIES = ['delivered', 'waiting', 'bounced', 'failed'] as const
const COLOURS: Record<(typeof SERIES)[number], string> = {
  delivered: 'var(--pw-chart-ok)',
  waiting: 'var(--pw-chart-wait)',
  bounced: 'var(--pw-chart-bad)',
  failed: 'var(--pw-chart-worse)',
}

/** The chart. */
export function OverviewChart({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  const { day, number } = useFormat()
  const name = (series: (typeof SERIES)[number]) => t(`overview.series.${series}`)
  return (
    <>
      <div className="pw-chart" aria-hidden>
        <ResponsiveContainer width="100%" height={260}>
          <BarChart data={[...days]} margin={{ top: 8, right: 4, bottom: 0, left: -12 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--pw-line)" />
            <XAxis dataKey="date" tickFormatter={day} tickLine={false} axisLine={false} minTickGap={24} />
            <YAxis allowDecimals={false} tickLine={false} axisLine={false} tickFormatter={number} width={56} />
            <Tooltip
              cursor={{ fill: 'var(--pw-sunken)' }}
              labelFormatter={label => day(String(label))}
              contentStyle={{
                background: 'var(--pw-surface)',
                border: '1px solid var(--pw-line)',
                borderRadius: 10,
                color: 'var(--mantine-color-text)',
              }}
            />
            <Legend iconType="circle" iconSize={8} formatter={label => <span className="pw-legend">{label}</span>} />
            {SERIES.map(series => (
              <Bar
                key={series}
                dataKey={series}
                name={name(series)}
                stackId="day"
                fill={COLOURS[series]}
                maxBarSize={28}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <table className="pw-hidden">
        <caption>{t('overview.byDay')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('overview.day')}</th>
            {SERIES.map(series => (
              <th scope="col" key={series}>
                {name(series)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(row => (
            <tr key={row.date}>
              <th scope="row">{day(row.date)}</th>
              {SERIES.map(series => (
                <td key={series}>{number(row[series])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
