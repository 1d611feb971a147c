/** CSV as spreadsheets read it: RFC 4180, UTF-8 with a byte order mark, and no cell that a spreadsheet would run. */

/** Stands before the first cell, so that spreadsheets take the file for UTF-8. */
export const BOM = '\uFEFF'

/** One line. A cell that starts like a formula, in full width too, gets a quote before it (OWASP "CSV Injection"). */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cell => quote(guard(cell ?? ''))).join(',')}\r\n`
}

/** What may stand between the cells of a row. */
export const SEPARATORS = [',', ';', '\t'] as const
export type Separator = (typeof SEPARATORS)[number]

const PLAINS: Readonly<Record<Separator, RegExp>> = {
  ',': /[^",\r\n]*/y,
  ';': /[^";\r\n]*/y,
  '\t': /[^"\t\r\n]*/y,
}
/** What ends a cell. */
const ENDS: Readonly<Record<Separator, RegExp>> = {
  ',': /,|\r?\n|$/y,
  ';': /;|\r?\n|$/y,
  '\t': /\t|\r?\n|$/y,
}

/** The rows of a file, one at a time; an empty line is one empty cell. Throws {@link CsvError} where it is no CSV. */
export function* csvRows(text: string, separator: Separator = ',', from = 0): Generator<string[]> {
  let at = from
  let number = 0
  while (at < text.length) {
    number++
    const row: string[] = []
    for (let more = true; more; ) {
      const cell = cellAt(text, at, separator)
      if (!cell) throw new CsvError(number, row.length + 1)
      row.push(cell.value)
      at = cell.behind
      more = cell.more
    }
    yield row
  }
}

/** A quote that is not closed or stands inside of a plain cell. Row and column are counted from 1. */
export class CsvError extends Error {
  readonly row: number
  readonly column: number
  constructor(row: number, column: number) {
    super(`row ${row}, column ${column} is no CSV`)
    this.name = 'CsvError'
    this.row = row
    this.column = column
  }
}

/** What a first line `sep=;` says, as spreadsheets write and read it, and how many characters it takes. */
export function separatorLine(text: string): { separator: Separator; length: number } | undefined {
  const match = /^"?sep=([,;\t])"?(?:\r?\n|$)/i.exec(text.slice(0, 16))
  return match ? { separator: match[1] as Separator, length: match[0].length } : undefined
}

/** A cell, where the next one begins, and whether it stands in the same row; undefined when nothing ends the cell. */
function cellAt(
  text: string,
  at: number,
  separator: Separator,
): { value: string; behind: number; more: boolean } | undefined {
  const quoted = text[at] === '"'
  const over = quoted ? behindQuoted(text, at) : at + (match(PLAINS[separator], text, at)?.length ?? 0)
  const end = over === undefined ? undefined : match(ENDS[separator], text, over)
  if (over === undefined || end === undefined) return undefined
  const value = quoted ? text.slice(at + 1, over - 1).replaceAll('""', '"') : text.slice(at, over)
  return { value, behind: over + end.length, more: end === separator }
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
