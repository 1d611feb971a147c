/**
 * Grants periods from a table. All rows are checked first, also against the rows before them; nothing is stored while
 * one is invalid.
 */

import { nextTurn } from '../../platform/concurrency/event-loop-turns.ts'
import { MAX_ERRORS } from '../../platform/json/bounded-validation.ts'
import type { FieldError } from '../../platform/problems.ts'
import { explainCsvError } from '../../platform/tables/explain-csv-error.ts'
import { CsvError, csvRows } from '../../platform/tables/rules/csv.ts'
import { DAMAGED, type Encoding, readTextFile, type TextFile } from '../../platform/tables/text-file.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { fieldError, type LocalizedError, localise } from '../rules/field-errors.ts'
import type { Lang } from '../rules/language.ts'
import { NO_PAYMENT_ID, subscribe } from './start-or-renew.ts'
import { checkGrant, GRANT_COLUMNS, GRANT_METHOD, type Grant, type KnownGrants } from './validate-import-row.ts'

/** An error with its row as spreadsheets count it, from 1, and with its column where a field has no name. */
export type RowError = LocalizedError & { row: number; column?: number }

/** The result of an import or of a dry run. */
export interface Imported {
  /** Non-empty rows below the heading: imported, repeated or refused. */
  total: number
  imported: number
  /** Rows whose reference was granted before with the same values; they change nothing. */
  repeated: number
  /** Empty rows. */
  skipped: number
  dry_run: boolean
  /** Encoding of the file; empty when it could not be read. */
  encoding: Encoding | ''
  separator: string
  errors: RowError[]
}

/** A file as it was uploaded; `charset` is that of its Content-Type, or empty. */
export interface Upload {
  bytes: Buffer
  charset: string
}

interface Line {
  row: number
  cells: string[]
}

const REQUIRED = ['user_id', 'plan_id', 'client_ref']
/** Rows and characters read between two yields to other requests: some milliseconds of work. */
const TURN_ROWS = 1_000
const TURN_CHARS = 256 * 1024

/**
 * Imports the file. Its heading names user_id, plan_id, days (empty: that of the plan) and client_ref in any case.
 * References make a second import of the same file change nothing.
 */
export async function importSubscriptions(
  context: Subscriptions,
  actor: Actor,
  { appKey, file, dryRun, lang }: { appKey: string; file: Upload; dryRun: boolean; lang: Lang },
): Promise<Imported> {
  const read = await readTextFile(file.bytes, file.charset)
  const toRowError = (line: number, raw: FieldError, column?: number): RowError => ({
    row: line,
    ...(column === undefined ? {} : { column }),
    ...localise(raw, lang),
  })
  const nothing = { total: 0, imported: 0, repeated: 0, skipped: 0, dry_run: dryRun }
  if ('error' in read)
    return { ...nothing, encoding: '', separator: '', errors: [toRowError(1, fieldError('file', read.error))] }
  const { encoding, separator } = read
  const checked = await checkRows(context, appKey, read, toRowError)
  const { total, skipped, grants } = checked
  const errors = checked.errors.slice(0, MAX_ERRORS)
  const done: Imported = { ...nothing, total, skipped, repeated: checked.repeated, encoding, separator, errors }
  if (errors.length > 0 || dryRun) return done
  for (const grant of grants)
    if (await grantRow(context, actor, appKey, grant)) done.imported++
    else done.repeated++ // another import was faster
  return done
}

interface Checked {
  total: number
  repeated: number
  skipped: number
  grants: Grant[]
  errors: RowError[]
}

type ToRowError = (line: number, raw: FieldError, column?: number) => RowError

async function checkRows(
  context: Subscriptions,
  appKey: string,
  read: TextFile,
  toRowError: ToRowError,
): Promise<Checked> {
  const checked: Checked = { total: 0, repeated: 0, skipped: 0, grants: [], errors: [] }
  const known: KnownGrants = { plans: new Map(), refs: new Map(), ever: new Set() }
  let columns: Columns | undefined
  const turn = turnKeeper()
  for (const line of linesOf(read)) {
    if (turn.isOver(line)) await nextTurn()
    if (line instanceof CsvError)
      checked.errors.push(
        toRowError(line.row + read.firstRow - 1, { pointer: '/', reason: explainCsvError(line) }, line.column),
      )
    else if (isEmpty(line)) checked.skipped++
    else if (columns) await checkLine(context, appKey, { line, columns, known, checked, toRowError })
    else {
      columns = columnsOf(line, checked, toRowError)
      if (!columns) return checked
    }
  }
  return columns ? checked : withoutHeadings(checked, read, toRowError)
}

