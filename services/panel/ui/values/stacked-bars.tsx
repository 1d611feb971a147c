/** Bar chart of values by day, with a table for screen readers. */
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { axisTicks } from './axis-ticks.ts'
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
  const { link } = props
  return (
    <div className="pw-anchor">
      <div className="pw-chart" aria-hidden>
        <Plot {...props} />
        <div className="pw-chart-legend">
          {props.series.map(({ key, name, colour }) => (
            <span key={key}>
              <Dot colour={colour} /> {name}
            </span>
          ))}
        </div>
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

/** How many dates are written below the bars. */
const DATES = 6

function Plot<D extends { date: string }, K extends keyof D & string>({ days, series, format, open }: BarsProps<D, K>) {
  const { t } = useTranslation()
  const { day, number } = useFormat()
  const [pointed, point] = useState<number>()
  const sums = days.map(row => series.reduce((sum, { key }) => sum + Number(row[key]), 0))
  const ticks = axisTicks(Math.max(0, ...sums))
  const share = (value: number) => `${(100 * value) / (ticks.at(-1) ?? 1)}%`
  const text = format ?? day
  const every = Math.ceil(days.length / DATES)
  const row = pointed === undefined ? undefined : days[pointed]
  return (
    <div className="pw-chart-plot" onPointerLeave={() => point(undefined)}>
      {ticks.map(tick => (
        <span key={tick} className="pw-chart-tick" style={{ bottom: share(tick) }}>
          <span>{number(tick)}</span>
        </span>
      ))}
      {days.map((row, index) => {
        // From the last one on, which is not at the edge.
        const place = days.length - 1 - index - Math.floor(every / 2)
        const content = (
          <>
            <span className="pw-chart-bar">
              {series
                .filter(({ key }) => Number(row[key]) > 0)
                .map(({ key, colour }) => (
                  <span key={key} data-series={key} style={{ height: share(Number(row[key])), background: colour }} />
                ))}
            </span>
            {place % every === 0 ? (
              <span className="pw-chart-date" data-second={(place / every) % 2 !== 0 || undefined}>
                {text(row.date)}
              </span>
            ) : null}
          </>
        )
        const column = { className: 'pw-chart-column', onPointerEnter: () => point(index) }
        return open ? (
          <button
            key={row.date}
            {...column}
            type="button"
            // The table has the links for the keyboard.
            tabIndex={-1}
            onPointerDown={event => event.preventDefault()}
            onClick={({ target }) => {
              const part = target instanceof HTMLElement && series.find(({ key }) => key === target.dataset.series)
              if (part) open(row, part.key)
            }}
          >
            {content}
          </button>
        ) : (
          <span key={row.date} {...column}>
            {content}
          </span>
        )
      })}
      {row && pointed !== undefined ? (
        <div
          className="pw-chart-values"
          style={{ [pointed < days.length / 2 ? 'left' : 'right']: besidePercent(pointed, days.length) }}
        >
          {text(row.date)}
          {series.map(({ key, name, colour }) => (
            <span key={key}>
              <Dot colour={colour} /> {name}
              {t('label.separator')}
              {number(Number(row[key]))}
            </span>
          ))}
        </div>
      ) : null}
    </div>
  )
}

/** Distance of the values from the nearer edge of the plot, next to their bar. */
function besidePercent(index: number, count: number): string {
  return `${(100 * (Math.min(index, count - 1 - index) + 1)) / count}%`
}

function Dot({ colour }: { colour: string }) {
  return <span className="pw-chart-dot" style={{ background: colour }} />
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
