/** Table that is rendered as cards on narrow screens, and with some columns as lines of another one on small laptops. */
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Direction, TableOrder } from './list-order.ts'
import { ARIA_SORT, SortChoice, type SortColumn, SortHeading } from './sort-heading.tsx'

export interface Column<T> {
  label: string
  cell: (row: T) => ReactNode
  /** Aligns cells at the end, for numbers. */
  end?: boolean
  /** Shows the heading to screen readers only, for action columns. */
  hidden?: boolean
  /** A control in place of the heading; `label` stays the name in cards, and for screen readers of a hidden column. */
  head?: ReactNode
  /** Name of the column where the service sorts; only with the `order` of the table. */
  by?: string
  /** Lets the user sort by this value; only for lists that are complete. */
  sort?: (row: T) => string | number
  /** Label of the column that has this one as a line of its cells where the window is narrow; not for columns that sort. */
  under?: string
  /** Texts of any length: a long word breaks instead of widening the table. */
  text?: boolean
}

/** Windows between cards and a table with every column (compare `global.css`). */
const NARROW = '(min-width: 48em) and (max-width: 79.99em)'

/** `name` is the accessible name. `order`: how the service sorted the rows. */
export function DataTable<T>(props: {
  name: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
  order?: TableOrder | undefined
}) {
  const { name, rowKey } = props
  const { rows, sortable, sort } = useSorting(props)
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false })
  const { t } = useTranslation()
  const isLine = ({ under }: Column<T>) => isNarrow && props.columns.some(({ label }) => label === under)
  const columns = props.columns.filter(column => !isLine(column))
  const linesOf = (label: string) => props.columns.filter(column => isLine(column) && column.under === label)
  return (
    <>
      <SortChoice columns={[...sortable.values()]} sort={sort} />
      {/* Scrollable regions must be focusable (axe: scrollable-region-focusable). */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <section className="pw-scroll" aria-label={name} tabIndex={0}>
        <table className="pw-table" data-cards>
          <thead>
            <tr>
              {columns.map(column => (
                <th
                  key={column.label}
                  scope="col"
                  data-align={column.end ? 'end' : undefined}
                  aria-sort={ariaSort(sortable.get(column.label))}
                >
                  <Heading column={column} sortable={sortable.get(column.label)} sort={sort} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <tr key={rowKey(row)}>
                {columns.map(column => (
                  <td
                    key={column.label}
                    data-label={column.hidden ? '' : column.label}
                    data-align={column.end ? 'end' : undefined}
                    data-text={column.text || undefined}
                  >
                    <div>
                      {column.cell(row)}
                      {linesOf(column.label).map(({ label, cell }) => (
                        <div key={label} className="pw-line">
                          <span className="pw-field-name">{label + t('label.separator')}</span>
                          {cell(row)}
                        </div>
                      ))}
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

function ariaSort(column: SortColumn | undefined) {
  return column?.direction && ARIA_SORT[column.direction]
}

/** The rows as they were given until the user sorts them; where the service sorts, as it gave them. */
function useSorting<T>({ columns, rows: given, order }: Parameters<typeof DataTable<T>>[0]) {
  const { i18n } = useTranslation()
  const [own, setOwn] = useState<{ label: string; direction: Direction }>()
  const server = order && columns.find(({ by }) => by === order.column)
  const current = server ? { label: server.label, direction: order.direction } : own
  const sortable = new Map(
    columns
      .filter(({ by, sort }) => (order ? by !== undefined : sort !== undefined))
      .map(({ label, end }): [string, SortColumn] => [
        label,
        { label, first: end ? 'desc' : 'asc', direction: current?.label === label ? current.direction : undefined },
      ]),
  )
  const value = order ? undefined : columns.find(({ label }) => label === own?.label)?.sort
  const sign = own?.direction === 'desc' ? -1 : 1
  const rows = value ? given.toSorted((a, b) => sign * compare(value(a), value(b), i18n.language)) : given
  const sort = (label: string, direction: Direction) => {
    const by = columns.find(column => column.label === label)?.by
    if (!order) setOwn({ label, direction })
    else if (by !== undefined) order.set(by, direction)
  }
  return { rows, sortable, sort }
}

function compare(a: string | number, b: string | number, language: string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), language, { numeric: true })
}

function Heading<T>(props: {
  column: Column<T>
  sortable: SortColumn | undefined
  sort: (label: string, direction: Direction) => void
}) {
  const { column, sortable, sort } = props
  if (sortable) return <SortHeading column={sortable} sort={direction => sort(column.label, direction)} />
  return (
    <>
      {column.hidden && <span className="pw-hidden">{column.label}</span>}
      {column.head ?? (column.hidden ? null : column.label)}
    </>
  )
}
