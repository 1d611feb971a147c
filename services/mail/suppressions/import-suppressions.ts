/** Imports suppressed addresses from a table, such as the export of another sending service. */
import { nextTurn } from '../../platform/concurrency/event-loop-turns.ts'
import { MAX_ERRORS, validate } from '../../platform/json/bounded-validation.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { explainCsvError } from '../../platform/tables/explain-csv-error.ts'
import { CsvError, csvRows } from '../../platform/tables/rules/csv.ts'
import { readTextFile, type TextFile } from '../../platform/tables/text-file.ts'
import { toEntry } from './manage-suppressions.ts'
import {
  columnOf,
  DETAIL_CHARS,
  reasonOf,
  type SuppressionColumn,
  type SuppressionInput,
  suppressionInput,
} from './rules/suppression-input.ts'
import { type NewSuppression, storeSuppressions } from './store/suppressions.ts'
import type { SuppressionDeps } from './with-events.ts'

/** The result of an import. */
export interface ImportedSuppressions {
  /** Rows with an address, valid or not. */
  total: number
  added: number
  /** Rows whose address was listed before, in the account or in the file; their entries were not changed. */
  listed: number
  /** Rows that could not be used. */
  invalid: number
  /** The first of the invalid rows; rows are counted from 1, as spreadsheets do. */
  errors: { row: number; reason: Sentence }[]
}

/** Entries of one write. */
const BATCH = 1_000

/**
 * Reads the file row by row and stores what is valid, in batches, while it reads: rows that are not valid are reported and
 * do not hold up the others. A second import of the same file changes nothing, so one that broke off is simply repeated.
 * Without a heading the columns are address and reason.
 */
export async function importSuppressions(
  deps: SuppressionDeps,
  userId: string,
  file: { bytes: Buffer; charset: string },
): Promise<ImportedSuppressions> {
  const result: ImportedSuppressions = { total: 0, added: 0, listed: 0, invalid: 0, errors: [] }
  const read = await readTextFile(file.bytes, file.charset)
  if ('error' in read) return refused(result, 1, sentence(`field.${read.error}`))
  const batch: NewSuppression[] = []
  const store = async () => {
    const { added } = await storeSuppressions(deps.db, batch, 'keep', deps.clock.now())
    result.added += added.length
    result.listed += batch.length - added.length
    batch.length = 0
  }
  for (const { number, values } of recordsOf(read)) {
    result.total++
    const row = values instanceof CsvError ? unreadable(values) : rowOf(values)
    if (row.ok) batch.push(entryOf(deps, userId, row))
    else refused(result, number, row.reason)
    if (batch.length === BATCH) await store()
    else if (result.total % BATCH === 0) await nextTurn()
  }
  await store()
  return result
}

const WITHOUT_HEADING: readonly SuppressionColumn[] = ['email', 'reason']

function refused(result: ImportedSuppressions, row: number, reason: Sentence): ImportedSuppressions {
  result.invalid++
  if (result.errors.length < MAX_ERRORS) result.errors.push({ row, reason })
  return result
}

/** Rows with an address, and their numbers; the last one is the error that ends the reading, if there is one. */
function* recordsOf({
  text,
  separator,
  from,
  firstRow,
}: TextFile): Generator<{ number: number; values: Values | CsvError }> {
  let number = firstRow - 1
  let columns: readonly (SuppressionColumn | undefined)[] | undefined
  try {
    for (const cells of csvRows(text, separator, from)) {
      number++
      if (cells.every(cell => cell.trim() === '')) continue
      const isFirst = columns === undefined
      columns ??= headingOf(cells) ?? WITHOUT_HEADING
      if (!isFirst || columns === WITHOUT_HEADING) yield { number, values: valuesOf(columns, cells) }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    yield { number: number + 1, values: error }
  }
}

/** The columns that a row names; undefined for a row that is no heading. */
function headingOf(cells: readonly string[]): (SuppressionColumn | undefined)[] | undefined {
  const columns = cells.map(columnOf)
  return columns.includes('email') ? columns : undefined
}

type Values = Partial<Record<SuppressionColumn, string>>

function valuesOf(columns: readonly (SuppressionColumn | undefined)[], cells: readonly string[]): Values {
  const values: Values = {}
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]?.trim()
    if (column && cell) values[column] ??= cell
  }
  return values
}

/** A row as an entry, and when it was made; or why it cannot be used. */
type Row = { ok: true; input: SuppressionInput; createdAt: Date | undefined } | { ok: false; reason: Sentence }

function rowOf(values: Values): Row {
  const { email = '', stream, reason: written = '', expires_at, created_at, detail } = values
  const reason = reasonOf(written)
  if (!reason) return { ok: false, reason: ofColumn('reason', sentence('field.suppression_reason')) }
  const given = { email, stream, reason, expires_at, detail: detail?.slice(0, DETAIL_CHARS) }
  const checked = validate(suppressionInput, given)
  if (checked.ok) return { ok: true, input: checked.data, createdAt: readTime(created_at) }
  const [issue] = checked.issues
  return { ok: false, reason: ofColumn(String(issue?.path[0] ?? ''), issue?.reason ?? sentence('field.invalid')) }
}

function unreadable(error: CsvError): Row {
  return { ok: false, reason: explainCsvError(error) }
}

function ofColumn(field: string, reason: Sentence): Sentence {
  return sentence('detail.of_field', { field, reason })
}

function entryOf(
  { clock }: SuppressionDeps,
  userId: string,
  { input, createdAt }: Extract<Row, { ok: true }>,
): NewSuppression {
  const now = clock.now()
  const entry = toEntry(userId, input, 'import', now)
  return createdAt && createdAt < now ? { ...entry, created_at: createdAt } : entry
}

/** A time as exports have it: seconds since 1970, or anything that names its day; undefined for other texts. */
function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = /^\d{9,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time)
}
