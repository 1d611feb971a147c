/** Prints tables as Markdown. */
import { loadavg } from 'node:os'

/** A row: columns in their order. */
export type Row = Record<string, string | number>

/** Prints a title and the rows; the load average shows whether the machine was idle. */
export function printTable(title: string, rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {})
  const line = (cells: readonly (string | number | undefined)[]) => `| ${cells.map(cell => cell ?? '').join(' | ')} |\n`
  process.stdout.write(
    `\n${title} (load average ${loadavg()
      .map(load => load.toFixed(1))
      .join(', ')})\n\n${line(columns)}|${columns.map(() => '---').join('|')}|\n${rows
      .map(row => line(columns.map(column => row[column])))
      .join('')}`,
  )
}

/** Prints progress to stderr. */
export function note(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}