/** A file of blank lines lacks every heading. */
function withoutHeadings(checked: Checked, { firstRow }: TextFile, toRowError: ToRowError): Checked {
  if (checked.errors.length > 0) return checked
  return { ...checked, errors: REQUIRED.map(name => toRowError(firstRow, fieldError(name, 'required'))) }
}

const isEmpty = ({ cells }: Line) => cells.every(cell => cell.trim() === '')

/** Reports when the rows since the last yield are enough. */
function turnKeeper(): { isOver(line: Line | CsvError): boolean } {
  let [rows, chars] = [0, 0]
  return {
    isOver(line) {
      rows++
      if (!(line instanceof CsvError)) for (const cell of line.cells) chars += cell.length
      if (rows < TURN_ROWS && chars < TURN_CHARS) return false
      ;[rows, chars] = [0, 0]
      return true
    },
  }
}

/** The rows of the file with their numbers, and last the error that ends reading, if any. */
function* linesOf({ text, separator, from, firstRow }: TextFile): Generator<Line | CsvError> {
  let number = firstRow
  try {
    for (const cells of csvRows(text, separator, from)) yield { row: number++, cells }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    yield error
  }
}

interface Columns {
  /** Cells of the heading. */
  width: number
  known: readonly { name: string; place: number }[]
}

/** The positions of the columns. Undefined, with errors, when one is missing, duplicate or unreadable. */
function columnsOf({ row: number, cells }: Line, { errors }: Checked, toRowError: ToRowError): Columns | undefined {
  const heading = cells.map(cell => cell.trim().toLowerCase())
  const damaged = cells.findIndex(isDamaged)
  if (damaged !== -1) errors.push(toRowError(number, fieldError('', 'encoding'), damaged + 1))
  for (const name of GRANT_COLUMNS) {
    const count = heading.filter(cell => cell === name).length
    if (count === 0 && REQUIRED.includes(name)) errors.push(toRowError(number, fieldError(name, 'required')))
    if (count > 1) errors.push(toRowError(number, fieldError(name, 'unique')))
  }
  if (errors.length > 0) return undefined
  const known = GRANT_COLUMNS.map(name => ({ name, place: heading.indexOf(name) }))
  return { width: cells.length, known: known.filter(({ place }) => place !== -1) }
}

const isDamaged = (cell: string) => cell.includes(DAMAGED)

/**
 * Finds an error of a row that does not depend on its values: the first cell with invalid bytes, in any column (where
 * it ends is uncertain too), or the first non-empty cell to the right of the heading, because an unquoted separator
 * shifts the cells after it.
 */
function findShapeError(
  { row: number, cells }: Line,
  { width, known }: Columns,
  toRowError: ToRowError,
): RowError | undefined {
  const damaged = cells.findIndex(isDamaged)
  const name = known.find(({ place }) => place === damaged)?.name ?? ''
  if (damaged !== -1) return toRowError(number, fieldError(name, 'encoding'), damaged + 1)
  const surplus = cells.findIndex((cell, place) => place >= width && cell.trim() !== '')
  return surplus === -1 ? undefined : toRowError(number, fieldError('', 'surplus'), surplus + 1)
}

async function checkLine(
  context: Subscriptions,
  appKey: string,
  {
    line,
    columns,
    known,
    checked,
    toRowError,
  }: { line: Line; columns: Columns; known: KnownGrants; checked: Checked; toRowError: ToRowError },
): Promise<void> {
  checked.total++
  if (checked.errors.length >= MAX_ERRORS) return
  const wrong = findShapeError(line, columns, toRowError)
  if (wrong) {
    checked.errors.push(wrong)
    return
  }
  const fields = Object.fromEntries(columns.known.map(({ name, place }) => [name, line.cells[place] ?? '']))
  const grant = await checkGrant(context, appKey, fields, known)
  if (grant === 'repeated') checked.repeated++
  else if ('errors' in grant) checked.errors.push(...grant.errors.map(raw => toRowError(line.row, raw)))
  else checked.grants.push(grant)
}

/** False when the reference was granted in parallel. */
async function grantRow(context: Subscriptions, actor: Actor, appKey: string, grant: Grant): Promise<boolean> {
  const { repeated } = await subscribe(context, actor, {
    appKey,
    ...grant,
    method: GRANT_METHOD,
    paymentId: NO_PAYMENT_ID,
    amountCents: 0,
    paidAt: context.clock.now(),
  })
  return !repeated
}
