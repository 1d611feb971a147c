/** Table that is rendered as cards on narrow screens. */
import type { ReactNode } from 'react'

export interface Column<T> {
  label: string
  cell: (row: T) => ReactNode
  /** Aligns cells at the end, for numbers. */
  end?: boolean
  /** Shows the heading to screen readers only, for action columns. */
  hidden?: boolean
}

/** `name` is the accessible name. */
export function DataTable<T>(props: {
  name: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
}) {
  const { name, columns, rows, rowKey } = props
  return (
    // Scrollable regions must be focusable (axe: scrollable-region-focusable).
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className="pw-scroll" aria-label={name} tabIndex={0}>
      <table className="pw-table" data-cards>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.label} scope="col" data-align={column.end ? 'end' : undefined}>
                {column.hidden ? <span className="pw-hidden">{column.label}</span> : column.label}
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
                >
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
