/**
 * Grants periods from a table: every row is checked first, against the rows before it too, and nothing is stored while
 * one is wrong.
 */

import { nextTurn } from '../../platform/concurrency/event-loop-turns.ts'
import { MAX_ERRORS } from '../../platform/json/bounded-validation.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { CsvError, csvRows } from '../rules/csv.ts'
import { type Fault, fault, localise, type RawFault } from '../rules/field-errors.ts'
import type { Lang } from '../rules/language.ts'
import { DAMAGED, type Encoding, readTextFile, type TextFile } from './import-file.ts'
import { NO_PAYMENT_ID, subscribe } from './start-or-renew.ts'
import { checkGrant, GRANT_COLUMNS, GRANT_METHOD, type Grant, type KnownGrants } from './validate-import-row.ts'

/** A fault with its row as spreadsheets count it, the first line being 1; with its column where a field has no name. */
export type RowFault = Fault & { row: number; column?: number }

/** What an import did, or would have done. */
export interface Imported {
  /** Rows below the heading that hold something: imported, repeated or refused. */
  total: number
  imported: number
  /** Rows whose reference was granted before with the same values: they change nothing. */
  repeated: number
  /** Empty rows. */
  skipped: number
  dry_run: boolean
  /** How the file was read; empty when it could not be. */
  encoding: Encoding | ''
  separator: string
  errors: RowFault[]
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
/** Rows and characters that are read between two turns of other requests: some milliseconds of work. */
const TURN_ROWS = 1_000
const TURN_CHARS = 256 * 1024

/**
 * Imports the file. Its heading names user_id, plan_id, days (empty: that of the plan) and client_ref in any case, by
 * which a second import of the same file changes nothing.
 */
export async function importSubscriptions(
  s: Subscriptions,
  actor: Actor,
  { appKey, file, dryRun, lang }: { appKey: string; file: Upload; dryRun: boolean; lang: Lang },
): Promise<Imported> {
  const read = await readTextFile(file.bytes, file.charset)
  const tell = (line: number, raw: RawFault, column?: number): RowFault => ({
    row: line,
    ...(column === undefined ? {} : { column }),
    ...localise(raw, lang),
  })
  const nothing = { total: 0, imported: 0, repeated: 0, skipped: 0, dry_run: dryRun }
  if ('fault' in read) return { ...nothing, encoding: '', separator: '', errors: [tell(1, fault('file', read.fault))] }
  const { encoding, separator } = read
  const checked = await checkRows(s, appKey, read, tell)
  const { total, skipped, grants } = checked
  const errors = checked.errors.slice(0, MAX_ERRORS)
  const done: Imported = { ...nothing, total, skipped, repeated: checked.repeated, encoding, separator, errors }
  if (errors.length > 0 || dryRun) return done
  for (const grant of grants)
    if (await give(s, actor, appKey, grant)) done.imported++
    else done.repeated++ // another import was faster
  return done
}

interface Checked {
  total: number
  repeated: number
  skipped: number
  grants: Grant[]
  errors: RowFault[]
}

type Tell = (line: number, raw: RawFault, column?: number) => RowFault

async function checkRows(s: Subscriptions, appKey: string, read: TextFile, tell: Tell): Promise<Checked> {
  const checked: Checked = { total: 0, repeated: 0, skipped: 0, grants: [], errors: [] }
  const known: KnownGrants = { plans: new Map(), refs: new Map(), ever: new Set() }
  let columns: Columns | undefined
  const turn = turnKeeper()
  for (const line of linesOf(read)) {
    if (turn.isOver(line)) await nextTurn()
    if (line instanceof CsvError)
      checked.errors.push(tell(line.row + read.firstRow - 1, fault('', line.rule), line.column))
    else if (isEmpty(line)) checked.skipped++
    else if (columns) await checkLine(s, appKey, { line, columns, known, checked, tell })
    else {
      columns = columnsOf(line, checked, tell)
      if (!columns) return checked
    }
  }
  return columns ? checked : withoutHeadings(checked, read, tell)
}

/** A file of nothing but blank lines lacks every heading. */
function withoutHeadings(checked: Checked, { firstRow }: TextFile, tell: Tell): Checked {
  if (checked.errors.length > 0) return checked
  return { ...checked, errors: REQUIRED.map(name => tell(firstRow, fault(name, 'required'))) }
}

const isEmpty = ({ cells }: Line) => cells.every(cell => cell.trim() === '')

/** Says when the rows that were read since the last turn are enough. */
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

/** The rows of the file with their numbers, and last the error because of which the rest cannot be read, if any. */
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

/** Where the columns are. Undefined, with faults, when one is missing, there twice or unreadable. */
function columnsOf({ row: number, cells }: Line, { errors }: Checked, tell: Tell): Columns | undefined {
  const heading = cells.map(cell => cell.trim().toLowerCase())
  const damaged = cells.findIndex(isDamaged)
  if (damaged !== -1) errors.push(tell(number, fault('', 'encoding'), damaged + 1))
  for (const name of GRANT_COLUMNS) {
    const count = heading.filter(cell => cell === name).length
    if (count === 0 && REQUIRED.includes(name)) errors.push(tell(number, fault(name, 'required')))
    if (count > 1) errors.push(tell(number, fault(name, 'unique')))
  }
  if (errors.length > 0) return undefined
  const known = GRANT_COLUMNS.map(name => ({ name, place: heading.indexOf(name) }))
  return { width: cells.length, known: known.filter(({ place }) => place !== -1) }
}

const isDamaged = (cell: string) => cell.includes(DAMAGED)

/**
 * What is wrong with a row whatever its values are: the first cell with bytes that are no text, also in a column without
 * a meaning here (where it ends is not certain either), or the first filled one to the right of the heading, because a
 * separator that is not in quotes moved the cells behind it.
 */
function misshapen({ row: number, cells }: Line, { width, known }: Columns, tell: Tell): RowFault | undefined {
  const damaged = cells.findIndex(isDamaged)
  const name = known.find(({ place }) => place === damaged)?.name ?? ''
  if (damaged !== -1) return tell(number, fault(name, 'encoding'), damaged + 1)
  const surplus = cells.findIndex((cell, place) => place >= width && cell.trim() !== '')
  return surplus === -1 ? undefined : tell(number, fault('', 'surplus'), surplus + 1)
}

async function checkLine(
  s: Subscriptions,
  appKey: string,
  {
    line,
    columns,
    known,
    checked,
    tell,
  }: { line: Line; columns: Columns; known: KnownGrants; checked: Checked; tell: Tell },
): Promise<void> {
  checked.total++
  if (checked.errors.length >= MAX_ERRORS) return
  const wrong = misshapen(line, columns, tell)
  if (wrong) {
    checked.errors.push(wrong)
    return
  }
  const fields = Object.fromEntries(columns.known.map(({ name, place }) => [name, line.cells[place] ?? '']))
  const grant = await checkGrant(s, appKey, fields, known)
  if (grant === 'repeated') checked.repeated++
  else if ('faults' in grant) checked.errors.push(...grant.faults.map(raw => tell(line.row, raw)))
  else checked.grants.push(grant)
}

/** False when the reference was granted in this moment. */
async function give(s: Subscriptions, actor: Actor, appKey: string, grant: Grant): Promise<boolean> {
  const { repeated } = await subscribe(s, actor, {
    appKey,
    ...grant,
    method: GRANT_METHOD,
    paymentId: NO_PAYMENT_ID,
    amountCents: 0,
    paidAt: s.clock.now(),
  })
  return !repeated
}
