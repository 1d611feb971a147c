/** CSV as spreadsheets read it: RFC 4180, UTF-8 with a byte order mark, and no cell that a spreadsheet would run. */

/** Stands before the first cell, so that spreadsheets take the file for UTF-8. */
export const BOM = '\uFEFF'

/** One line. A cell that starts like a formula gets a quote before it (OWASP "CSV Injection"). */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cell => quote(guard(cell ?? ''))).join(',')}\r\n`
}

/** One cell, quoted or plain, and what ends it. */
const CELL = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y

/** The rows of a file; undefined when a quote is not closed or stands inside a plain cell. Empty lines are left out. */
export function parseCsv(file: string): string[][] | undefined {
  const text = file.startsWith(BOM) ? file.slice(1) : file
  const rows: string[][] = [[]]
  CELL.lastIndex = 0
  while (CELL.lastIndex < text.length) {
    const match = CELL.exec(text)
    if (!match) return undefined
    const [, cell = '', end] = match
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end !== ',') rows.push([])
    else if (CELL.lastIndex === text.length) rows.at(-1)?.push('')
  }
  return rows.filter(row => row.length > 1 || (row[0] ?? '') !== '')
}

function guard(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
