/**
 * CSV as spreadsheets read it: RFC 4180, UTF-8 with a byte order mark, and no cell that a spreadsheet would execute.
 */

/** Byte order mark, by which spreadsheets detect UTF-8. */
export const BOM = '\uFEFF'

/**
 * One line. A cell that starts like a formula, including full-width characters, gets a quote before it (OWASP "CSV
 * Injection").
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cell => quote(guard(cell ?? ''))).join(',')}\r\n`
}

/** Separators between the cells of a row. */
export const SEPARATORS = [',', ';', '\t'] as const
export type Separator = (typeof SEPARATORS)[number]

/** Largest number of cells of a row, and of characters (UTF-16 code units, without its line end). */
export const ROW_LIMITS = { cells: 100, chars: 64 * 1024 } as const

/**
 * The rows of a file, one at a time; an empty line is one empty cell. Lines end with CRLF, LF or CR. Throws {@link
 * CsvError} for invalid CSV and for a row beyond {@link ROW_LIMITS}, without reading further.
 */
export function* csvRows(text: string, separator: Separator = ',', from = 0): Generator<string[]> {
  let at = from
  let number = 0
  while (at < text.length) {
    number++
    const row: string[] = []
    const most = at + ROW_LIMITS.chars
    for (let more = true; more; ) {
      const fail = (rule: CsvRule) => new CsvError(rule, number, row.length + 1)
      if (row.length === ROW_LIMITS.cells) throw fail('row_cells')
      const cell = cellAt(text, at, separator, most)
      if (!cell) throw fail('quote')
      if (cell.end > most) throw fail('row_length')
      row.push(cell.value)
      more = text[cell.end] === separator
      at = more ? cell.end + 1 : afterLineEnd(text, cell.end)
    }
    yield row
  }
}

/** `quote`: unclosed, or inside an unquoted cell. `row_cells`, `row_length`: see {@link ROW_LIMITS}. */
export type CsvRule = 'quote' | 'row_cells' | 'row_length'

/** Why the rest of a file cannot be read. Row and column are counted from 1. */
export class CsvError extends Error {
  readonly rule: CsvRule
  readonly row: number
  readonly column: number
  constructor(rule: CsvRule, row: number, column: number) {
    super(`row ${row}, column ${column} cannot be read: ${rule}`)
    this.name = 'CsvError'
    this.rule = rule
    this.row = row
    this.column = column
  }
}

/** The separator of a first line `sep=;`, as spreadsheets write it, and the length of that line. */
export function separatorLine(text: string): { separator: Separator; length: number } | undefined {
  const match = /^"?sep=([,;\t])"?(?:\r\n?|\n|$)/i.exec(text.slice(0, 16))
  return match ? { separator: match[1] as Separator, length: match[0].length } : undefined
}

/**
 * A cell and its end; undefined when neither a separator nor a line end follows. The value of a cell that ends after
 * `most` is empty. Scanned without a regular expression, which would keep a backtracking step for each character.
 */
function cellAt(
  text: string,
  at: number,
  separator: Separator,
  most: number,
): { value: string; end: number } | undefined {
  const quoted = text[at] === '"'
  const end = quoted ? endOfQuoted(text, at, most) : endOfPlain(text, at, separator, most)
  if (end === undefined) return undefined
  if (end > most) return { value: '', end }
  if (end < text.length && text[end] !== separator && !isLineEnd(text.charCodeAt(end))) return undefined
  return { value: quoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end), end }
}

/** The end of a quoted cell, or an offset after `most`; undefined when the quote is not closed. */
function endOfQuoted(text: string, start: number, most: number): number | undefined {
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1 && quote <= most && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
  return quote === -1 ? undefined : quote + 1
}

/** The first offset from `start` on that is not part of an unquoted cell, or the one after `most`. */
function endOfPlain(text: string, start: number, separator: Separator, most: number): number {
  const ends = separator.charCodeAt(0)
  let at = start
  while (at < text.length && at <= most) {
    const char = text.charCodeAt(at)
    if (char === ends || char === QUOTE || isLineEnd(char)) break
    at++
  }
  return at
}

const QUOTE = 0x22
const isLineEnd = (char: number) => char === 0x0a || char === 0x0d

function afterLineEnd(text: string, at: number): number {
  return text.startsWith('\r\n', at) ? at + 2 : at + 1
}

function guard(cell: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
