/** Pages of lists: both pagination shapes of the reference, filters and date ranges. */

import { z } from 'zod'
import { DAY_MS } from '../../platform/durations.ts'
import { reason } from '../../platform/sentences/issue-reason.ts'
import { integer } from './field-schemas.ts'
import { isDay, type Zone } from './time-zone.ts'

/** Largest page; a larger `pageSize` is cut to it. */
const MAX_PAGE_SIZE = 100
const DEFAULT_PAGE_SIZE = 20
/** Deepest skip: each skipped record costs an index step, and a fetch with a residual filter. */
export const MAX_OFFSET = 100_000

const pageNumber = integer(1, Number.MAX_SAFE_INTEGER)

/** The query fields of every list. */
export const pageQuery = {
  page: pageNumber.optional(),
  pageSize: pageNumber.optional(),
  /** Alias of pageSize. */
  page_size: pageNumber.optional(),
}

/** The last record that a reader has seen of a list, newest first. */
export interface Position {
  at: Date
  id: number
}

/** The place of a record in a list of the newest first. */
export const positionOf = ({ _id, created_at }: { _id: number; created_at: Date }): Position => ({
  at: created_at,
  id: _id,
})

/** A position as an opaque `next_cursor`. */
function cursorOf({ at, id }: Position): string {
  return Buffer.from(`${at.getTime()}.${id}`).toString('base64url')
}

/** `cursor`: the next_cursor of the page before. Instead of `page`, for lists of any depth. */
export const cursorQuery = {
  cursor: z
    .string()
    .max(64)
    .meta({ format: 'cursor', description: 'next_cursor of the page before; instead of page, for lists of any depth.' })
    .transform(value => /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(value, 'base64url').toString()))
    .refine(match => match !== null, reason('field.cursor'))
    .transform((match): Position => ({ at: new Date(Number(match?.[1])), id: Number(match?.[2]) }))
    .optional(),
}

/** A page for stores. */
export interface Page {
  number: number
  size: number
  /** Records to skip, unless a position is given. */
  offset: number
  after?: Position | undefined
}

/** The page that a query asks for. */
export function pageOf(query: {
  page?: number | undefined
  pageSize?: number | undefined
  page_size?: number | undefined
  cursor?: Position | undefined
}): Page {
  const number = query.page ?? 1
  const size = Math.min(query.pageSize ?? query.page_size ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
  if (query.cursor) return { number: 1, size, offset: 0, after: query.cursor }
  return { number, size, offset: (number - 1) * size }
}

/** The records of one page and the total. */
export interface Found<T> {
  items: T[]
  total: number
  /** Set when counting stopped at a limit: there are at least `total`. */
  capped?: boolean
  /** Start of the next page, in lists with cursors; absent after the last page. */
  next?: Position | undefined
}

/**
 * The position after a page; a page that is not full is the last. The total is not used: it may be outdated, and the
 * page after a full last one is empty.
 */
export function nextOf<T>(items: readonly T[], { size }: Page, position: (item: T) => Position): Position | undefined {
  const last = items.length < size ? undefined : items.at(-1)
  return last === undefined ? undefined : position(last)
}

/** The pagination of users, apps, plans and the audit log. */
export function pagination(page: Page, { total, capped, next }: Omit<Found<unknown>, 'items'>) {
  return {
    current_page: page.number,
    page_size: page.size,
    total_pages: Math.ceil(total / page.size),
    total_records: total,
    ...(capped ? { total_is_capped: true } : {}),
    ...(next ? { next_cursor: cursorOf(next) } : {}),
  }
}

/** The pagination of switches. */
export function switchPagination(page: Page, total: number) {
  return { page: page.number, pageSize: page.size, total, totalPages: Math.ceil(total / page.size) }
}

const dateText = z
  .string()
  .trim()
  .refine(value => isDay(value) || /^\d{1,11}$/.test(value), reason('field.date'))
  .meta({
    anyOf: [
      { type: 'string', format: 'date' },
      { type: 'string', pattern: '^[0-9]{1,11}$' },
    ],
    description: 'A day, or seconds since 1970.',
  })

/** The query fields of lists that filter by creation time: days (both inclusive) or Unix seconds. */
export const dateQuery = { start_date: dateText.optional(), end_date: dateText.optional() }

/** Bounds on the creation time: from inclusive, to exclusive. */
export interface DateRange {
  from?: Date
  to?: Date
}

/** The range between two date fields; undefined when it starts after it ends. */
export function dateRange(start: string | undefined, end: string | undefined, zone: Zone): DateRange | undefined {
  const from = start === undefined ? undefined : instant(start, zone)
  const to = end === undefined ? undefined : endOf(end, zone)
  if (from && to && from >= to) return undefined
  return { ...(from ? { from } : {}), ...(to ? { to } : {}) }
}

function instant(value: string, zone: Zone): Date {
  return isDay(value) ? zone.startOf(value) : new Date(Number(value) * 1000)
}

/** The last four-digit day, which programs use for "no end". */
const LAST_DAY = '9999-12-31'

function endOf(value: string, zone: Zone): Date {
  if (!isDay(value)) return new Date((Number(value) + 1) * 1000)
  if (value === LAST_DAY) return new Date(zone.startOf(value).getTime() + DAY_MS)
  return zone.startOf(new Date(Date.parse(`${value}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10))
}
