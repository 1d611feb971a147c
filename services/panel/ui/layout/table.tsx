/** A table that becomes a stack of cards on a narrow screen, with its own empty row. */
import type { ReactNode } from 'react'

/** One column: its heading and how a row shows in it. */
export interface Column<T> {
  label: string
  cell: (row: T) => ReactNode
  /** Numbers stand at the end. */
  end?: boolean
  /** The heading is for screen readers only (action columns). */
  hidden?: boolean
}

/** The table. `name` is its accessible name. */
export function DataTable<T>(props: {
  name: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
}) {
  const { name, columns, rows, rowKey } = props
  return (
    // A region that scrolls must be reachable by keyboard (axe: scrollable-region-focusable).
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
