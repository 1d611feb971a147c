/** Bar chart of values by day, with a table for screen readers. Import it from lazy chunks only: it brings the chart library. */
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { useFormat } from './number-format.ts'

export interface Series<D, K extends keyof D & string = keyof D & string> {
  key: K
  name: string
  colour: string
}

interface BarsProps<D, K extends keyof D & string> {
  /** Caption of the table. */
  name: string
  days: readonly D[]
  series: readonly Series<D, K>[]
  /** Heading of the dates; by default that of days. */
  unit?: string
  /** Text of a date; by default that of a day. */
  format?: (date: string) => string
  /** Called with the row of a bar that is clicked, and the series of its part. */
  open?: (row: D, key: K) => void
  /** For the keyboard, to all series of the row: a link in the table, which then can be unfolded by everybody. */
  link?: (row: D) => ReactNode
}

export function StackedBars<D extends { date: string }, K extends keyof D & string>(props: BarsProps<D, K>) {
  const { t } = useTranslation()
  const { day, number } = useFormat()
  const { days, series, format = day, open, link } = props
  return (
    <div className="pw-anchor">
      <div className="pw-chart" aria-hidden>
        <ResponsiveContainer width="100%" height={260}>
          <BarChart data={[...days]} margin={{ top: 8, right: 4, bottom: 0, left: -12 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--pw-line)" />
            <XAxis dataKey="date" tickFormatter={format} tickLine={false} axisLine={false} minTickGap={24} />
            <YAxis allowDecimals={false} tickLine={false} axisLine={false} tickFormatter={number} width={56} />
            <Tooltip
              cursor={{ fill: 'var(--pw-sunken)' }}
              labelFormatter={label => format(String(label))}
              contentStyle={{
                background: 'var(--pw-surface)',
                border: '1px solid var(--pw-line)',
                borderRadius: 10,
                color: 'var(--mantine-color-text)',
              }}
            />
            <Legend
              itemSorter={null}
              iconType="circle"
              iconSize={8}
              formatter={label => <span className="pw-legend">{label}</span>}
            />
            {series.map(one => (
              <Bar
                key={one.key}
                dataKey={(row: D) => Number(row[one.key])}
                name={one.name}
                stackId="day"
                fill={one.colour}
                maxBarSize={28}
                isAnimationActive={false}
                {...(open
                  ? { onClick: ({ payload }: { payload?: D }) => payload && open(payload, one.key), cursor: 'pointer' }
                  : {})}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      {link ? (
        <details className="pw-details">
          <summary>{t('overview.asTable')}</summary>
          <div className="pw-scroll">
            <DayTable {...props} />
          </div>
        </details>
      ) : (
        <div className="pw-hidden">
          <DayTable {...props} />
        </div>
      )}
    </div>
  )
}

function DayTable<D extends { date: string }, K extends keyof D & string>(props: BarsProps<D, K>) {
  const { t } = useTranslation()
  const { day, number } = useFormat()
  const { name, days, series, unit, format, link } = props
  const text = format ?? day
  return (
    <table className={link ? 'pw-table' : undefined}>
      <caption className={link ? 'pw-hidden' : undefined}>{name}</caption>
      <thead>
        <tr>
          <th scope="col">{unit ?? t('overview.day')}</th>
          {series.map(one => (
            <th scope="col" key={one.key} data-align={link ? 'end' : undefined}>
              {one.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days.map(row => (
          <tr key={row.date}>
            <th scope="row">{link ? link(row) : text(row.date)}</th>
            {series.map(one => (
              <td key={one.key} data-align={link ? 'end' : undefined}>
                {number(Number(row[one.key]))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
