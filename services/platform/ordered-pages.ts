/**
 * Lists of the mail API that can be read in several orders. A column is offered only where an index has its fields in
 * their order, so that a page costs the same wherever it begins. Cursors carry their order: a position in one order says
 * nothing about what was read in another one.
 */
import { z } from 'zod'
import { type PageRequest, pageQuery } from './cursor-pages.ts'
import { reason } from './sentences/issue-reason.ts'

export type Direction = 'asc' | 'desc'

/** Columns of a list, each with the fields of the index that serves it; their values are unique together. */
export interface ListOrders<C extends string = string> {
  columns: Readonly<Record<C, readonly string[]>>
  /** The order of a request that names none. Its cursors are the last values as they are: the id of the last item. */
  column: C
  direction: Direction
}

/** A page in an order. */
export interface OrderedPage extends PageRequest {
  order: Direction
  /** Fields of the index, and the values of the last item that the caller has. */
  fields: readonly string[]
  position?: readonly string[] | undefined
}

/** The query of a request. */
interface OrderQuery<C extends string> extends PageRequest {
  sort: C
  order?: Direction | undefined
}

/** The orders of a list; the first column is the default one. */
export function listOrders<const T extends Readonly<Record<string, readonly string[]>>>(
  direction: Direction,
  columns: T,
): ListOrders<keyof T & string> {
  const [column = ''] = Object.keys(columns)
  return { columns, column: column as keyof T & string, direction }
}

/** Longest value of a sorted field. */
const VALUE = 512
/** A cursor with its order: column, direction, values. */
const NAMED = /^([a-z_]+)\.(asc|desc)\.([\w-]{1,2000})$/

/**
 * The query of such a list, with filters of its own. `position`: what a cursor's values look like. A cursor that is none,
 * or that belongs to another order, is refused.
 */
export function orderedPageQuery<C extends string, S extends z.ZodRawShape = Record<never, never>>(
  orders: ListOrders<C>,
  filters: S = {} as S,
  position: RegExp = /^/,
) {
  const columns = Object.keys(orders.columns) as [C, ...C[]]
  return pageQuery
    .extend({
      after: z
        .string()
        .min(1)
        .max(2_048)
        .describe('The next of the page before; in the default order also the id of its last item.')
        .optional(),
      sort: z.enum(columns).default(orders.column as never),
      order: z
        .enum(['asc', 'desc'])
        .describe(`Direction: ${orders.direction} by default for ${orders.column}, asc for other columns.`)
        .optional(),
      ...filters,
    })
    .superRefine((query, context) => {
      const given = query as unknown as OrderQuery<C>
      const problem = cursorProblem(orders, given, position)
      if (problem) context.addIssue({ code: 'custom', path: ['after'], message: reason(problem) })
    })
}

function cursorProblem<C extends string>(orders: ListOrders<C>, query: OrderQuery<C>, position: RegExp) {
  if (query.after === undefined) return undefined
  const read = readCursor(query.after, orders)
  if (!read) return 'field.cursor' as const
  if (read.column !== query.sort || read.order !== orderOf(orders, query)) return 'field.cursor_order' as const
  return read.values.every(value => position.test(value)) ? undefined : ('field.cursor' as const)
}

/** A page of items with the cursor of the next one. */
export function orderedPageOf<S extends z.ZodType>(item: S) {
  return z.strictObject({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    next: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
  })
}

/** What a validated query asks for. */
export function orderedPage<C extends string>(orders: ListOrders<C>, query: OrderQuery<C>): OrderedPage {
  const read = query.after === undefined ? undefined : readCursor(query.after, orders)
  return {
    limit: query.limit,
    ...(query.after === undefined ? {} : { after: query.after }),
    order: orderOf(orders, query),
    fields: orders.columns[query.sort],
    position: read?.values,
  }
}

/** Creates the answer of rows that were read with one more than the limit. */
export function toOrderedPage<C extends string, R extends { _id: string }, T>(
  orders: ListOrders<C>,
  query: OrderQuery<C>,
  rows: readonly R[],
  show: (row: R) => T,
) {
  const data = rows.slice(0, query.limit)
  const last = rows.length > query.limit ? data.at(-1) : undefined
  const values = last && orders.columns[query.sort].map(field => String(last[field as keyof R]))
  return {
    object: 'list' as const,
    data: data.map(show),
    has_more: last !== undefined,
    next: values ? cursorOf(orders, query, values) : null,
  }
}

/** A position as a cursor. */
export function cursorOf<C extends string>(
  orders: ListOrders<C>,
  query: Pick<OrderQuery<C>, 'sort' | 'order'>,
  values: readonly string[],
): string {
  const order = orderOf(orders, query)
  const [value] = values
  if (isDefault(orders, query.sort, order) && value !== undefined) return value
  return `${query.sort}.${order}.${Buffer.from(JSON.stringify(values)).toString('base64url')}`
}

function orderOf<C extends string>(orders: ListOrders<C>, query: Pick<OrderQuery<C>, 'sort' | 'order'>): Direction {
  return query.order ?? (query.sort === orders.column ? orders.direction : 'asc')
}

function isDefault<C extends string>(orders: ListOrders<C>, column: string, order: Direction): boolean {
  return column === orders.column && order === orders.direction
}

/** The order and the values of a cursor; undefined when it is none of this list. */
function readCursor<C extends string>(cursor: string, orders: ListOrders<C>) {
  const [, column, order, packed = ''] = NAMED.exec(cursor) ?? []
  if (column === undefined) return { column: orders.column as string, order: orders.direction, values: [cursor] }
  const values = unpack(packed)
  if (!Object.hasOwn(orders.columns, column) || values?.length !== orders.columns[column as C].length) return undefined
  return { column, order: order as Direction, values }
}

/** Texts only: a value of another type could bring an operator into the query. */
function unpack(packed: string): string[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(packed, 'base64url').toString())
    const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= VALUE
    return Array.isArray(values) && values.every(isText) ? values : undefined
  } catch {
    return undefined
  }
}
