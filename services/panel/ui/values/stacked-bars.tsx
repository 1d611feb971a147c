/** Bar chart of values by day, with a table for screen readers. Import it from lazy chunks only: it brings the chart library. */
import { useTranslation } from 'react-i18next'
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { useFormat } from './number-format.ts'

export interface Series<D> {
  key: keyof D & string
  name: string
  colour: string
}

/** `name` is the caption of the table for screen readers. */
export function StackedBars<D extends { date: string }>(props: {
  name: string
  days: readonly D[]
  series: readonly Series<D>[]
}) {
  const { day, number } = useFormat()
  const { name, days, series } = props
  return (
    <div className="pw-anchor">
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
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <DayTable name={name} days={days} series={series} />
    </div>
  )
}

function DayTable<D extends { date: string }>(props: {
  name: string
  days: readonly D[]
  series: readonly Series<D>[]
}) {
  const { t } = useTranslation()
  const { day, number } = useFormat()
  return (
    <div className="pw-hidden">
      <table>
        <caption>{props.name}</caption>
        <thead>
          <tr>
            <th scope="col">{t('overview.day')}</th>
            {props.series.map(one => (
              <th scope="col" key={one.key}>
                {one.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.days.map(row => (
            <tr key={row.date}>
              <th scope="row">{day(row.date)}</th>
              {props.series.map(one => (
                <td key={one.key}>{number(Number(row[one.key]))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
