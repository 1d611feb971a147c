/** CSV as spreadsheets read it: RFC 4180, UTF-8 with a byte order mark, and no cell that a spreadsheet would run. */

/** Stands before the first cell, so that spreadsheets take the file for UTF-8. */
export const BOM = '\uFEFF'

/** One line. A cell that starts like a formula, in full width too, gets a quote before it (OWASP "CSV Injection"). */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cell => quote(guard(cell ?? ''))).join(',')}\r\n`
}

const PLAIN = /[^",\r\n]*/y
/** What ends a cell. */
const END = /,|\r?\n|$/y

/** The rows of a file; undefined when a quote is not closed or stands inside a plain cell. An empty line is one empty cell. */
export function parseCsv(file: string): string[][] | undefined {
  const text = file.startsWith(BOM) ? file.slice(1) : file
  const rows: string[][] = [[]]
  let at = 0
  while (at < text.length) {
    const cell = cellAt(text, at)
    if (!cell) return undefined
    rows.at(-1)?.push(cell.value)
    at = cell.behind
    if (!cell.more) rows.push([])
    else if (at === text.length) rows.at(-1)?.push('')
  }
  return rows.filter(row => row.length > 0)
}

/** A cell, where the next one begins, and whether it stands in the same row; undefined when nothing ends the cell. */
function cellAt(text: string, at: number): { value: string; behind: number; more: boolean } | undefined {
  const quoted = text[at] === '"'
  const over = quoted ? behindQuoted(text, at) : at + (match(PLAIN, text, at)?.length ?? 0)
  const end = over === undefined ? undefined : match(END, text, over)
  if (over === undefined || end === undefined) return undefined
  const value = quoted ? text.slice(at + 1, over - 1).replaceAll('""', '"') : text.slice(at, over)
  return { value, behind: over + end.length, more: end === ',' }
}

/** Where a quoted cell is over; undefined when it never is. By hand: a pattern of this would keep a step for each letter. */
function behindQuoted(text: string, start: number): number | undefined {
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
  return quote === -1 ? undefined : quote + 1
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function guard(cell: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
